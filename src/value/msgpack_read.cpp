#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <clew/extension.hpp>
#include <clew/msgpack.hpp>

#include "value/object.hpp"
#include "value/utf8.hpp"

namespace clew {
namespace {

using Type = MsgpackToken::Type;

[[noreturn]] void fail_at(std::size_t offset, const std::string& reason) {
  throw SerdeError("msgpack", offset, reason);
}

template <class Integer>
Integer load_big_endian(const char* from) {
  std::make_unsigned_t<Integer> bits;
  std::memcpy(&bits, from, sizeof bits);
  if constexpr (sizeof(bits) == 2) bits = __builtin_bswap16(bits);
  if constexpr (sizeof(bits) == 4) bits = __builtin_bswap32(bits);
  if constexpr (sizeof(bits) == 8) bits = __builtin_bswap64(bits);
  return static_cast<Integer>(bits);
}

}  // namespace

void MsgpackReader::fail(const std::string& reason) const { fail_at(position_, reason); }

template <class Integer>
Integer MsgpackReader::take() {
  return load_big_endian<Integer>(take_text(sizeof(Integer)).data());
}

std::string_view MsgpackReader::take_text(std::size_t size) {
  if (size > remaining()) {
    fail("the input ends early: " + std::to_string(size) + " bytes are needed, " +
         std::to_string(remaining()) + " are left");
  }
  const std::string_view text = bytes_.substr(position_, size);
  position_ += size;
  return text;
}

void MsgpackReader::expect_count(MsgpackToken& token, std::uint64_t count, std::size_t bytes_each) {
  // Every element takes at least a byte, so a larger count is a lie that must
  // not reserve memory.
  if (count * bytes_each > remaining()) {
    fail_at(token.offset, "a " + std::string(token.type == Type::list ? "list" : "map") + " of " +
                              std::to_string(count) + " needs more than the " +
                              std::to_string(remaining()) + " bytes that are left");
  }
  token.count = static_cast<std::uint32_t>(count);
}

MsgpackToken MsgpackReader::next() {
  MsgpackToken token;
  token.offset = position_;
  const auto integer = [&](std::int64_t value) {
    token.type = Type::integer;
    token.integer = value;
    return token;
  };
  const auto text = [&](Type type, std::size_t size) {
    token.type = type;
    token.text = take_text(size);
    return token;
  };
  const auto container = [&](Type type, std::uint64_t count) {
    token.type = type;
    expect_count(token, count, type == Type::list ? 1 : 2);
    return token;
  };
  const auto extension = [&](std::size_t size) {
    token.code = take<std::int8_t>();
    return text(Type::extension, size);
  };

  const std::uint8_t head = take<std::uint8_t>();
  if (head <= 0x7F) return integer(head);
  if (head >= 0xE0) return integer(static_cast<std::int8_t>(head));
  if (head <= 0x8F) return container(Type::map, head & 0x0F);
  if (head <= 0x9F) return container(Type::list, head & 0x0F);
  if (head <= 0xBF) return text(Type::string, head & 0x1F);
  switch (head) {
    case 0xC0: return token;
    case 0xC2:
    case 0xC3:
      token.type = Type::boolean;
      token.integer = head & 1;
      return token;
    case 0xC4: return text(Type::bytes, take<std::uint8_t>());
    case 0xC5: return text(Type::bytes, take<std::uint16_t>());
    case 0xC6: return text(Type::bytes, take<std::uint32_t>());
    case 0xC7: return extension(take<std::uint8_t>());
    case 0xC8: return extension(take<std::uint16_t>());
    case 0xC9: return extension(take<std::uint32_t>());
    case 0xCA:
      token.type = Type::floating;
      token.floating = static_cast<double>(std::bit_cast<float>(take<std::uint32_t>()));
      return token;
    case 0xCB:
      token.type = Type::floating;
      token.floating = std::bit_cast<double>(take<std::uint64_t>());
      return token;
    case 0xCC: return integer(take<std::uint8_t>());
    case 0xCD: return integer(take<std::uint16_t>());
    case 0xCE: return integer(take<std::uint32_t>());
    case 0xCF: {
      const auto value = take<std::uint64_t>();
      if (std::in_range<std::int64_t>(value)) return integer(static_cast<std::int64_t>(value));
      token.type = Type::unsigned_integer;
      token.unsigned_integer = value;
      return token;
    }
    case 0xD0: return integer(take<std::int8_t>());
    case 0xD1: return integer(take<std::int16_t>());
    case 0xD2: return integer(take<std::int32_t>());
    case 0xD3: return integer(take<std::int64_t>());
    case 0xD4:
    case 0xD5:
    case 0xD6:
    case 0xD7:
    case 0xD8: return extension(std::size_t{1} << (head - 0xD4));
    case 0xD9: return text(Type::string, take<std::uint8_t>());
    case 0xDA: return text(Type::string, take<std::uint16_t>());
    case 0xDB: return text(Type::string, take<std::uint32_t>());
    case 0xDC: return container(Type::list, take<std::uint16_t>());
    case 0xDD: return container(Type::list, take<std::uint32_t>());
    case 0xDE: return container(Type::map, take<std::uint16_t>());
    case 0xDF: return container(Type::map, take<std::uint32_t>());
    default: fail_at(token.offset, "0xc1 starts no value");
  }
}

void MsgpackReader::skip() {
  for (std::uint64_t values = 1; values > 0; --values) {
    const MsgpackToken token = next();
    if (token.type == Type::list) values += token.count;
    if (token.type == Type::map) values += std::uint64_t{2} * token.count;
  }
}

namespace {

bool is_string_head(std::uint8_t head) {
  return (head & 0xE0) == 0xA0 || (head >= 0xD9 && head <= 0xDB);
}

// Builds values straight from the bytes. Keys and values of the maps that are
// still open wait on two stacks, so that reading a map allocates nothing but
// its object. Where a map seems to have the keys of an earlier one, of this or of
// another input, not even keys are made: they are compared with that one's Shape.
class Builder {
 public:
  Builder(std::string_view bytes, const MsgpackReadOptions& options)
      : options_(options),
        begin_(bytes.data()),
        position_(bytes.data()),
        end_(bytes.data() + bytes.size()) {}

