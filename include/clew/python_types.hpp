// Python types beside dates (time.hpp) and messages (messages.hpp) that have a
// C++ face of their own.
//
//   struct Invoice {
//     Uuid id;          // uuid.UUID
//     Decimal total;    // decimal.Decimal
//   };
//   CLEW_JSON(Invoice, id, total)
//
//   Invoice{.id = Uuid::parse("1ef4f797-8335-6428-8001-8a1503f9b875"), .total = Decimal("1.10")};
//
// Each is also read from its plain text. std::set is Python's set (convert.hpp);
// Python's tuples are stored as lists.
//
// All are plain values.
#pragma once

#include <string>
#include <string_view>

#include <clew/uuid.hpp>
#include <clew/value.hpp>

namespace clew {

// A decimal number as exact text, such as "1.10", "-1E+5" or "NaN". Clew does
// not calculate with it: pass text() to the arithmetic of your choice.
class Decimal {
 public:
  Decimal() = default;
  // Throws ValueError if Python's Decimal would not take the text.
  explicit Decimal(std::string_view text);

  const std::string& text() const noexcept { return text_; }

  // The same text. "1.0" and "1.00" are different: their precision differs.
  friend bool operator==(const Decimal&, const Decimal&) = default;

 private:
  std::string text_ = "0";
};

Value to_value(const Decimal& decimal);
void from_value(const Value& value, Decimal& decimal);

Value to_value(const Uuid& uuid);
void from_value(const Value& value, Uuid& uuid);

}  // namespace clew
