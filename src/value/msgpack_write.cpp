#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <clew/extension.hpp>
#include <clew/msgpack.hpp>

#include "value/msgpack_document.hpp"
#include "value/object.hpp"
#include "value/utf8.hpp"

namespace clew {

using internal::MsgpackDocument;
using internal::WrittenList;

namespace {

// Bytes that grow at their end. Not a std::string, which would write zeros
// before every byte and copy itself when it grows: realloc seldom has to. Most
// values are small, and need no memory but that of the result.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (!is_small()) std::free(begin_);
  }

  // Room for `bytes` more; advance() says how many of them were used.
  char* reserve(std::size_t bytes) {
    if (static_cast<std::size_t>(limit_ - end_) < bytes) [[unlikely]]
      grow(bytes);
    return end_;
  }
  void advance(char* end) { end_ = end; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  char* at(std::size_t position) { return begin_ + position; }
  std::string text() const { return std::string(begin_, size()); }

  // Takes over memory of `capacity` bytes. Only before anything is written.
  void use(MsgpackDocument::Memory memory, std::size_t capacity) {
    begin_ = end_ = memory.release();
    limit_ = begin_ + capacity;
  }

  // Hands the bytes over, without much memory that they did not need.
  void move_to(MsgpackDocument& document) {
    if (is_small() || capacity() > size() + size() / 2) resize(std::max<std::size_t>(size(), 1));
    document.size = size();
    document.capacity = capacity();
    document.memory.reset(std::exchange(begin_, small_));
    end_ = small_;
    limit_ = small_ + sizeof small_;
  }

 private:
  bool is_small() const { return begin_ == small_; }
  std::size_t capacity() const { return static_cast<std::size_t>(limit_ - begin_); }

  // Seldom: kept out of the functions that write.
  [[gnu::noinline]] void grow(std::size_t bytes) {
    resize(std::max(2 * size(), size() + bytes + 1024));
  }

  void resize(std::size_t capacity) {
    const std::size_t used = size();
    void* memory = std::realloc(is_small() ? nullptr : begin_, capacity);
    if (!memory) throw std::bad_alloc();
    if (is_small()) std::memcpy(memory, small_, used);
    begin_ = static_cast<char*>(memory);
    end_ = begin_ + used;
    limit_ = begin_ + capacity;
  }

  char small_[1024];
  char* begin_ = small_;
  char* end_ = small_;
  char* limit_ = small_ + sizeof small_;
};

template <class Integer>
char* put(char* place, Integer value) {
  auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  if constexpr (sizeof(bits) == 2) bits = __builtin_bswap16(bits);
  if constexpr (sizeof(bits) == 4) bits = __builtin_bswap32(bits);
  if constexpr (sizeof(bits) == 8) bits = __builtin_bswap64(bits);
  std::memcpy(place, &bits, sizeof bits);
  return place + sizeof bits;
}

bool can_be_key(const Value& value) {
  switch (value.kind()) {
    case Kind::object:
    case Kind::map:
    case Kind::extension: return false;
    case Kind::list: return std::all_of(value.begin(), value.end(), can_be_key);
    default: return true;
  }
}

// Copying shorter lists saves little.
constexpr std::size_t kLongList = 32;

// So many lists of the document before may be missing from this one at a place.
constexpr std::size_t kMostSkipped = 8;

// For a document after one of `size`. Rounded up, so that the next ones want as much, and can use
// the memory of those before.
std::size_t room_after(std::size_t size) {
  const std::size_t expected = size + size / 16;
  const std::size_t step = std::max<std::size_t>(std::bit_ceil(expected) / 8, 1);
  return (expected + step - 1) / step * step;
}

bool begins_with(const Value& list, const Value& beginning) {
  const std::size_t size = beginning.size();
  if (list.size() < size || !same(list[size - 1], beginning[size - 1])) return false;
  return difference(beginning, list).kept == size;
}

// Writes one value. Failures are ValueErrors that collect their path on the way out.
class Writer {
 public:
  explicit Writer(const MsgpackWriteOptions& options) : options_(options) {}

  std::string run(const Value& value) && {
    write(value);
    return buffer_.text();
  }

  // `earlier` may be null, and `spent` without memory.
  MsgpackDocument run(const Value& value, const MsgpackDocument* earlier,
                      MsgpackDocument spent) && {
    notes_lists_ = true;
    earlier_ = earlier;
    if (earlier) make_room(room_after(earlier->size), std::move(spent));
    write(value);
    MsgpackDocument document;
    buffer_.move_to(document);
    document.long_lists = std::move(long_lists_);
    document.is_read_as_written = peculiarities_ == 0;
    return document;
  }

