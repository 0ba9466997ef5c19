#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

#include "value/float_text.hpp"
#include "value/json_text.hpp"
#include "value/utf8.hpp"

namespace clew {
namespace {

// Gathers text and passes it on in pieces.
class Output {
 public:
  explicit Output(const JsonSink& sink) : sink_(sink) {}

  void put(char c) {
    *room_for(1) = c;
    wrote(1);
  }

  void append(std::string_view text) {
    while (text.size() > sizeof buffer_ - used_) {
      const std::size_t fits = sizeof buffer_ - used_;
      append_fitting(text.substr(0, fits));
      text.remove_prefix(fits);
      flush();
    }
    append_fitting(text);
  }

  // At least `size` bytes to write to, followed by wrote(). `size` is far below the piece size.
  char* room_for(std::size_t size) {
    if (sizeof buffer_ - used_ < size) flush();
    return buffer_ + used_;
  }
  void wrote(std::size_t size) { used_ += size; }

  void flush() {
    if (used_ == 0) return;
    const std::string_view piece(buffer_, used_);
    used_ = 0;
    sink_(piece);
  }

 private:
  void append_fitting(std::string_view text) {
    std::memcpy(buffer_ + used_, text.data(), text.size());
    used_ += text.size();
  }

  const JsonSink& sink_;
  std::size_t used_ = 0;
  char buffer_[8192];
};

// A value that has no JSON form. Gathers the path while it leaves the writer.
struct Unwritable {
  std::string path;
  std::string reason;
};

std::string with_replacements(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = internal::utf8_sequence_size(text);
    result += size != 0 ? text.substr(0, size) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string too_deep_text(const JsonWriteOptions& options) {
  return fmt::format("nested deeper than {} levels; JsonWriteOptions::max_depth allows more",
                     options.max_depth);
}

std::string dashed_uuid(std::string_view hex) {
  std::string text(hex);
  for (std::size_t position : {8, 13, 18, 23}) text.insert(position, 1, '-');
  return text;
}

bool is_ordered_number(const Value& key) {
  switch (key.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::big_integer: return true;
    case Kind::floating: return !std::isnan(key.as_double());
    default: return false;
  }
}

long double number_of(const Value& key) {
  if (key.is_bool()) return key.as_bool() ? 1 : 0;
  if (key.is_int()) return static_cast<long double>(key.as_int());
  return key.is_double() ? key.as_double() : std::strtold(key.integer_text().c_str(), nullptr);
}

// Python compares keys of all kinds of numbers by their worth. What it cannot
// compare follows in the order of Value.
bool map_key_less(const Value& a, const Value& b) {
  const bool is_number = is_ordered_number(a);
  if (is_number != is_ordered_number(b)) return is_number;
  if (is_number && number_of(a) != number_of(b)) return number_of(a) < number_of(b);
  return a < b;
}

// Writes values and the punctuation around them. `for_display` never refuses:
// what has no JSON form is shown as well as can be.
class Renderer {
 public:
  Renderer(Output& output, const JsonWriteOptions& options, bool for_display = false)
      : output_(output), options_(options), for_display_(for_display) {}

  void value(const Value& value);

  // What JsonWriter puts documents together from.
  void open(char bracket);
  void close(char bracket, bool is_empty);
  void before_element(bool is_first);
  void key(std::string_view key);

 private:
  void omit(const std::string& reason);
  void list(const Value& list);
  void object(const Value& object);
  void sorted_object(const Value& object);
  void map(const Value& map);
  void entry(std::string_view key, const Value& value, bool is_first);
  std::string key_text(const Value& key);
  void extension(const Value& value);

  void string(std::string_view text, std::string_view what = "the text");
  void escaped(std::string_view character);
  void unicode_escape(char32_t unit);
  void integer(std::int64_t number);
  void floating(double number);
  std::string_view non_finite_text(double number) const;
  void base64(std::string_view bytes);
  void new_line();

  static constexpr std::size_t kKeysWithinKeys = 3;

  Output& output_;
  const JsonWriteOptions& options_;
  const bool for_display_;
  std::size_t level_ = 0;    // open brackets
  std::size_t wrapped_ = 0;  // extensions around what is written; they nest, but open no bracket
  // Keys of maps whose text this is part of. Each level escapes the text of the
  // one within again, so the quotes of deeper ones would grow exponentially.
  std::size_t within_keys_ = 0;
};

void Renderer::value(const Value& value) {
  switch (value.kind()) {
    case Kind::null: return output_.append("null");
    case Kind::boolean: return output_.append(value.as_bool() ? "true" : "false");
    case Kind::integer: return integer(value.as_int());
    case Kind::big_integer: return output_.append(value.integer_text());
    case Kind::floating: return floating(value.as_double());
    case Kind::string: return string(value.as_string());
    case Kind::bytes: return base64(value.as_bytes());
    default: break;
  }
  if (level_ + wrapped_ >= options_.max_depth) return omit(too_deep_text(options_));
  if (within_keys_ > kKeysWithinKeys) return omit("keys made of maps with such keys are too deep");
  if (value.is_list()) return list(value);
  if (value.is_extension()) return extension(value);
  if (!value.is_object()) return map(value);
  if (options_.sort_keys) return sorted_object(value);
  object(value);
}

void Renderer::omit(const std::string& reason) {
  if (!for_display_) throw Unwritable{"", reason};
  output_.append("\"...\"");
}

void Renderer::list(const Value& list) {
  std::size_t index = 0;
  open('[');
  try {
    for (const Value& element : list) {
      before_element(index == 0);
      value(element);
      ++index;
    }
  } catch (Unwritable& unwritable) {
    unwritable.path.insert(0, path_step(index));
    throw;
  }
  close(']', index == 0);
}

void Renderer::object(const Value& object) {
  bool is_first = true;
  open('{');
  for (const auto& [key, value] : object.items()) {
    entry(key, value, is_first);
    is_first = false;
  }
  close('}', is_first);
}

void Renderer::sorted_object(const Value& object) {
  std::vector<std::pair<std::string_view, const Value*>> entries;
  for (const auto& [key, value] : object.items()) entries.emplace_back(key, &value);
  std::sort(entries.begin(), entries.end());
  open('{');
  for (const auto& [key, value] : entries) entry(key, *value, key == entries.front().first);
  close('}', entries.empty());
}

void Renderer::map(const Value& map) {
  std::vector<std::pair<Value, Value>> entries = map.as_map();
  if (options_.sort_keys) {
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return map_key_less(a.first, b.first); });
  }
  bool is_first = true;
  open('{');
  for (const auto& [key, value] : entries) {
    entry(key_text(key), value, is_first);
    is_first = false;
  }
  close('}', is_first);
}

void Renderer::entry(std::string_view key, const Value& value, bool is_first) {
  before_element(is_first);
  this->key(key);
  try {
    this->value(value);
  } catch (Unwritable& unwritable) {
    unwritable.path.insert(0, path_step(key));
    throw;
  }
}

// Strings as they are, everything else as its compact text; for null, bool and
// numbers that is what Python's json does.
std::string Renderer::key_text(const Value& key) {
  if (key.is_string()) return std::string(key.as_string());
  JsonWriteOptions compact = options_;
  compact.indent = -1;
  compact.spaced = false;
  compact.ascii_only = false;
  compact.max_depth = options_.max_depth - level_ - wrapped_;
  std::string text;
  const JsonSink append = [&text](std::string_view piece) { text += piece; };
  Output output(append);
  Renderer renderer(output, compact, for_display_);
  renderer.within_keys_ = within_keys_ + 1;
  renderer.value(key);
  output.flush();
  return text;
}

// The plain content of a typed value. Most forms carry it as their payload.
void Renderer::extension(const Value& value) {
  const Extension extension = value.as_extension();
  const Value& payload = extension.payload;
  ++wrapped_;
  if (extension.code == ExtensionCode::host) {
    string("<" + extension.type_name() + ">");
  } else if (extension.code == ExtensionCode::ndarray && !extension.is_raw) {
    this->value(clew::object({{"dtype", payload[0]},
                              {"shape", payload[1]},
                              {"order", payload[2]},
                              {"data", payload[3]}}));
  } else if (extension.is("uuid", "UUID") && payload.is_string() &&
             payload.as_string().size() == 32) {
    string(dashed_uuid(payload.as_string()));
  } else {
    this->value(payload);
  }
  --wrapped_;
}

void Renderer::open(char bracket) {
  output_.put(bracket);
  ++level_;
}

void Renderer::close(char bracket, bool is_empty) {
  --level_;
  if (!is_empty && options_.indent >= 0) new_line();
  output_.put(bracket);
}

void Renderer::before_element(bool is_first) {
  if (!is_first) output_.put(',');
  if (options_.indent >= 0) {
    new_line();
  } else if (options_.spaced && !is_first) {
    output_.put(' ');
  }
}

void Renderer::key(std::string_view key) {
  string(key, "a key");
  output_.put(':');
  if (options_.spaced || options_.indent >= 0) output_.put(' ');
}

void Renderer::new_line() {
  output_.put('\n');
  const std::size_t spaces = level_ * static_cast<std::size_t>(options_.indent);
  for (std::size_t i = 0; i < spaces; ++i) output_.put(' ');
}

void Renderer::string(std::string_view text, std::string_view what) {
  const std::size_t invalid = internal::find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    if (for_display_) return string(with_replacements(text));
    throw Unwritable{"", fmt::format("{} is not valid UTF-8 at its byte {}; keep binary data as "
                                     "Value::bytes",
                                     what, invalid)};
  }
  output_.put('"');
  while (true) {
    const std::size_t plain = internal::plain_prefix(text, options_.ascii_only);
    output_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t size = internal::utf8_sequence_size(text);
    escaped(text.substr(0, size));
    text.remove_prefix(size);
  }
  output_.put('"');
}

