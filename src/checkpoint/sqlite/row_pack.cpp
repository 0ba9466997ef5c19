#include "checkpoint/sqlite/row_pack.hpp"

#include <algorithm>
#include <charconv>

#include <clew/error.hpp>

#include "value/json_text.hpp"
#include "value/utf8.hpp"

namespace clew::sqlite {
namespace {

// More than this is not worth copying into one row.
constexpr std::size_t kMostBytes = 64 << 10;
constexpr std::size_t kMostNames = 256 << 10;

// What most rows need, so that the text moves once at most.
constexpr std::size_t kUsualLength = 500;

// Ends the list that `json` holds so that another element can follow.
void reopen(std::string& json) {
  if (json.empty()) {
    json.reserve(kUsualLength);
    json += '[';
  } else {
    json.back() = ',';
  }
}

void add_number(std::string& json, std::int64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  json.append(digits, end);
}

[[noreturn]] void fail() {
  throw SerdeError("the row of a checkpoint is damaged: what is packed in it cannot be told");
}

// Reads what RowPack writes, which is a small part of JSON, without spaces.
class Scanner {
 public:
  Scanner(std::string_view json, std::string_view data) : json_(json), data_(data) {}

  // Whether the next character is this one; it is then passed.
  bool passes(char c) {
    if (!json_.starts_with(c)) return false;
    json_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!passes(c)) fail();
  }
  bool at_end() const { return json_.empty(); }

  std::string text() {
    expect('"');
    std::string found;
    while (true) {
      const auto is_special = [](char c) { return c == '"' || c == '\\'; };
      const auto special = std::ranges::find_if(json_, is_special);
      const auto plain = static_cast<std::size_t>(special - json_.begin());
      found += json_.substr(0, plain);
      json_.remove_prefix(plain);
      if (passes('"')) return found;
      expect('\\');
      if (json_.empty() || !is_special(json_.front())) fail();
      found += json_.front();
      json_.remove_prefix(1);
    }
  }

  std::int64_t number() {
    std::int64_t found = 0;
    const auto [end, error] = std::from_chars(json_.data(), json_.data() + json_.size(), found);
    if (error != std::errc()) fail();
    json_.remove_prefix(static_cast<std::size_t>(end - json_.data()));
    return found;
  }

  std::string next_text() {
    expect(',');
    return text();
  }
  std::int64_t next_number() {
    expect(',');
    return number();
  }

  // The part of the data that two numbers say: where it begins, as SQL counts, and its length.
  std::string_view next_bytes() {
    const std::int64_t begin = next_number();
    const std::int64_t length = next_number();
    const auto size = static_cast<std::int64_t>(data_.size());
    if (begin < 1 || length < 0 || begin - 1 > size || length > size - (begin - 1)) fail();
    return data_.substr(static_cast<std::size_t>(begin - 1), static_cast<std::size_t>(length));
  }

  // Calls `read` for each element of a list.
  template <class Read>
  void list(const Read& read) {
    expect('[');
    if (passes(']')) return;
    do {
      read();
    } while (passes(','));
    expect(']');
  }

 private:
  std::string_view json_;
  std::string_view data_;
};

PackedBlob read_blob(Scanner& scanner, std::string_view checkpoint_id) {
  PackedBlob blob;
  scanner.expect('[');
  blob.channel = scanner.text();
  blob.version = scanner.next_text();
  blob.stored.data.tag = scanner.next_text();
  blob.stored.data.bytes = scanner.next_bytes();
  blob.stored.packed_in = checkpoint_id;
  if (scanner.passes(']')) return blob;
  blob.stored.base = scanner.next_text();
  blob.stored.base_checkpoint_id = scanner.next_text();
  blob.stored.place = scanner.next_number();
  scanner.expect(']');
  return blob;
}

// Calls visit(write, type, bytes) for each write of a task; its value is not set.
template <class Visit>
void read_task(Scanner& scanner, const Visit& visit) {
  scanner.expect('[');
  const std::string task_id = scanner.text();
  const std::string task_path = scanner.next_text();
  const std::string node = scanner.next_text();
  scanner.expect(',');
  scanner.list([&] {
    StoredWrite stored;
    scanner.expect('[');
    stored.index = scanner.number();
    stored.write = {task_id, scanner.next_text(), {}, task_path, node};
    const std::string type = scanner.next_text();
    const std::string_view bytes = scanner.next_bytes();
    scanner.expect(']');
    visit(std::move(stored), type, bytes);
  });
  scanner.expect(']');
}

template <class Visit>
void read_tasks(std::string_view step_writes, std::string_view data, const Visit& visit) {
  if (step_writes.empty()) return;
  Scanner scanner(step_writes, data);
  scanner.list([&] { read_task(scanner, visit); });
  if (!scanner.at_end()) fail();
}

}  // namespace

