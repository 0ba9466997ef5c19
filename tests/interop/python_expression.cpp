#include "python_expression.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <clew/extension.hpp>

namespace clew::interop {
namespace {

__extension__ typedef __int128 Integer;

// Integers past 128 bits are clamped: they stay far past what can be stored.
constexpr Integer kMinInteger = static_cast<Integer>(1) << 127;
constexpr Integer kMaxInteger = ~kMinInteger;

// What is not understood. The whole expression is then an unknown object.
struct NotUnderstood {};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

Value unknown(std::string_view expression) {
  return wrap(UnknownPythonObject{std::string(expression)});
}

// Integers ----------------------------------------------------------------------

Value integer_value(Integer number) {
  const bool negative = number < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(number % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    number /= 10;
  } while (number != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return Value::integer(digits);
}

std::optional<Integer> integer_of(const Value& value) {
  if (!value.is_int() && value.kind() != Kind::big_integer) return std::nullopt;
  const std::string text = value.integer_text();
  const bool negative = text.front() == '-';
  Integer number = 0;
  for (char digit : text.substr(negative ? 1 : 0)) {
    const int step = negative ? '0' - digit : digit - '0';
    if (__builtin_mul_overflow(number, static_cast<Integer>(10), &number) ||
        __builtin_add_overflow(number, static_cast<Integer>(step), &number)) {
      return negative ? kMinInteger : kMaxInteger;
    }
  }
  return number;
}

Integer multiply(Integer a, Integer b) {
  Integer product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kMaxInteger : kMinInteger;
}

Integer add(Integer a, Integer b) {
  Integer sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? kMaxInteger : kMinInteger;
}

std::optional<Integer> power(Integer base, Integer exponent) {
  if (exponent < 0) return std::nullopt;
  // Enough to pass 128 bits with any base but -1, 0 and 1, whose powers repeat.
  constexpr Integer kEnough = 128;
  if (exponent > kEnough) exponent = kEnough + exponent % 2;
  Integer result = 1;
  for (Integer i = 0; i < exponent; ++i) result = multiply(result, base);
  return result;
}

std::optional<Integer> apply(std::string_view operation, Integer a, Integer b) {
  if (operation == "+") return add(a, b);
  if (operation == "-") return b == kMinInteger ? kMaxInteger : add(a, -b);
  if (operation == "*") return multiply(a, b);
  if (operation == "**") return power(a, b);
  if (operation == "<<" && b >= 0) return multiply(a, *power(2, b));
  return std::nullopt;
}

// Parser ------------------------------------------------------------------------

// Binary operators by how tightly they bind; "**" is apart, since it binds
// tighter than the sign before it.
struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"<<", 1}, {"+", 2}, {"-", 2}, {"*", 3}};

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  Value whole() {
    Value value = expression();
    skip_space();
    if (position_ != source_.size()) throw NotUnderstood();
    return value;
  }