void Renderer::escaped(std::string_view character) {
  switch (character.front()) {
    case '"': return output_.append("\\\"");
    case '\\': return output_.append("\\\\");
    case '\n': return output_.append("\\n");
    case '\r': return output_.append("\\r");
    case '\t': return output_.append("\\t");
    case '\b': return output_.append("\\b");
    case '\f': return output_.append("\\f");
    default: break;
  }
  const char32_t code_point = internal::decode_utf8(character);
  if (code_point < 0x10000) return unicode_escape(code_point);
  unicode_escape(0xD800 + ((code_point - 0x10000) >> 10));
  unicode_escape(0xDC00 + (code_point & 0x3FF));
}

void Renderer::unicode_escape(char32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  output_.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) output_.put(kDigits[unit >> shift & 0xF]);
}

void Renderer::integer(std::int64_t number) {
  constexpr std::size_t kLongest = 20;
  char* begin = output_.room_for(kLongest);
  output_.wrote(
      static_cast<std::size_t>(std::to_chars(begin, begin + kLongest, number).ptr - begin));
}

void Renderer::floating(double number) {
  if (!std::isfinite(number)) return output_.append(non_finite_text(number));
  output_.wrote(internal::write_float(number, output_.room_for(internal::kFloatTextSize)));
}

std::string_view Renderer::non_finite_text(double number) const {
  const std::string_view literal =
      std::isnan(number) ? "NaN" : (number > 0 ? "Infinity" : "-Infinity");
  switch (options_.non_finite) {
    case NonFinite::null: return "null";
    case NonFinite::literal: return literal;
    case NonFinite::reject: break;
  }
  throw Unwritable{
      "", fmt::format("{} has no JSON form; choose one by JsonWriteOptions::non_finite", literal)};
}