 private:
  void make_room(std::size_t bytes, MsgpackDocument spent) {
    if (bytes > spent.capacity) {
      spent.memory.reset();
      buffer_.reserve(bytes);
    } else {
      buffer_.use(std::move(spent.memory), spent.capacity);
    }
  }

  void write(const Value& value) {
    switch (value.kind()) {
      case Kind::null: return write_byte(0xC0);
      case Kind::boolean: return write_byte(ValueAccess::word(value) != 0 ? 0xC3 : 0xC2);
      case Kind::integer: return write_integer(static_cast<std::int64_t>(ValueAccess::word(value)));
      case Kind::big_integer: return write_big_integer(value);
      case Kind::floating: return write_tagged(0xCB, ValueAccess::word(value));
      case Kind::string: return write_text(value);
      case Kind::bytes: return write_bytes(ValueAccess::text_of(value));
      case Kind::list: return write_list(value);
      case Kind::object: return write_object(value);
      case Kind::map: return write_map(value);
      case Kind::extension: return write_extension(value);
    }
  }

  void write_byte(std::uint8_t byte) {
    char* place = buffer_.reserve(1);
    *place = static_cast<char>(byte);
    buffer_.advance(place + 1);
  }

  // A string or key. The short ones lie in the Value itself and are copied as
  // two words, whatever their length.
  void write_text(const Value& value) {
    if (ValueAccess::is_heap(value)) return write_string(ValueAccess::text_of(value));
    const std::uint64_t* words = ValueAccess::words(value);
    if (((words[0] | (words[1] & 0x00FFFFFFFFFFFFFF)) & 0x8080808080808080) != 0) {
      return write_string(ValueAccess::text_of(value));
    }
    const std::size_t size = words[1] >> 60;
    char* place = buffer_.reserve(1 + sizeof(Value));
    *place = static_cast<char>(0xA0 | size);
    std::memcpy(place + 1, words, sizeof(Value));
    buffer_.advance(place + 1 + size);
  }

  template <class Integer>
  void write_tagged(std::uint8_t tag, Integer value) {
    char* place = buffer_.reserve(1 + sizeof(Integer));
    *place = static_cast<char>(tag);
    buffer_.advance(put(place + 1, value));
  }

  void write_integer(std::int64_t value) {
    if (value >= 0) return write_unsigned(static_cast<std::uint64_t>(value));
    if (value >= -32) return write_byte(static_cast<std::uint8_t>(value));
    if (value >= INT8_MIN) return write_tagged(0xD0, static_cast<std::int8_t>(value));
    if (value >= INT16_MIN) return write_tagged(0xD1, static_cast<std::int16_t>(value));
    if (value >= INT32_MIN) return write_tagged(0xD2, static_cast<std::int32_t>(value));
    write_tagged(0xD3, value);
  }

  void write_unsigned(std::uint64_t value) {
    if (value <= 0x7F) return write_byte(static_cast<std::uint8_t>(value));
    if (value <= UINT8_MAX) return write_tagged(0xCC, static_cast<std::uint8_t>(value));
    if (value <= UINT16_MAX) return write_tagged(0xCD, static_cast<std::uint16_t>(value));
    if (value <= UINT32_MAX) return write_tagged(0xCE, static_cast<std::uint32_t>(value));
    write_tagged(0xCF, value);
  }