  // The one value that the bytes are.
  Value read_whole() {
    Value value = read();
    if (position_ != end_) {
      fail_at(offset(), std::to_string(remaining()) + " bytes follow the value");
    }
    return value;
  }

 private:
  // What most inputs have open at once, so that the stacks seldom move.
  static constexpr std::size_t kUsualEntries = 16;

  // How many keys and values belong to the maps that are open now. They differ
  // while the value of a key is being read.
  struct Mark {
    std::size_t keys;
    std::size_t values;
  };

  // Counts one level of nesting while it lives.
  class Level {
   public:
    Level(Builder& builder, const char* start) : depth_(builder.depth_) {
      if (depth_ >= builder.options_.max_depth) [[unlikely]]
        builder.fail_depth(start);
      ++depth_;
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    std::size_t& depth_;
  };

  std::size_t offset_of(const char* place) const {
    return static_cast<std::size_t>(place - begin_);
  }
  std::size_t offset() const { return offset_of(position_); }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - position_); }

  // Failures stay out of line: the paths that read must be small to be fast.
  [[noreturn, gnu::noinline]] void fail_early_end(std::size_t size) const {
    fail_at(offset(), "the input ends early: " + std::to_string(size) + " bytes are needed, " +
                          std::to_string(remaining()) + " are left");
  }
  [[noreturn, gnu::noinline]] void fail_depth(const char* start) const {
    fail_at(offset_of(start), "nested deeper than " + std::to_string(options_.max_depth) +
                                  " levels; raise max_depth if this is meant");
  }
  [[noreturn, gnu::noinline]] void fail_text(const char* start, std::size_t invalid) const {
    fail_at(offset_of(start), "text that is not UTF-8 at its byte " + std::to_string(invalid));
  }
  [[noreturn, gnu::noinline]] void fail_count(const char* start, const char* what,
                                              std::uint64_t count) const {
    fail_at(offset_of(start), "a " + std::string(what) + " of " + std::to_string(count) +
                                  " needs more than the " + std::to_string(remaining()) +
                                  " bytes that are left");
  }
  [[noreturn, gnu::noinline]] void fail_elements(const char* start) const {
    fail_at(offset_of(start), "more than " + std::to_string(options_.max_elements) +
                                  " elements; raise max_elements if this is meant");
  }

  template <class Integer>
  Integer take() {
    if (remaining() < sizeof(Integer)) [[unlikely]]
      fail_early_end(sizeof(Integer));
    const auto value = load_big_endian<Integer>(position_);
    position_ += sizeof(Integer);
    return value;
  }

  std::string_view take_bytes(std::size_t size) {
    if (remaining() < size) [[unlikely]]
      fail_early_end(size);
    const std::string_view bytes(position_, size);
    position_ += size;
    return bytes;
  }