void Renderer::base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  output_.put('"');
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    char* digits = output_.room_for(4);
    for (std::size_t j = 0; j < 4; ++j) {
      digits[j] = j <= count ? kDigits[group >> (18 - 6 * j) & 0x3F] : '=';
    }
    output_.wrote(4);
  }
  output_.put('"');
}

[[noreturn]] void throw_unwritable(const Unwritable& unwritable) {
  throw SerdeError(fmt::format("cannot write JSON: ${}: {}", unwritable.path, unwritable.reason));
}

}  // namespace

void write_json(const Value& value, const JsonSink& sink, const JsonWriteOptions& options) {
  Output output(sink);
  try {
    Renderer(output, options).value(value);
  } catch (const Unwritable& unwritable) {
    throw_unwritable(unwritable);
  }
  output.flush();
}

std::string to_json(const Value& value, const JsonWriteOptions& options) {
  std::string text;
  write_json(value, [&text](std::string_view piece) { text += piece; }, options);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  const JsonWriteOptions options{.non_finite = NonFinite::literal};
  const JsonSink sink = [&out](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  };
  Output output(sink);
  Renderer(output, options, /*for_display=*/true).value(value);
  output.flush();
  return out;
}

struct JsonWriter::Document {
  struct OpenContainer {
    bool is_object;
    bool is_empty = true;
    bool has_key = false;  // and not yet its value
  };

