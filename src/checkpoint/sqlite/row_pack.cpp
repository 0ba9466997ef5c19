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

// Fewer bytes are not looked for.
constexpr std::size_t kLeastShared = 8;

[[noreturn]] void fail() {
  throw SerdeError("the row of a checkpoint is damaged: what is packed in it cannot be told");
}

// Reads what RowPack writes, which is a small part of JSON, without spaces.
class Scanner {
 public:
  // Texts that are returned are part of `json`, or else of `unescaped`.
  Scanner(std::string_view json, std::string_view data, std::forward_list<std::string>& unescaped)
      : json_(json), data_(data), unescaped_(unescaped) {}

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

  std::string_view text() {
    expect('"');
    const std::string_view plain = plain_text();
    return passes('"') ? plain : unescape(plain);
  }

  std::int64_t number() {
    std::int64_t found = 0;
    const auto [end, error] = std::from_chars(json_.data(), json_.data() + json_.size(), found);
    if (error != std::errc()) fail();
    json_.remove_prefix(static_cast<std::size_t>(end - json_.data()));
    return found;
  }

  std::string_view next_text() {
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
  static bool is_special(char c) { return c == '"' || c == '\\'; }

  // Up to the next character that means something else.
  std::string_view plain_text() {
    // Control characters stand for themselves here; only damage brings them.
    std::size_t size = internal::plain_prefix(json_, false);
    while (size < json_.size() && !is_special(json_[size])) ++size;
    const std::string_view plain = json_.substr(0, size);
    json_.remove_prefix(size);
    return plain;
  }

  // The rest of a text that begins with `begun`, and both.
  std::string_view unescape(std::string_view begun) {
    std::string& text = unescaped_.emplace_front(begun);
    while (!passes('"')) {
      expect('\\');
      if (json_.empty() || !is_special(json_.front())) fail();
      text += json_.front();
      json_.remove_prefix(1);
      text += plain_text();
    }
    return text;
  }

  std::string_view json_;
  std::string_view data_;
  std::forward_list<std::string>& unescaped_;
};

PackedBlob read_blob(Scanner& scanner) {
  PackedBlob blob;
  scanner.expect('[');
  blob.channel = scanner.text();
  blob.version = scanner.next_text();
  blob.type = scanner.next_text();
  blob.bytes = scanner.next_bytes();
  if (scanner.passes(']')) return blob;
  blob.base = scanner.next_text();
  blob.base_checkpoint_id = scanner.next_text();
  blob.place = scanner.next_number();
  scanner.expect(']');
  return blob;
}

struct PackedWrite {
  std::string_view task_id;
  std::string_view task_path;
  std::string_view node;
  std::int64_t index = 0;
  std::string_view channel = {};
  std::string_view type = {};
  std::string_view bytes = {};
};

// Calls visit() with each PackedWrite of a task.
template <class Visit>
void read_task(Scanner& scanner, const Visit& visit) {
  scanner.expect('[');
  PackedWrite write{scanner.text(), scanner.next_text(), scanner.next_text()};
  scanner.expect(',');
  scanner.list([&] {
    scanner.expect('[');
    write.index = scanner.number();
    write.channel = scanner.next_text();
    write.type = scanner.next_text();
    write.bytes = scanner.next_bytes();
    scanner.expect(']');
    visit(write);
  });
  scanner.expect(']');
}

template <class Visit>
void read_tasks(std::string_view step_writes, std::string_view data, const Visit& visit) {
  if (step_writes.empty()) return;
  std::forward_list<std::string> unescaped;
  Scanner scanner(step_writes, data, unescaped);
  scanner.list([&] { read_task(scanner, visit); });
  if (!scanner.at_end()) fail();
}

}  // namespace

// Packing -----------------------------------------------------------------------------