// Packing -----------------------------------------------------------------------------

void RowPack::add_blob(std::string_view channel, std::string_view version,
                       const StoredVersion& stored) {
  reopen(new_blobs_);
  new_blobs_ += '[';
  add_text(new_blobs_, channel);
  new_blobs_ += ',';
  add_text(new_blobs_, version);
  new_blobs_ += ',';
  add_bytes(new_blobs_, stored.data);
  if (!stored.base.is_null()) {
    new_blobs_ += ',';
    add_text(new_blobs_, stored.base.as_string());
    new_blobs_ += ',';
    add_text(new_blobs_, stored.base_checkpoint.as_string());
    new_blobs_ += ',';
    add_number(new_blobs_, stored.place);
  }
  new_blobs_ += "]]";
}

void RowPack::add_writes(const WritesPut& task, std::span<const TypedBytes> values) {
  reopen(step_writes_);
  step_writes_ += '[';
  for (const std::string* name : {&task.task_id, &task.task_path, &task.node}) {
    add_text(step_writes_, *name);
    step_writes_ += ',';
  }
  step_writes_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& channel = task.writes[i].channel;
    step_writes_ += i == 0 ? "[" : ",[";
    add_number(step_writes_, write_index(channel, i));
    step_writes_ += ',';
    add_text(step_writes_, channel);
    step_writes_ += ',';
    add_bytes(step_writes_, values[i]);
    step_writes_ += ']';
  }
  step_writes_ += "]]]";
}

void RowPack::add_text(std::string& json, std::string_view text) {
  json += '"';
  constexpr bool kAsciiOnly = true;  // anything else has to be looked at
  if (internal::plain_prefix(text, kAsciiOnly) == text.size()) {
    json += text;
  } else {
    add_escaped(json, text);
  }
  json += '"';
}

void RowPack::add_escaped(std::string& json, std::string_view text) {
  // Of control characters SQLite's JSON does not give all back.
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  has_odd_name_ = has_odd_name_ || std::ranges::any_of(text, is_control) ||
                  internal::find_invalid_utf8(text) != std::string_view::npos;
  for (char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
}

void RowPack::add_bytes(std::string& json, const TypedBytes& value) {
  add_text(json, value.tag);
  json += ',';
  add_number(json, static_cast<std::int64_t>(data_.size()) + 1);
  json += ',';
  add_number(json, static_cast<std::int64_t>(value.bytes.size()));
  data_ += value.bytes;
}

bool RowPack::is_possible() const {
  return !has_odd_name_ && data_.size() <= kMostBytes &&
         new_blobs_.size() + step_writes_.size() <= kMostNames;
}

// Unpacking ---------------------------------------------------------------------------

std::vector<PackedBlob> packed_blobs(std::string_view checkpoint_id, std::string_view new_blobs,
                                     std::string_view data) {
  std::vector<PackedBlob> blobs;
  if (new_blobs.empty()) return blobs;
  Scanner scanner(new_blobs, data);
  scanner.list([&] { blobs.push_back(read_blob(scanner, checkpoint_id)); });
  if (!scanner.at_end()) fail();
  return blobs;
}

std::vector<StoredWrite> packed_writes(std::string_view step_writes, std::string_view data,
                                       const Serializer& serializer) {
  std::vector<StoredWrite> writes;
  read_tasks(step_writes, data, [&](StoredWrite stored, const std::string& type, auto bytes) {
    stored.write.value = serializer.loads_typed(type, bytes);
    writes.push_back(std::move(stored));
  });
  return writes;
}

void check_packed_writes(std::string_view step_writes, std::string_view data) {
  read_tasks(step_writes, data, [](const StoredWrite&, const std::string&, auto) {});
}

}  // namespace clew::sqlite
