// Runs the given files, and all files of the given directories, through a fuzz
// target, without libFuzzer.
//
//   fuzz_json tests/fuzz/corpus/fuzz_json
//
// A crash or sanitizer report is the failure; so is a directory without a file,
// because a corpus that was lost must not look like one that passed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const std::filesystem::path& file) {
  // Heap memory of exactly the input's size lets the sanitizer see a read past its end.
  std::vector<char> bytes(std::filesystem::file_size(file));
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Returns how many inputs ran. The name comes first, so that a crash is preceded by its input.
size_t replay_all(const std::filesystem::path& path) {
  const auto files = files_of(path);
  if (files.empty()) throw std::runtime_error("no inputs in " + path.string());
  for (const auto& file : files) {
    std::cout << file.filename().string() << std::endl;
    replay(file);
  }
  return files.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " FILE_OR_DIRECTORY...\n";
    return 2;
  }
  try {
    size_t count = 0;
    for (int i = 1; i < argc; ++i) count += replay_all(argv[i]);
    std::cout << count << " inputs replayed\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