  void write_big_integer(const Value& value) {
    const std::string_view digits = ValueAccess::text_of(value);
    std::uint64_t small = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), small);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw ValueError("the integer " + std::string(digits) +
                       " does not fit 64 bits; store it as text or as a Decimal");
    }
    write_unsigned(small);
  }

  // A header for `size`: one of up to three widths, or packed into one byte.
  void write_size(std::size_t size, std::size_t packed_below, std::uint8_t packed,
                  std::uint8_t tag8, std::uint8_t tag16, std::uint8_t tag32) {
    if (size < packed_below) return write_byte(static_cast<std::uint8_t>(packed | size));
    if (size <= UINT8_MAX && tag8 != 0) return write_tagged(tag8, static_cast<std::uint8_t>(size));
    if (size <= UINT16_MAX) return write_tagged(tag16, static_cast<std::uint16_t>(size));
    if (size > UINT32_MAX) throw ValueError("more than 4 GiB or 4 billion elements in one piece");
    write_tagged(tag32, static_cast<std::uint32_t>(size));
  }

  void write_raw(std::string_view text) {
    char* place = buffer_.reserve(text.size());
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
    buffer_.advance(place + text.size());
  }

  void write_string(std::string_view text) {
    const std::size_t invalid = internal::find_invalid_utf8(text);
    if (invalid != std::string_view::npos) {
      throw ValueError("text that is not UTF-8 at its byte " + std::to_string(invalid) +
                       "; use Value::bytes() for binary data");
    }
    write_size(text.size(), 32, 0xA0, 0xD9, 0xDA, 0xDB);
    write_raw(text);
  }

  void write_bytes(std::string_view bytes) {
    write_size(bytes.size(), 0, 0, 0xC4, 0xC5, 0xC6);
    write_raw(bytes);
  }

  void write_list_header(std::size_t size) { write_size(size, 16, 0x90, 0, 0xDC, 0xDD); }
  void write_map_header(std::size_t size) { write_size(size, 16, 0x80, 0, 0xDE, 0xDF); }

  void descend() {
    if (++depth_ > options_.max_depth) {
      throw ValueError("nested deeper than " + std::to_string(options_.max_depth) + " levels");
    }
  }

  void write_list(const Value& list) {
    write_list_header(list.size());
    descend();
    if (notes_lists_ && list.size() >= kLongList) {
      write_long_list(list);
    } else {
      write_elements(list, 0);
    }
    --depth_;
  }

  void write_elements(const Value& list, std::size_t index) {
    try {
      const detail::Node* node = ValueAccess::node(list);
      if (node && node->type == detail::kLeaf) {
        const Value* items = static_cast<const detail::Leaf*>(node)->items();
        for (; index < node->count; ++index) write(items[index]);
      } else {
        const Value::Iterator end = list.end();
        for (auto element = ValueAccess::iterator(node, index); element != end; ++element) {
          write(*element);
          ++index;
        }
      }
    } catch (ValueError& error) {
      error.prepend(path_step(index));
      throw;
    }
  }

  // Notes where the elements stand, and copies those that the earlier document has.
  void write_long_list(const Value& list) {
    const std::size_t position = long_lists_.size();
    const std::size_t peculiarities = peculiarities_;
    long_lists_.push_back({list, buffer_.size(), 0, depth_});
    const WrittenList* beginning = find_beginning(list);
    if (beginning) write_raw(earlier_->bytes_of(*beginning));
    write_elements(list, beginning ? beginning->list.size() : 0);
    if (peculiarities_ == peculiarities) {
      long_lists_[position].end = buffer_.size();
    } else {
      long_lists_.erase(long_lists_.begin() + static_cast<std::ptrdiff_t>(position));
    }
  }

  // The elements of a list that stood deeper fit here too; those of one that did not may
  // be nested too deep here.
  const WrittenList* find_beginning(const Value& list) {
    if (!earlier_) return nullptr;
    const std::vector<WrittenList>& known = earlier_->long_lists;
    const std::size_t end = std::min(known.size(), next_list_ + kMostSkipped);
    for (std::size_t i = next_list_; i < end; ++i) {
      if (known[i].depth < depth_ || !begins_with(list, known[i].list)) continue;
      next_list_ = i + 1;
      while (next_list_ < known.size() && known[next_list_].begin < known[i].end) ++next_list_;
      return &known[i];
    }
    return nullptr;
  }

  void write_object(const Value& object) {
    const detail::Node* node = ValueAccess::node(object);
    const std::size_t size = detail::object_size(node);
    write_map_header(size);
    descend();
    std::size_t i = 0;
    try {
      if (node && node->type == detail::kFlatObject) {
        const auto* flat = static_cast<const detail::FlatObject*>(node);
        const Value* keys = flat->shape()->keys();
        const Value* values = flat->values();
        for (; i < size; ++i) {
          write_text(keys[i]);
          write(values[i]);
        }
      } else {
        for (; i < size; ++i) {
          write_text(detail::object_key(node, i));
          write(detail::object_value(node, i));
        }
      }
    } catch (ValueError& error) {
      error.prepend(path_step(ValueAccess::text_of(detail::object_key(node, i))));
      throw;
    }
    --depth_;
  }

  void write_map(const Value& map) {
    ++peculiarities_;  // with keys that are all strings it is read as an object
    write_map_header(map.size());
    descend();
    for (const auto& [key, value] : map.as_map()) {
      if (!can_be_key(key)) {
        throw ValueError("a key of type " + key.type_name() +
                         " cannot be written; keys are null, bool, numbers, text, bytes, or lists "
                         "of these");
      }
      write(key);
      write(value);
    }
    --depth_;
  }

  void write_extension(const Value& value) {
    const Extension extension = value.as_extension();
    switch (extension.code) {
      case ExtensionCode::host: return write_host(value);
      case ExtensionCode::bytearray:
        ++peculiarities_;  // it is read as bytes
        return write_bytes(extension.payload.as_bytes());
      case ExtensionCode::pickle:
        throw ValueError("a pickle payload can only stand alone, not inside another value");
      default: break;
    }
    const std::size_t start = begin_extension();
    if (extension.is_raw) {
      ++peculiarities_;  // it may be read as what it is
      write_raw(extension.payload.as_bytes());
    } else {
      descend();
      write_payload(extension);
      --depth_;
    }
    end_extension(start, static_cast<std::int8_t>(extension.code));
  }

  void write_host(const Value& value) {
    ++peculiarities_;  // only its type knows what is written of it the next time
    if (options_.on_host) return write(options_.on_host(value));
    throw ValueError("a C++ object of type " + value.type_name() +
                     " cannot be written; add the type to the serializer's TypeRegistry");
  }

  void write_payload(const Extension& extension) {
    switch (extension.code) {
      case ExtensionCode::ndarray:
      case ExtensionCode::delta_snapshot: return write(extension.payload);
      default: break;
    }
    const bool has_method = extension.code == ExtensionCode::call_method ||
                            extension.code == ExtensionCode::pydantic_v2;
    write_list_header(has_method ? 4 : 3);
    write_string(extension.module);
    write_string(extension.name);
    write(extension.payload);
    if (has_method) write_string(extension.method);
  }

  // The header's width depends on the payload's size, which is known only
  // afterwards. Room for the likely one is left, and the payload moved if it
  // turns out to be another.
  static constexpr std::size_t kLikelyHeader = 4;

  std::size_t begin_extension() {
    const std::size_t start = buffer_.size();
    buffer_.advance(buffer_.reserve(kLikelyHeader) + kLikelyHeader);
    return start;
  }

  void end_extension(std::size_t start, std::int8_t code) {
    const std::size_t size = buffer_.size() - start - kLikelyHeader;
    const bool is_fixed = size >= 1 && size <= 16 && std::has_single_bit(size);
    const std::size_t header = is_fixed ? 2 : size <= UINT8_MAX ? 3 : size <= UINT16_MAX ? 4 : 6;
    if (size > UINT32_MAX) throw ValueError("an extension of more than 4 GiB");
    if (header > kLikelyHeader) buffer_.reserve(header - kLikelyHeader);
    char* place = buffer_.at(start);
    if (header != kLikelyHeader) {
      std::memmove(place + header, place + kLikelyHeader, size);
      move_lists(start, header);
    }
    buffer_.advance(place + header + size);
    if (is_fixed) {
      *place++ = static_cast<char>(0xD4 + std::countr_zero(size));
    } else if (size <= UINT8_MAX) {
      *place++ = static_cast<char>(0xC7);
      place = put(place, static_cast<std::uint8_t>(size));
    } else if (size <= UINT16_MAX) {
      *place++ = static_cast<char>(0xC8);
      place = put(place, static_cast<std::uint16_t>(size));
    } else {
      *place++ = static_cast<char>(0xC9);
      place = put(place, static_cast<std::uint32_t>(size));
    }
    *place = static_cast<char>(code);
  }

  // The lists in an extension move with its payload. One that begins with the extension is
  // around it.
  void move_lists(std::size_t start, std::size_t header) {
    for (auto list = long_lists_.rbegin(); list != long_lists_.rend(); ++list) {
      if (list->begin <= start) return;
      list->begin = list->begin - kLikelyHeader + header;
      list->end = list->end - kLikelyHeader + header;
    }
  }

  const MsgpackWriteOptions& options_;
  Buffer buffer_;
  std::size_t depth_ = 0;
  // Of values that are not read as they were written, or not written alike each time.
  std::size_t peculiarities_ = 0;

  // For documents only.
  bool notes_lists_ = false;
  const MsgpackDocument* earlier_ = nullptr;
  std::size_t next_list_ = 0;  // of the earlier document: those before have their place
  std::vector<WrittenList> long_lists_;
};

template <class Write>
auto explain_failure(const Write& write) {
  try {
    return write();
  } catch (const ValueError& error) {
    const std::string place = error.path().empty() ? "" : error.path() + ": ";
    throw SerdeError("msgpack cannot hold this value: " + place + error.reason());
  }
}

}  // namespace

std::string to_msgpack(const Value& value, const MsgpackWriteOptions& options) {
  return explain_failure([&] { return Writer(options).run(value); });
}

MsgpackDocument internal::to_msgpack_document(const Value& value,
                                              const MsgpackWriteOptions& options,
                                              const MsgpackDocument* earlier,
                                              MsgpackDocument spent) {
  return explain_failure([&] { return Writer(options).run(value, earlier, std::move(spent)); });
}

}  // namespace clew
