// Parsing in two stages. The first is simdjson's: it checks UTF-8 and quotes
// and lists where each token begins. The second, here, walks those tokens and
// builds the Value; simdjson's own second stage has no exact large integers and
// no choice about what is not strictly JSON.
//
// simdjson's token list also tells where a string ends: only whitespace lies
// between the closing quote and the next token.
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <clew/json.hpp>

#include "value/object.hpp"
#include "value/utf8.hpp"
#include "value/vector.hpp"

namespace clew {
namespace {

using TokenFinder = simdjson::internal::dom_parser_implementation;

constexpr std::size_t kUnicodeEscapeSize = std::string_view("\\u0000").size();

// A container whose end has not been read yet. Its elements so far are the
// last ones on the stacks of the parser.
struct OpenContainer {
  bool is_object;
  std::size_t offset;
  std::size_t first_key;
  std::size_t first_value;
  // A long list moves here leaf by leaf, so that the stack stays short.
  detail::VectorEditor long_list;
};

// What a thread keeps from one document to the next, to save allocations.
struct Workspace {
  // Buffers made for larger documents are given back.
  static constexpr std::size_t kLargestKept = std::size_t{1} << 20;
  static constexpr std::size_t kSmallest = std::size_t{1} << 12;
  static constexpr std::size_t kMostElementsKept = std::size_t{1} << 14;

  std::unique_ptr<TokenFinder> token_finder;
  std::unique_ptr<char[]> text;  // a copy of the document, padded as simdjson needs it
  std::size_t capacity = 0;

  std::vector<OpenContainer> open;
  std::vector<Value> keys;
  std::vector<Value> values;
  std::string unescaped;

  void hold(std::string_view document) {
    if (document.size() > capacity) grow(document.size());
    std::memcpy(text.get(), document.data(), document.size());
    std::memset(text.get() + document.size(), 0, simdjson::SIMDJSON_PADDING);
  }

  simdjson::error_code find_tokens(std::size_t size) {
    return token_finder->stage1(reinterpret_cast<const std::uint8_t*>(text.get()), size,
                                simdjson::stage1_mode::regular);
  }

  void clear() noexcept {
    clear_and_trim(open);
    clear_and_trim(keys);
    clear_and_trim(values);
    if (unescaped.capacity() > kLargestKept) std::string().swap(unescaped);
    if (capacity > kLargestKept) {
      token_finder.reset();
      text.reset();
      capacity = 0;
    }
  }

 private:
  template <class Element>
  static void clear_and_trim(std::vector<Element>& stack) {
    stack.clear();
    if (stack.capacity() > kMostElementsKept) std::vector<Element>().swap(stack);
  }

  void grow(std::size_t size) {
    const std::size_t wanted =
        size > kLargestKept ? size : std::bit_ceil(std::max(size, kSmallest));
    capacity = 0;
    text.reset();
    token_finder.reset();
    // Depth matters only to the stage that is not used.
    const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
        wanted, 1, token_finder);
    if (error) throw std::bad_alloc();
    text.reset(new char[wanted + simdjson::SIMDJSON_PADDING]);
    capacity = wanted;
  }
};

// The workspace of this thread, or nullptr while the thread is ending.
Workspace* workspace_of_this_thread() {
  thread_local bool ended = false;
  struct Owner {
    Workspace workspace;
    ~Owner() { ended = true; }
  };
  if (ended) return nullptr;
  thread_local Owner owner;
  return &owner.workspace;
}

// Use of a workspace for one document; cleared also when that is refused half way.
class WorkspaceLease {
 public:
  WorkspaceLease() : workspace_(workspace_of_this_thread()) {
    if (!workspace_) workspace_ = &own_.emplace();
  }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  ~WorkspaceLease() { workspace_->clear(); }
  Workspace& operator*() const { return *workspace_; }
  Workspace* operator->() const { return workspace_; }

