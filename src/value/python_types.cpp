#include <clew/python_types.hpp>

#include <clew/extension.hpp>

namespace clew {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes `word` in any case off the front of `text`.
bool accept_word(std::string_view& text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != word[i]) return false;
  }
  text.remove_prefix(word.size());
  return true;
}

bool accept_sign(std::string_view& text) {
  return accept_word(text, "+") || accept_word(text, "-");
}

std::size_t accept_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// Python's grammar without what it only tolerates: blanks around the number
// and underscores in it.
bool is_decimal(std::string_view text) {
  accept_sign(text);
  if (accept_word(text, "infinity") || accept_word(text, "inf")) return text.empty();
  if (accept_word(text, "nan") || accept_word(text, "snan")) {
    accept_digits(text);
    return text.empty();
  }
  std::size_t digits = accept_digits(text);
  if (accept_word(text, ".")) digits += accept_digits(text);
  if (digits == 0) return false;
  if (accept_word(text, "e")) {
    accept_sign(text);
    if (accept_digits(text) == 0) return false;
  }
  return text.empty();
}

// The text in a module.name(text), or the text that `value` itself is.
std::string_view constructor_text(const Value& value, std::string_view module,
                                  std::string_view name, std::string_view expected) {
  const Value& text = is_instance(value, module, name) ? value.as_extension().payload : value;
  if (!text.is_string()) detail::throw_expected(expected, value);
  return text.as_string();
}

}  // namespace

Decimal::Decimal(std::string_view text) : text_(text) {
  if (is_decimal(text)) return;
  throw ValueError("expected a decimal number such as 1.10 or -1E+5, found '" +
                   text_.substr(0, 40) + "'");
}

Value to_value(const Decimal& decimal) {
  return make_extension(ExtensionCode::construct, "decimal", "Decimal", decimal.text());
}

void from_value(const Value& value, Decimal& decimal) {
  const bool is_integer = value.kind() == Kind::integer || value.kind() == Kind::big_integer;
  decimal = is_integer ? Decimal(value.integer_text())
                       : Decimal(constructor_text(value, "decimal", "Decimal",
                                                  "decimal.Decimal, its text or an integer"));
}

Value to_value(const Uuid& uuid) {
  return make_extension(ExtensionCode::construct, "uuid", "UUID", uuid.hex());
}

void from_value(const Value& value, Uuid& uuid) {
  uuid = Uuid::parse(constructor_text(value, "uuid", "UUID", "uuid.UUID or its text"));
}

}  // namespace clew