 private:
  void skip_space() {
    while (position_ < source_.size() &&
           std::string_view(" \t\r\n").find(source_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  char peek() {
    skip_space();
    return position_ < source_.size() ? source_[position_] : '\0';
  }

  bool accept(std::string_view text) {
    skip_space();
    if (!source_.substr(position_).starts_with(text)) return false;
    position_ += text.size();
    return true;
  }

  void expect(std::string_view text) {
    if (!accept(text)) throw NotUnderstood();
  }

  std::string_view since(std::size_t start) const {
    return source_.substr(start, position_ - start);
  }

  const Operator* accept_operator(int least_precedence) {
    skip_space();
    // A longer operator that starts the same way is another one.
    if (source_.substr(position_).starts_with("**")) return nullptr;
    for (const Operator& candidate : kOperators) {
      if (candidate.precedence >= least_precedence && accept(candidate.text)) return &candidate;
    }
    return nullptr;
  }

  Value expression(int least_precedence = 1) {
    skip_space();
    const std::size_t start = position_;
    Value left = signed_power();
    while (const Operator* operation = accept_operator(least_precedence)) {
      const Value right = expression(operation->precedence + 1);
      left = combine(operation->text, left, right, start);
    }
    return left;
  }

  Value combine(std::string_view operation, const Value& a, const Value& b, std::size_t start) {
    const auto x = integer_of(a);
    const auto y = integer_of(b);
    const auto result = x && y ? apply(operation, *x, *y) : std::nullopt;
    return result ? integer_value(*result) : unknown(since(start));
  }

  Value signed_power() {
    skip_space();
    const std::size_t start = position_;
    const bool minus = accept("-");
    if (minus || accept("+")) {
      const Value operand = signed_power();
      if (operand.is_double()) return minus ? -operand.as_double() : operand.as_double();
      return combine(minus ? "-" : "+", 0, operand, start);
    }
    const Value base = primary();
    return accept("**") ? combine("**", base, signed_power(), start) : base;
  }

  Value primary() {
    skip_space();
    const std::size_t start = position_;
    Value value = atom();
    for (;;) {
      if (accept("(")) {
        const std::string_view callee = source_.substr(start, position_ - 1 - start);
        value = call(callee, start);
      } else if (accept("[")) {
        expression();
        expect("]");
        value = unknown(since(start));
      } else if (peek() == '.') {
        ++position_;
        name();
        value = unknown(since(start));
      } else {
        return value;
      }
    }
  }

  // set(...), frozenset(...) and deque(...) of a list; everything else is unknown.
  Value call(std::string_view callee, std::size_t start) {
    Value arguments = list();
    while (!accept(")")) {
      skip_keyword();
      arguments = std::move(arguments).append(expression());
      if (!accept(",") && peek() != ')') throw NotUnderstood();
    }
    const Value members = arguments.empty() ? list() : arguments[0];
    if (!members.is_list()) return unknown(since(start));
    if (callee == "set" || callee == "frozenset") {
      return make_extension(ExtensionCode::construct, "builtins", callee, members);
    }
    if (callee == "deque") {
      return make_extension(ExtensionCode::construct, "collections", callee, members);
    }
    return unknown(since(start));
  }

  void skip_keyword() {
    const std::size_t start = position_;
    if (is_name_start(peek())) {
      name();
      if (peek() == '=' && !source_.substr(position_).starts_with("==")) {
        ++position_;
        return;
      }
    }
    position_ = start;
  }

  Value atom() {
    const char c = peek();
    if (c == '(') return parenthesized();
    if (c == '[') return bracketed();
    if (c == '{') return braced();
    if (c == '\'' || c == '"') return text("");
    if (is_digit(c) || c == '.') return number();
    if (is_name_start(c)) return named();
    throw NotUnderstood();
  }

  // More elements up to `close`, which is taken.
  Value elements(std::string_view close, Value values = list()) {
    while (!accept(close)) {
      values = std::move(values).append(expression());
      if (!accept(",")) {
        expect(close);
        break;
      }
    }
    return values;
  }

  // A tuple, or one expression in parentheses.
  Value parenthesized() {
    expect("(");
    if (accept(")")) return list();
    Value first = expression();
    if (accept(")")) return first;
    expect(",");
    return elements(")", list().append(std::move(first)));
  }

  Value bracketed() {
    expect("[");
    return elements("]");
  }

  Value braced() {
    expect("{");
    if (accept("}")) return object();
    Value first = expression();
    if (accept(":")) return dictionary(std::move(first));
    if (!accept(",") && peek() != '}') throw NotUnderstood();
    return make_extension(ExtensionCode::construct, "builtins", "set",
                          elements("}", list().append(std::move(first))));
  }

  // The rest of a dictionary after its first key and colon.
  Value dictionary(Value key) {
    std::vector<std::pair<Value, Value>> entries;
    entries.emplace_back(std::move(key), expression());
    while (accept(",") && peek() != '}') {
      key = expression();
      expect(":");
      entries.emplace_back(std::move(key), expression());
    }
    expect("}");
    return dictionary_value(entries);
  }

  static Value dictionary_value(const std::vector<std::pair<Value, Value>>& entries) {
    const bool is_object = std::all_of(entries.begin(), entries.end(),
                                       [](const auto& entry) { return entry.first.is_string(); });
    if (!is_object) return Value::map(entries);
    ObjectBuilder builder;
    for (const auto& [key, value] : entries) builder.set(key.as_string(), value);
    return std::move(builder).build();
  }

  std::string_view name() {
    if (!is_name_start(peek())) throw NotUnderstood();
    const std::size_t start = position_;
    while (position_ < source_.size() && is_name_part(source_[position_])) ++position_;
    return since(start);
  }

  Value named() {
    const std::string_view word = name();
    const char next = position_ < source_.size() ? source_[position_] : '\0';
    if (next == '\'' || next == '"') return text(word);
    if (word == "None") return nullptr;
    if (word == "True") return true;
    if (word == "False") return false;
    return unknown(word);
  }

  Value number() {
    const std::size_t start = position_;
    while (position_ < source_.size() &&
           (is_name_part(source_[position_]) || source_[position_] == '.' || is_exponent_sign())) {
      ++position_;
    }
    std::string digits(since(start));
    std::erase(digits, '_');
    if (digits.find_first_not_of("0123456789") == std::string::npos) return Value::integer(digits);
    if (digits.starts_with("0x") || digits.starts_with("0X")) return hexadecimal(digits.substr(2));
    double floating = 0;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, floating);
    const bool is_float = result.ec == std::errc() && result.ptr == end;
    return is_float ? Value(floating) : unknown(since(start));
  }

  bool is_exponent_sign() const {
    const char c = source_[position_];
    const char before = position_ > 0 ? source_[position_ - 1] : '\0';
    return (c == '-' || c == '+') && (before == 'e' || before == 'E');
  }

  static Value hexadecimal(std::string_view digits) {
    Integer number = 0;
    for (char c : digits) {
      int digit = 0;
      if (std::from_chars(&c, &c + 1, digit, 16).ec != std::errc()) throw NotUnderstood();
      number = add(multiply(number, 16), digit);
    }
    return integer_value(number);
  }

  // One or more literals side by side.
  Value text(std::string_view prefix) {
    const bool is_bytes = prefix.find_first_of("bB") != std::string_view::npos;
    const bool is_raw = prefix.find_first_of("rR") != std::string_view::npos;
    if (prefix.find_first_not_of("bBrRuU") != std::string_view::npos) throw NotUnderstood();
    std::string content;
    do {
      content += quoted(is_raw, is_bytes);
    } while (peek() == '\'' || peek() == '"');
    return is_bytes ? Value::bytes(content) : Value(content);
  }

  std::string quoted(bool is_raw, bool is_bytes) {
    const char mark = source_[position_];
    const std::string triple(3, mark);
    const std::string close = accept(triple) ? triple : std::string(1, mark);
    if (close.size() == 1) ++position_;
    std::string content;
    for (;;) {
      if (position_ >= source_.size()) throw NotUnderstood();
      if (source_.substr(position_).starts_with(close)) break;
      const char c = source_[position_++];
      content += c == '\\' && !is_raw ? escape(is_bytes) : std::string(1, c);
    }
    position_ += close.size();
    return content;
  }

  std::string escape(bool is_bytes) {
    if (position_ >= source_.size()) throw NotUnderstood();
    const char c = source_[position_++];
    switch (c) {
      case 'n': return "\n";
      case 'r': return "\r";
      case 't': return "\t";
      case '0': return std::string(1, '\0');
      case 'x':
        return is_bytes ? std::string(1, static_cast<char>(code_point(2))) : utf8(code_point(2));
      case 'u': return utf8(code_point(4));
      case 'U': return utf8(code_point(8));
      case '\\':
      case '\'':
      case '"': return std::string(1, c);
      default: throw NotUnderstood();
    }
  }

  std::uint32_t code_point(std::size_t digits) {
    const std::string_view text = source_.substr(position_, digits);
    std::uint32_t code = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() != digits || result.ptr != text.data() + digits) throw NotUnderstood();
    position_ += digits;
    return code;
  }

  static std::string utf8(std::uint32_t code) {
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (is_surrogate) return "?";
    const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
    const auto tail = [&](unsigned shift) { return byte(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xC0 | code >> 6), tail(0)};
    if (code < 0x10000) return {byte(0xE0 | code >> 12), tail(6), tail(0)};
    return {byte(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
  }

  std::string_view source_;
  std::size_t position_ = 0;
};

}  // namespace

Value evaluate_python(std::string_view expression) {
  try {
    return Parser(expression).whole();
  } catch (const NotUnderstood&) {
    return unknown(expression);
  }
}

}  // namespace clew::interop