// Adds to a list in JSON. Whoever makes one says how much it will be at most.
class RowPack::List {
 public:
  List(RowPack& pack, std::string& json, std::size_t most) : pack_(pack), json_(json) {
    const std::size_t size = json.size();
    if (size == 0) json.reserve(kUsualLength);
    json.resize(size + most + 1);
    end_ = json.data() + size;
    if (size == 0) {
      add('[');
    } else {
      end_[-1] = ',';  // the list goes on
    }
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() { json_.resize(static_cast<std::size_t>(end_ - json_.data())); }

  static std::size_t room_for(std::string_view text) { return 2 * text.size() + 2; }
  static constexpr std::size_t kRoomForNumber = 20;
  // The brackets and commas around a blob, a task or a write.
  static constexpr std::size_t kRoomForRest = 16;

  List& add(char c) {
    *end_++ = c;
    return *this;
  }

  List& add(std::int64_t number) {
    end_ = std::to_chars(end_, end_ + kRoomForNumber, number).ptr;
    return *this;
  }

  List& add(std::string_view text) {
    add('"');
    constexpr bool kAsciiOnly = true;  // anything else has to be looked at
    if (internal::plain_prefix(text, kAsciiOnly) == text.size()) {
      end_ = std::copy(text.begin(), text.end(), end_);
    } else {
      add_escaped(text);
    }
    return add('"');
  }

  List& add(const TypedBytes& value) {
    const std::size_t begin = pack_.place(value.bytes);
    add(value.tag).add(',').add(static_cast<std::int64_t>(begin) + 1);
    return add(',').add(static_cast<std::int64_t>(value.bytes.size()));
  }

 private:
  void add_escaped(std::string_view text) {
    // Of control characters SQLite's JSON does not give all back.
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
    pack_.has_odd_name_ = pack_.has_odd_name_ || std::ranges::any_of(text, is_control) ||
                          internal::find_invalid_utf8(text) != std::string_view::npos;
    for (char c : text) {
      if (c == '"' || c == '\\') add('\\');
      add(c);
    }
  }

  RowPack& pack_;
  std::string& json_;
  char* end_;
};

// Where the bytes are in the data. What a task writes is often what a channel then holds.
std::size_t RowPack::place(std::string_view bytes) {
  value_bytes_ += bytes.size();
  const bool is_shared = bytes.size() >= kLeastShared;
  for (std::size_t i = 0; i < part_count_ && is_shared; ++i) {
    const auto [begin, size] = parts_[i];
    if (std::string_view(data_).substr(begin, size) == bytes) return begin;
  }
  const std::size_t begin = data_.size();
  if (is_shared && part_count_ < parts_.size()) parts_[part_count_++] = {begin, bytes.size()};
  data_ += bytes;
  return begin;
}

void RowPack::add_blob(std::string_view channel, std::string_view version,
                       const StoredVersion& stored) {
  const bool is_difference = !stored.base.is_null();
  const std::string_view base = is_difference ? stored.base.as_string() : "";
  const std::string_view base_checkpoint = is_difference ? stored.base_checkpoint.as_string() : "";
  std::size_t most = List::kRoomForRest + 3 * List::kRoomForNumber;
  for (std::string_view text :
       {channel, version, std::string_view(stored.data.tag), base, base_checkpoint}) {
    most += List::room_for(text);
  }
  List json(*this, new_blobs_, most);
  json.add('[').add(channel).add(',').add(version).add(',').add(stored.data);
  if (is_difference) {
    json.add(',').add(base).add(',').add(base_checkpoint).add(',').add(stored.place);
  }
  json.add(']').add(']');
}

void RowPack::add_writes(const WritesPut& task, std::span<const TypedBytes> values) {
  std::size_t most = List::kRoomForRest + List::room_for(task.task_id) +
                     List::room_for(task.task_path) + List::room_for(task.node);
  for (std::size_t i = 0; i < values.size(); ++i) {
    most += List::kRoomForRest + 3 * List::kRoomForNumber + List::room_for(task.writes[i].channel) +
            List::room_for(values[i].tag);
  }
  List json(*this, step_writes_, most);
  json.add('[').add(task.task_id).add(',').add(task.task_path).add(',').add(task.node);
  json.add(',').add('[');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& channel = task.writes[i].channel;
    if (i > 0) json.add(',');
    json.add('[').add(write_index(channel, i)).add(',').add(channel).add(',').add(values[i]);
    json.add(']');
  }
  json.add(']').add(']').add(']');
}

bool RowPack::is_possible() const {
  return !has_odd_name_ && data_.size() <= kMostBytes &&
         new_blobs_.size() + step_writes_.size() <= kMostNames;
}

// Unpacking ---------------------------------------------------------------------------

StoredBlob PackedBlob::stored(std::string_view packed_in) const {
  return {.base = std::string(base),
          .base_checkpoint_id = std::string(base_checkpoint_id),
          .place = place,
          .data = {std::string(type), std::string(bytes)},
          .packed_in = std::string(packed_in)};
}

void PackedBlobs::read(std::string_view new_blobs, std::string_view data) {
  blobs_.clear();
  unescaped_.clear();
  if (new_blobs.empty()) return;
  Scanner scanner(new_blobs, data, unescaped_);
  scanner.list([&] { blobs_.push_back(read_blob(scanner)); });
  if (!scanner.at_end()) fail();
}

const PackedBlob* PackedBlobs::find(std::string_view channel, std::string_view version) const {
  for (const PackedBlob& blob : blobs_) {
    if (blob.channel == channel && blob.version == version) return &blob;
  }
  return nullptr;
}

std::vector<StoredWrite> packed_writes(std::string_view step_writes, std::string_view data,
                                       const Serializer& serializer) {
  constexpr std::size_t kUsualWrites = 4;
  std::vector<StoredWrite> writes;
  if (!step_writes.empty()) writes.reserve(kUsualWrites);
  read_tasks(step_writes, data, [&](const PackedWrite& packed) {
    writes.push_back({packed.index,
                      {.task_id = std::string(packed.task_id),
                       .channel = std::string(packed.channel),
                       .value = serializer.loads_typed(packed.type, packed.bytes),
                       .task_path = std::string(packed.task_path),
                       .node = std::string(packed.node)}});
  });
  return writes;
}

void check_packed_writes(std::string_view step_writes, std::string_view data) {
  read_tasks(step_writes, data, [](const PackedWrite&) {});
}

}  // namespace clew::sqlite