  std::string_view take_text(const char* start, std::size_t size) {
    const std::string_view text = take_bytes(size);
    const std::size_t invalid = internal::find_invalid_utf8(text);
    if (invalid != std::string_view::npos) [[unlikely]]
      fail_text(start, invalid);
    return text;
  }

  Value read_text(const char* start, std::size_t size) {
    return ValueAccess::text(Kind::string, take_text(start, size));
  }

  Value read() {
    const char* const start = position_;
    const auto head = take<std::uint8_t>();
    if (head <= 0x7F) return std::int64_t{head};
    if (head >= 0xE0) return std::int64_t{static_cast<std::int8_t>(head)};
    if (head <= 0x8F) return read_map(start, head & 0x0F);
    if (head <= 0x9F) return read_list(start, head & 0x0F);
    if (head <= 0xBF) return read_text(start, head & 0x1F);
    switch (head) {
      case 0xC0: return {};
      case 0xC2: return false;
      case 0xC3: return true;
      case 0xC4: return Value::bytes(take_bytes(take<std::uint8_t>()));
      case 0xC5: return Value::bytes(take_bytes(take<std::uint16_t>()));
      case 0xC6: return Value::bytes(take_bytes(take<std::uint32_t>()));
      case 0xC7: return read_extension(start, take<std::uint8_t>());
      case 0xC8: return read_extension(start, take<std::uint16_t>());
      case 0xC9: return read_extension(start, take<std::uint32_t>());
      case 0xCA: return static_cast<double>(std::bit_cast<float>(take<std::uint32_t>()));
      case 0xCB: return std::bit_cast<double>(take<std::uint64_t>());
      case 0xCC: return std::int64_t{take<std::uint8_t>()};
      case 0xCD: return std::int64_t{take<std::uint16_t>()};
      case 0xCE: return std::int64_t{take<std::uint32_t>()};
      case 0xCF: return take<std::uint64_t>();
      case 0xD0: return std::int64_t{take<std::int8_t>()};
      case 0xD1: return std::int64_t{take<std::int16_t>()};
      case 0xD2: return std::int64_t{take<std::int32_t>()};
      case 0xD3: return take<std::int64_t>();
      case 0xD4:
      case 0xD5:
      case 0xD6:
      case 0xD7:
      case 0xD8: return read_extension(start, std::size_t{1} << (head - 0xD4));
      case 0xD9: return read_text(start, take<std::uint8_t>());
      case 0xDA: return read_text(start, take<std::uint16_t>());
      case 0xDB: return read_text(start, take<std::uint32_t>());
      case 0xDC: return read_list(start, take<std::uint16_t>());
      case 0xDD: return read_list(start, take<std::uint32_t>());
      case 0xDE: return read_map(start, take<std::uint16_t>());
      case 0xDF: return read_map(start, take<std::uint32_t>());
      default: fail_at(offset_of(start), "0xc1 starts no value");
    }
  }

  Value read_list(const char* start, std::size_t count) {
    // Every element takes at least a byte, so a larger count is a lie that must
    // not reserve memory.
    if (count > remaining()) [[unlikely]]
      fail_count(start, "list", count);
    const Level level(*this, start);
    if (count > options_.max_elements) [[unlikely]]
      fail_elements(start);
    if (count == 0) return ValueAccess::empty(Kind::list);
    if (count <= detail::kWidth) {
      return ValueAccess::adopt(Kind::list, read_leaf(count).take());
    }
    detail::VectorEditor elements;
    for (; count > detail::kWidth; count -= detail::kWidth) {
      elements.push_leaf(read_leaf(detail::kWidth).get());
    }
    elements.push_leaf(read_leaf(count).get());
    return detail::vector_value(Kind::list, std::move(elements).finish());
  }

  // The elements are made where they stay.
  detail::Ref<detail::Leaf> read_leaf(std::size_t count) {
    detail::Ref<detail::Leaf> leaf = detail::make_leaf(count);
    for (; leaf->count < count; ++leaf->count) new (leaf->items() + leaf->count) Value(read());
    return leaf;
  }

  Value read_map(const char* start, std::size_t count) {
    if (2 * count > remaining()) [[unlikely]]
      fail_count(start, "map", count);
    const Level level(*this, start);
    if (count > options_.max_elements) [[unlikely]]
      fail_elements(start);
    if (count == 0) return ValueAccess::empty(Kind::object);
    if (count > detail::kWidth) return read_entries(count, open_maps());
    const std::size_t slot = guess_slot(count);
    const detail::Shape* guess = detail::noted_shape(slot);
    if (guess && guess->count == count) return read_guessed(guess, slot);
    return read_unlike_earlier(count, open_maps(), slot);
  }

