#include <clew/store_namespace.hpp>

#include <algorithm>
#include <ranges>

#include <clew/convert.hpp>
#include <clew/errors.hpp>

namespace clew {
namespace {

constexpr std::string_view kReservedRoot = "langgraph";

// Labels are short: a call of memcpy for each would take longer.
template <class Labels>
void write_labels(const Labels& labels, char* out) {
  bool has_nul = false;
  for (const std::string_view label : labels) {
    for (const char c : label) {
      has_nul |= c == '\0';
      *out++ = c;
    }
    *out++ = '\0';
  }
  if (has_nul) throw InvalidNamespaceError("a label of a namespace contains NUL");
}

bool are_valid_labels(std::string_view text) {
  char before = '\0';
  for (const char c : text) {
    if (c == '.' || (c == '\0' && before == '\0')) return false;
    before = c;
  }
  return true;
}

[[noreturn]] void throw_invalid(const StoreNamespace& ns, std::string_view reason) {
  std::string text;
  for (const std::string_view label : ns) {
    text += (text.empty() ? "'" : ", '") + std::string(label) + "'";
  }
  throw InvalidNamespaceError("namespace (" + text + "): " + std::string(reason));
}

}  // namespace

template <class Labels>
void StoreNamespace::assign(const Labels& labels) {
  std::size_t size = 0;
  for (const std::string_view label : labels) size += label.size() + 1;
  if (size <= kMostHere) {
    write_labels(labels, text_.data());
    size_ = static_cast<std::uint8_t>(size);
  } else {
    std::string text(size, '\0');
    write_labels(labels, text.data());
    long_text_ = Value::bytes(text);
  }
}

StoreNamespace::StoreNamespace(std::initializer_list<std::string_view> labels) { assign(labels); }

StoreNamespace::StoreNamespace(const std::vector<std::string>& labels) { assign(labels); }

std::size_t StoreNamespace::size() const {
  return static_cast<std::size_t>(std::ranges::count(text(), '\0'));
}

std::string_view StoreNamespace::front() const { return *begin(); }

std::string_view StoreNamespace::operator[](std::size_t position) const {
  return *std::next(begin(), static_cast<std::ptrdiff_t>(position));
}

StoreNamespace StoreNamespace::first(std::size_t count) const {
  const auto length = static_cast<std::ptrdiff_t>(std::min(count, size()));
  const Iterator behind = std::ranges::next(begin(), length);
  StoreNamespace first;
  first.assign(std::ranges::subrange(begin(), behind));
  return first;
}

void check_labels(const StoreNamespace& ns) {
  if (are_valid_labels(ns.text())) return;
  if (std::ranges::find(ns, "") != ns.end()) throw_invalid(ns, "a label is empty");
  throw_invalid(ns, "a label contains a dot; use several labels");
}

void check_namespace(const StoreNamespace& ns) {
  if (ns.empty()) throw_invalid(ns, "it has no label; give at least one");
  check_labels(ns);
  if (ns.front() == kReservedRoot) {
    throw_invalid(ns, "the first label '" + std::string(kReservedRoot) + "' is reserved");
  }
}

Value to_value(const StoreNamespace& ns) {
  ListBuilder labels;
  for (const std::string_view label : ns) labels.push_back(label);
  return std::move(labels).build();
}

void from_value(const Value& labels, StoreNamespace& ns) {
  ns = labels.get<std::vector<std::string>>();
}

}  // namespace clew