  Document(JsonSink document_sink, const JsonWriteOptions& document_options)
      : sink(std::move(document_sink)), options(document_options) {}

  // Runs a step that passed its checks. If it throws, the text is cut short and
  // nothing can follow.
  template <class Step>
  void write(Step step) {
    is_broken = true;
    try {
      step();
    } catch (const Unwritable& unwritable) {
      throw_unwritable(unwritable);
    }
    is_broken = false;
  }

  void check_usable(std::string_view call) const {
    if (is_broken) refuse(call, "an earlier call failed and left the document incomplete");
  }

  void check_value_fits(std::string_view call) const {
    check_usable(call);
    if (is_complete) refuse(call, "the document is complete");
    if (!open.empty() && open.back().is_object && !open.back().has_key) {
      refuse(call, "an entry of an object begins with key()");
    }
  }

  void begin_value() {
    if (open.empty()) return;
    OpenContainer& container = open.back();
    if (!container.is_object) renderer.before_element(container.is_empty);
    container.is_empty = false;
    container.has_key = false;
  }

  void begin(bool is_object, std::string_view call) {
    check_value_fits(call);
    if (open.size() == options.max_depth) refuse(call, too_deep_text(options));
    write([&] {
      begin_value();
      renderer.open(is_object ? '{' : '[');
      open.push_back({is_object});
    });
  }

  void end(bool is_object, std::string_view call) {
    check_usable(call);
    if (open.empty() || open.back().is_object != is_object) {
      refuse(call, is_object ? "the innermost open container is no object"
                             : "the innermost open container is no list");
    }
    if (open.back().has_key) refuse(call, "the last key has no value");
    write([&] {
      renderer.close(is_object ? '}' : ']', open.back().is_empty);
      open.pop_back();
      is_complete = open.empty();
    });
  }

  [[noreturn]] static void refuse(std::string_view call, std::string_view reason) {
    throw Error(fmt::format("JsonWriter::{}: {}", call, reason));
  }

  const JsonSink sink;
  const JsonWriteOptions options;
  Output output{sink};
  Renderer renderer{output, options};
  std::vector<OpenContainer> open;
  bool is_complete = false;
  bool is_broken = false;
};

JsonWriter::JsonWriter(JsonSink sink, const JsonWriteOptions& options)
    : document_(std::make_unique<Document>(std::move(sink), options)) {}
JsonWriter::JsonWriter(JsonWriter&&) noexcept = default;
JsonWriter& JsonWriter::operator=(JsonWriter&&) noexcept = default;
JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::begin_object() {
  document_->begin(true, "begin_object");
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  document_->end(true, "end_object");
  return *this;
}

JsonWriter& JsonWriter::begin_list() {
  document_->begin(false, "begin_list");
  return *this;
}

JsonWriter& JsonWriter::end_list() {
  document_->end(false, "end_list");
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view key) {
  document_->check_usable("key");
  if (document_->open.empty() || !document_->open.back().is_object) {
    Document::refuse("key", "only an object has keys; call begin_object() first");
  }
  Document::OpenContainer& object = document_->open.back();
  if (object.has_key) Document::refuse("key", "the last key has no value");
  document_->write([&] {
    document_->renderer.before_element(object.is_empty);
    document_->renderer.key(key);
    object.is_empty = false;
    object.has_key = true;
  });
  return *this;
}

JsonWriter& JsonWriter::value(const Value& value) {
  document_->check_value_fits("value");
  document_->write([&] {
    document_->begin_value();
    document_->renderer.value(value);
    document_->is_complete = document_->open.empty();
  });
  return *this;
}

void JsonWriter::finish() {
  document_->check_usable("finish");
  if (!document_->is_complete) Document::refuse("finish", "the document is not complete");
  document_->write([&] { document_->output.flush(); });
}

}  // namespace clew