  // Maps of the same size whose keys begin alike most often have the same keys.
  std::size_t guess_slot(std::size_t count) const {
    std::uint32_t first_key = 0;
    std::memcpy(&first_key, position_, std::min(remaining(), sizeof(first_key)));
    return (((first_key * 0x9E3779B1U) >> 24) ^ count) % detail::kShapeSlots;
  }

  // Reads the rest of a map, the first of several with its keys.
  Value read_unlike_earlier(std::size_t count, Mark mark, std::size_t slot) {
    Value map = read_entries(count, mark);
    const detail::Node* node = ValueAccess::node(map);
    if (node->type == detail::kFlatObject) {
      detail::note_shape(slot, static_cast<const detail::FlatObject*>(node)->shape());
    }
    return map;
  }

  Value read_guessed(const detail::Shape* shape, std::size_t slot) {
    const std::size_t count = shape->count;
    auto object = detail::Ref<detail::FlatObject>::adopt(
        detail::allocate<detail::FlatObject>(detail::kFlatObject, count * sizeof(Value)));
    detail::retain(shape);
    object->descriptor = shape;
    for (; object->count < count; ++object->count) {
      if (!take_key(shape->keys()[object->count])) {
        return read_misguessed(object.get(), count, slot);
      }
      new (object->values() + object->count) Value(read());
    }
    return ValueAccess::adopt(Kind::object, std::move(object).take());
  }

  // Whether the next key is `key` in its shortest form; if so, steps over it.
  bool take_key(const Value& key) {
    const std::string_view text = ValueAccess::text_of(key);
    const bool is_short = text.size() < 32;
    const std::size_t header = is_short ? 1 : 2;
    if (remaining() < header + text.size()) return false;
    const auto head = static_cast<std::uint8_t>(position_[0]);
    if (is_short ? head != (0xA0 | text.size())
                 : head != 0xD9 || static_cast<std::uint8_t>(position_[1]) != text.size()) {
      return false;
    }
    if (std::memcmp(position_ + header, text.data(), text.size()) != 0) return false;
    position_ += header + text.size();
    return true;
  }

  // Goes on with a map whose first keys were those of the guess, the next not.
  Value read_misguessed(detail::FlatObject* begun, std::size_t count, std::size_t slot) {
    const Mark mark = open_maps();
    for (std::size_t i = 0; i < begun->count; ++i) {
      keys_.push_back(begun->shape()->keys()[i]);
      values_.push_back(std::move(begun->values()[i]));
    }
    return read_unlike_earlier(count, mark, slot);
  }

  // The rest of a map whose entries so far stand above `mark`.
  Value read_entries(std::size_t count, Mark mark) {
    bool all_strings = true;
    if (keys_.capacity() == 0) {
      keys_.reserve(kUsualEntries);
      values_.reserve(kUsualEntries);
    }
    for (std::size_t i = keys_.size() - mark.keys; i < count; ++i) {
      const bool is_string = at_string();
      all_strings = all_strings && is_string;
      keys_.push_back(is_string ? detail::make_key(take_string()) : read());
      values_.push_back(read());
    }
    const std::span<Value> keys = std::span(keys_).subspan(mark.keys);
    const std::span<Value> values = std::span(values_).subspan(mark.values);
    Value result = all_strings ? finish_object(keys, values) : finish_map(keys, values);
    close_maps(mark);
    return result;
  }

  bool at_string() const {
    return position_ != end_ && is_string_head(static_cast<std::uint8_t>(*position_));
  }

  // Only where at_string().
  std::string_view take_string() {
    const char* const start = position_;
    const auto head = take<std::uint8_t>();
    switch (head) {
      case 0xD9: return take_text(start, take<std::uint8_t>());
      case 0xDA: return take_text(start, take<std::uint16_t>());
      case 0xDB: return take_text(start, take<std::uint32_t>());
      default: return take_text(start, head & 0x1F);
    }
  }

  Mark open_maps() const { return {keys_.size(), values_.size()}; }
  void close_maps(Mark mark) {
    keys_.resize(mark.keys);
    values_.resize(mark.values);
  }