 private:
  std::optional<Workspace> own_;
  Workspace* workspace_;
};

bool is_whitespace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool ends_token(char c) {
  switch (c) {
    case ',':
    case ']':
    case '}':
    case '[':
    case '{':
    case ':': return true;
    default: return is_whitespace(c);
  }
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

std::string describe(char c) {
  if (c > 0x20 && c < 0x7F) return fmt::format("'{}'", c);
  return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

detail::Ref<detail::Leaf> make_leaf(std::span<Value> elements) {
  detail::Ref<detail::Leaf> leaf = detail::make_leaf(elements.size());
  std::uninitialized_move(elements.begin(), elements.end(), leaf->items());
  leaf->count = static_cast<std::uint16_t>(elements.size());
  return leaf;
}

Value make_list(std::span<Value> elements) {
  if (elements.empty()) return ValueAccess::empty(Kind::list);
  return ValueAccess::adopt(Kind::list, make_leaf(elements).take());
}

// Whether `number`, valid JSON that no double is close to, is huge rather than tiny.
bool is_beyond_largest(std::string_view number) {
  if (number.front() == '-') number.remove_prefix(1);
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  // The first digit that counts stands for 10 to this power, more or less.
  const std::ptrdiff_t power = static_cast<std::ptrdiff_t>(point) -
                               static_cast<std::ptrdiff_t>(mantissa.find_first_not_of("0."));
  if (mark == std::string_view::npos) return power > 0;

  std::string_view digits = number.substr(mark + 1);
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (parsed.ec != std::errc()) return !negative;
  return negative ? power > exponent : power > -exponent;
}

[[noreturn]] void fail(std::size_t offset, std::string reason) {
  throw SerdeError("json", offset, std::move(reason));
}

// Finds out why simdjson's first stage refused `text`: it says what is wrong,
// but not where.
[[noreturn]] void explain_refusal(std::string_view text, simdjson::error_code error) {
  const std::size_t invalid = internal::find_invalid_utf8(text);
  if (invalid != std::string_view::npos) fail(invalid, "the text is not valid UTF-8");
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') fail(i, "unexpected '\\' outside of a string");
    if (text[i] != '"') continue;
    const std::size_t quote = i++;
    while (i < text.size() && text[i] != '"') {
      if (is_control(text[i])) {
        fail(i, fmt::format("control character {} in a string; write it as \\u{:04x}",
                            describe(text[i]), static_cast<unsigned>(text[i])));
      }
      const bool escapes = text[i] == '\\' && i + 1 < text.size();
      i += escapes && (text[i + 1] == '"' || text[i + 1] == '\\') ? 2 : 1;
    }
    if (i >= text.size()) fail(quote, "the string that begins here is not closed");
  }
  if (error == simdjson::EMPTY) fail(text.size(), "the text holds no value");
  fail(0, simdjson::error_message(error));
}

class Parser {
 public:
  Parser(std::size_t size, const JsonParseOptions& options, Workspace& workspace)
      : text_(workspace.text.get()),
        size_(size),
        token_(workspace.token_finder->structural_indexes.get()),
        end_(token_ + workspace.token_finder->n_structural_indexes),
        options_(options),
        open_(workspace.open),
        keys_(workspace.keys),
        values_(workspace.values),
        unescaped_(workspace.unescaped) {}

  Value parse() {
    do {
      while (!begin_value()) {
      }
    } while (another_value_follows());
    if (token_ != end_) fail(*token_, "unexpected text after the value");
    return std::move(values_.back());
  }

 private:
  // Reads up to and including the next scalar or empty container. False if it
  // opened a container instead, whose first value then comes next.
  bool begin_value();
  // Reads the comma after a value, or closes containers until there is one.
  // False at the end of the document's value.
  bool another_value_follows();

  void open_container(bool is_object, std::size_t offset);
  void close_container();
  void move_to_long_list(OpenContainer& list);
  void read_key();

  // The content of the string token at `offset`; valid until the next call.
  std::string_view string_content(std::size_t offset);
  std::string_view unescape(std::size_t begin, std::size_t end);
  std::size_t append_escaped(std::size_t offset, std::size_t end);
  std::size_t append_unicode_escape(std::size_t offset, std::size_t end);
  char32_t four_hex_digits(std::size_t offset, std::size_t end);

  Value number(std::size_t offset);
  // `mark` is the '.' or 'e' that makes the number at `begin` a double.
  Value floating(const char* begin, const char* mark);
  Value literal(std::size_t offset, std::string_view spelling, Value value);
  Value non_finite_literal(std::size_t offset, std::string_view spelling, double value);

  // After the last token comes one more at the end of the text, where a zero stands.
  std::size_t take_token() { return *token_++; }
  char peek() const { return text_[*token_]; }
  void expect_token_end(const char* cursor);
  std::size_t offset_of(const char* cursor) const {
    return static_cast<std::size_t>(cursor - text_);
  }
  [[noreturn]] void fail_expecting(std::size_t offset, std::string_view expected) const;

  const char* text_;
  std::size_t size_;
  const std::uint32_t* token_;
  const std::uint32_t* end_;
  const JsonParseOptions& options_;

  std::vector<OpenContainer>& open_;
  std::vector<Value>& keys_;
  std::vector<Value>& values_;
  std::string& unescaped_;
  // The first backslash at or after where strings have been read; one search
  // of the document then serves all of its strings.
  std::size_t next_backslash_ = 0;
};

bool Parser::begin_value() {
  const std::size_t offset = take_token();
  switch (text_[offset]) {
    case '{':
      open_container(true, offset);
      if (peek() != '}') {
        read_key();
        return false;
      }
      ++token_;
      close_container();
      return true;
    case '[':
      open_container(false, offset);
      if (peek() != ']') return false;
      ++token_;
      close_container();
      return true;
    case '"': values_.emplace_back(string_content(offset)); return true;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': values_.push_back(number(offset)); return true;
    case 't': values_.push_back(literal(offset, "true", true)); return true;
    case 'f': values_.push_back(literal(offset, "false", false)); return true;
    case 'n': values_.push_back(literal(offset, "null", nullptr)); return true;
    case 'N':
      values_.push_back(
          non_finite_literal(offset, "NaN", std::numeric_limits<double>::quiet_NaN()));
      return true;
    case 'I':
      values_.push_back(
          non_finite_literal(offset, "Infinity", std::numeric_limits<double>::infinity()));
      return true;
    default: fail_expecting(offset, "a value");
  }
}

bool Parser::another_value_follows() {
  while (!open_.empty()) {
    OpenContainer& container = open_.back();
    const std::size_t offset = take_token();
    const char c = text_[offset];
    if (c == ',') {
      if (container.is_object) {
        read_key();
      } else if (values_.size() - container.first_value == detail::kWidth) {
        move_to_long_list(container);
      }
      return true;
    }
    if (c != (container.is_object ? '}' : ']')) {
      fail_expecting(offset, container.is_object ? "',' or '}'" : "',' or ']'");
    }
    close_container();
  }
  return false;
}

void Parser::open_container(bool is_object, std::size_t offset) {
  if (open_.size() >= options_.max_depth) {
    fail(offset,
         fmt::format("nested deeper than {} levels; JsonParseOptions::max_depth allows more",
                     options_.max_depth));
  }
  open_.push_back({is_object, offset, keys_.size(), values_.size(), {}});
}

void Parser::close_container() {
  OpenContainer& container = open_.back();
  const std::span<Value> values = std::span(values_).subspan(container.first_value);
  Value result;
  if (container.is_object) {
    result = detail::make_object(std::span(keys_).subspan(container.first_key), values);
    keys_.resize(container.first_key);
  } else if (container.long_list.size() == 0) {
    result = make_list(values);
  } else {
    for (Value& value : values) container.long_list.push_back(std::move(value));
    result = detail::vector_value(Kind::list, std::move(container.long_list).finish());
  }
  values_.resize(container.first_value);
  values_.push_back(std::move(result));
  open_.pop_back();
}

void Parser::move_to_long_list(OpenContainer& list) {
  list.long_list.push_leaf(make_leaf(std::span(values_).subspan(list.first_value)).get());
  values_.resize(list.first_value);
}

void Parser::read_key() {
  const std::size_t offset = take_token();
  if (text_[offset] != '"') fail_expecting(offset, "a key in double quotes");
  keys_.push_back(detail::make_key(string_content(offset)));
  const std::size_t colon = take_token();
  if (text_[colon] != ':') fail_expecting(colon, "':' after the key");
}

std::string_view Parser::string_content(std::size_t offset) {
  const std::size_t begin = offset + 1;
  std::size_t end = *token_ - 1;
  while (is_whitespace(text_[end])) --end;
  if (end < begin || text_[end] != '"') fail(offset, "the string that begins here is not closed");
  if (next_backslash_ < begin) {
    const void* found = std::memchr(text_ + begin, '\\', size_ - begin);
    next_backslash_ = found ? offset_of(static_cast<const char*>(found)) : size_;
  }
  if (next_backslash_ < end) return unescape(begin, end);
  return {text_ + begin, end - begin};
}

std::string_view Parser::unescape(std::size_t begin, std::size_t end) {
  unescaped_.clear();
  while (begin < end) {
    const void* found = std::memchr(text_ + begin, '\\', end - begin);
    const std::size_t backslash = found ? offset_of(static_cast<const char*>(found)) : end;
    unescaped_.append(text_ + begin, backslash - begin);
    begin = backslash == end ? end : append_escaped(backslash, end);
  }
  return unescaped_;
}

// Appends what the escape at `offset` stands for; returns where the text goes on.
std::size_t Parser::append_escaped(std::size_t offset, std::size_t end) {
  const char c = text_[offset + 1];
  switch (c) {
    case '"':
    case '\\':
    case '/': unescaped_ += c; break;
    case 'b': unescaped_ += '\b'; break;
    case 'f': unescaped_ += '\f'; break;
    case 'n': unescaped_ += '\n'; break;
    case 'r': unescaped_ += '\r'; break;
    case 't': unescaped_ += '\t'; break;
    case 'u': return append_unicode_escape(offset, end);
    default:
      fail(offset, fmt::format("'\\' followed by {} is no escape; write a backslash as '\\\\'",
                               describe(c)));
  }
  return offset + 2;
}

std::size_t Parser::append_unicode_escape(std::size_t offset, std::size_t end) {
  const auto is_high = [](char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; };
  const auto is_low = [](char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; };

  const char32_t unit = four_hex_digits(offset, end);
  const std::size_t next = offset + kUnicodeEscapeSize;
  if (is_high(unit) && end - next >= kUnicodeEscapeSize && text_[next] == '\\' &&
      text_[next + 1] == 'u') {
    const char32_t low = four_hex_digits(next, end);
    if (is_low(low)) {
      internal::append_utf8(unescaped_, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return next + kUnicodeEscapeSize;
    }
  }
  if (!is_high(unit) && !is_low(unit)) {
    internal::append_utf8(unescaped_, unit);
  } else if (options_.lone_surrogates == LoneSurrogates::replace) {
    unescaped_ += '?';
  } else {
    fail(offset, fmt::format("\\u{:04x} is half of a surrogate pair; LoneSurrogates::replace "
                             "reads it as '?'",
                             static_cast<unsigned>(unit)));
  }
  return next;
}

char32_t Parser::four_hex_digits(std::size_t offset, std::size_t end) {
  unsigned unit = 0;
  const char* digits = text_ + offset + 2;
  const bool fits = end - offset >= kUnicodeEscapeSize;
  if (!fits || std::from_chars(digits, digits + 4, unit, 16).ptr != digits + 4) {
    fail(offset, "\\u needs four hexadecimal digits");
  }
  return unit;
}

Value Parser::number(std::size_t offset) {
  constexpr std::ptrdiff_t kAlwaysFits = std::numeric_limits<std::int64_t>::digits10;
  const char* begin = text_ + offset;
  const bool is_negative = *begin == '-';
  const char* digits = begin + (is_negative ? 1 : 0);
  if (*digits == 'I') {
    return non_finite_literal(offset, "-Infinity", -std::numeric_limits<double>::infinity());
  }
  if (!is_digit(*digits)) fail(offset + 1, "expected a digit after '-'");
  if (*digits == '0' && is_digit(digits[1])) fail(offset, "a number may not begin with 0");

  std::uint64_t magnitude = 0;  // wraps around where it is not used
  const char* end = digits;
  for (; is_digit(*end); ++end) magnitude = magnitude * 10 + static_cast<unsigned char>(*end - '0');
  if (*end == '.' || *end == 'e' || *end == 'E') return floating(begin, end);
  expect_token_end(end);
  if (end - digits > kAlwaysFits) return Value::integer({begin, end});
  const auto positive = static_cast<std::int64_t>(magnitude);
  return is_negative ? -positive : positive;
}

Value Parser::floating(const char* begin, const char* mark) {
  if (*mark == '.' && !is_digit(mark[1])) fail(offset_of(mark) + 1, "expected a digit after '.'");
  double result = 0;
  const auto [end, error] = std::from_chars(begin, text_ + *token_, result);
  if (*end == 'e' || *end == 'E') fail(offset_of(end) + 1, "expected a digit in the exponent");
  expect_token_end(end);
  if (error == std::errc()) return result;

  const double sign = *begin == '-' ? -1.0 : 1.0;
  if (!is_beyond_largest({begin, end})) return sign * 0.0;
  if (!options_.allow_non_finite) {
    fail(offset_of(begin),
         "the number is too large for a double; "
         "JsonParseOptions::allow_non_finite reads it as infinity");
  }
  return sign * std::numeric_limits<double>::infinity();
}

Value Parser::literal(std::size_t offset, std::string_view spelling, Value value) {
  if (std::string_view(text_ + offset, spelling.size()) != spelling) {
    fail_expecting(offset, "a value");
  }
  expect_token_end(text_ + offset + spelling.size());
  return value;
}

Value Parser::non_finite_literal(std::size_t offset, std::string_view spelling, double value) {
  Value result = literal(offset, spelling, value);
  if (options_.allow_non_finite) return result;
  fail(offset,
       fmt::format("{} is not JSON; JsonParseOptions::allow_non_finite reads it", spelling));
}

// simdjson starts no new token inside a run of other characters, so "1x" and
// "true\"" are found here.
void Parser::expect_token_end(const char* cursor) {
  const std::size_t offset = offset_of(cursor);
  if (offset == size_ || ends_token(*cursor)) return;
  fail(offset, fmt::format("unexpected {} right after a value", describe(*cursor)));
}

void Parser::fail_expecting(std::size_t offset, std::string_view expected) const {
  if (offset < size_) {
    fail(offset, fmt::format("expected {}, found {}", expected, describe(text_[offset])));
  }
  const OpenContainer& unclosed = open_.back();
  fail(offset, fmt::format("the text ends here, but the {} opened at byte {} is not closed",
                           unclosed.is_object ? "object" : "list", unclosed.offset));
}

}  // namespace

Value parse_json(std::string_view text, const JsonParseOptions& options) {
  // simdjson counts bytes in 32 bits.
  const std::size_t limit = std::min(options.max_bytes, simdjson::SIMDJSON_MAXSIZE_BYTES);
  if (text.size() > limit) {
    fail(limit, fmt::format("the text has {} bytes, more than the {} that "
                            "JsonParseOptions::max_bytes allows",
                            text.size(), limit));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    fail(0, "the text begins with a byte order mark; leave out its 3 bytes");
  }
  if (text.empty()) fail(0, "the text holds no value");
  WorkspaceLease workspace;
  workspace->hold(text);
  const auto error = workspace->find_tokens(text.size());
  if (error) explain_refusal(text, error);
  return Parser(text.size(), options, *workspace).parse();
}

}  // namespace clew
