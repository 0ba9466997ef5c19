#include "cli/exported_graphs.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace clew::cli {
namespace {

constexpr std::string_view kPrefix = "clew_graph_";

// A file whose offsets and sizes may be anything.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  // Nothing that reaches beyond the end.
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
    return std::string_view(bytes_).substr(offset, size);
  }

  // The structures that fit into a part of the file.
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t size) const {
    const std::string_view bytes = part(offset, size);
    std::vector<T> entries(bytes.size() / sizeof(T));
    std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(T));
    return entries;
  }

  std::vector<Elf64_Shdr> sections() const {
    const auto headers = table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (headers.empty()) return {};
    const Elf64_Ehdr& header = headers.front();
    const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                        header.e_ident[EI_CLASS] == ELFCLASS64 &&
                        header.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_elf) return {};
    return table<Elf64_Shdr>(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  }

 private:
  std::string bytes_;
};

// The text that begins at `offset` among zero-terminated ones.
std::string_view text_at(std::string_view texts, std::uint64_t offset) {
  if (offset >= texts.size()) return {};
  return texts.substr(offset, texts.find('\0', offset) - offset);
}

}  // namespace

std::vector<std::string> exported_graphs(const std::filesystem::path& library) {
  const ElfFile file(library);
  const std::vector<Elf64_Shdr> sections = file.sections();
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const std::string_view texts = file.part(strings.sh_offset, strings.sh_size);
    for (const auto& symbol : file.table<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      const std::string_view name = text_at(texts, symbol.st_name);
      const bool is_defined = symbol.st_shndx != SHN_UNDEF;
      if (is_defined && name.starts_with(kPrefix)) names.emplace_back(name.substr(kPrefix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace clew::cli