  Value finish_object(std::span<Value> keys, std::span<Value> values) {
    if (!options_.keep_repeated_keys) return detail::make_object(keys, values);
    std::vector<Value> key_copies(keys.begin(), keys.end());
    std::vector<Value> value_copies(values.begin(), values.end());
    Value object = detail::make_object(key_copies, value_copies);
    return object.size() == keys.size() ? object : finish_map(keys, values);
  }

  Value finish_map(std::span<Value> keys, std::span<Value> values) const {
    if (!options_.keep_repeated_keys) {
      const std::size_t distinct = fold_repeated(keys, values);
      keys = keys.first(distinct);
      values = values.first(distinct);
    }
    detail::VectorEditor flat;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      flat.push_back(std::move(keys[i]));
      flat.push_back(std::move(values[i]));
    }
    return detail::vector_value(Kind::map, std::move(flat).finish());
  }

  // Moves the last value of each repeated key to the key's first place; returns
  // how many distinct keys there are.
  static std::size_t fold_repeated(std::span<Value> keys, std::span<Value> values) {
    std::unordered_map<Value, std::size_t> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto [place, is_new] = places.try_emplace(keys[i], places.size());
      if (place->second != i) {
        keys[place->second] = keys[i];
        values[place->second] = std::move(values[i]);
      }
    }
    return places.size();
  }

  Value read_extension(const char* start, std::size_t size) {
    const auto code = take<std::int8_t>();
    const std::string_view bytes = take_bytes(size);
    std::optional<Value> known = read_known_extension(start, code, bytes);
    Value extension = known ? std::move(*known) : make_raw_extension(code, bytes);
    if (!options_.on_extension) return extension;
    try {
      return options_.on_extension(std::move(extension));
    } catch (...) {
      callback_failed_ = true;
      throw;
    }
  }

  // The extension if its code and shape are LangGraph's, else nothing: then it
  // is kept as the bytes it is.
  std::optional<Value> read_known_extension(const char* start, std::int8_t code,
                                            std::string_view bytes) {
    if (code < 0 || code > 7) return std::nullopt;
    const Level level(*this, start);
    const Mark mark = open_maps();
    const char* const outer_position = std::exchange(position_, bytes.data());
    const char* const outer_end = std::exchange(end_, bytes.data() + bytes.size());
    std::optional<Value> extension;
    try {
      extension = read_payload(static_cast<ExtensionCode>(code));
    } catch (const SerdeError&) {
      // Only what the bytes are decides whether they stay opaque.
      if (callback_failed_) throw;
      close_maps(mark);
    }
    position_ = outer_position;
    end_ = outer_end;
    return extension;
  }

  std::optional<Value> read_payload(ExtensionCode code) {
    if (code == ExtensionCode::delta_snapshot) {
      return detail::make_extension_node(code, {}, {}, {}, read_whole());
    }
    if (code == ExtensionCode::ndarray) {
      Value payload = read_whole();
      if (!payload.is_list() || payload.size() != 4 || !payload[3].is_bytes()) return std::nullopt;
      return detail::make_extension_node(code, {}, {}, {}, std::move(payload));
    }
    return read_object(code);
  }

  // [module, name, payload] or, for the codes with a method, [.., method].
  std::optional<Value> read_object(ExtensionCode code) {
    const bool has_method =
        code == ExtensionCode::call_method || code == ExtensionCode::pydantic_v2;
    MsgpackReader head(std::string_view(position_, remaining()));
    const MsgpackToken array = head.next();
    if (array.type != Type::list || array.count != (has_method ? 4U : 3U)) return std::nullopt;
    position_ += head.position();
    if (!at_string()) return std::nullopt;
    const std::string_view module = take_string();
    if (!at_string()) return std::nullopt;
    const std::string_view name = take_string();
    Value payload = read();
    std::string_view method;
    if (has_method) {
      if (!at_string()) return std::nullopt;
      method = take_string();
    }
    if (position_ != end_) return std::nullopt;
    return detail::make_extension_node(code, module, name, method, std::move(payload));
  }

  const MsgpackReadOptions& options_;
  const char* const begin_;
  const char* position_;
  const char* end_;
  std::size_t depth_ = 0;
  bool callback_failed_ = false;
  std::vector<Value> keys_;
  std::vector<Value> values_;
};

}  // namespace

Value from_msgpack(std::string_view bytes, const MsgpackReadOptions& options) {
  if (bytes.size() > options.max_bytes) {
    fail_at(0, std::to_string(bytes.size()) + " bytes are more than the " +
                   std::to_string(options.max_bytes) +
                   " allowed; raise max_bytes if this is meant");
  }
  return Builder(bytes, options).read_whole();
}

}  // namespace clew
