#include <clew/python_types.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/json.hpp>

namespace clew {
namespace {

std::string render(const Value& value) { return to_json(canonical(value), {.spaced = true}); }

// The reason of the ValueError that `call` throws, or what it returned instead.
template <class Call>
std::string reason(Call call) {
  try {
    return "no error: " + render(Value(call()));
  } catch (const ValueError& error) {
    return error.reason();
  }
}

TEST(Decimal, KeepsItsText) {
  for (std::string_view text : {"0", "1.10", "-123456789012345678901234567890.123", "1E+5", "1e-7",
                                "NaN", "-sNaN12", "Infinity", "-inf", "+.5", "5."}) {
    const Value value = Decimal(text);
    EXPECT_EQ(render(value), R"({"$ext": 0, "module": "decimal", "name": "Decimal", "arg": ")" +
                                 std::string(text) + "\"}");
    EXPECT_EQ(value.get<Decimal>().text(), text);
  }
  EXPECT_EQ(Value("2.50").get<Decimal>().text(), "2.50");
  EXPECT_EQ(Value(7).get<Decimal>().text(), "7");
  EXPECT_EQ(Value::integer("18446744073709551616").get<Decimal>().text(), "18446744073709551616");
  EXPECT_EQ(Decimal().text(), "0");
}

TEST(Decimal, RefusesOtherText) {
  for (std::string_view text : {"", "x", "1.2.3", "1e", "e5", ".", "-", "1 ", "infx", "nan x"}) {
    EXPECT_THROW(Decimal{text}, ValueError) << text;
  }
  EXPECT_EQ(reason([] { return Decimal("twelve"); }),
            "expected a decimal number such as 1.10 or -1E+5, found 'twelve'");
  EXPECT_EQ(reason([] { return Value(1.5).get<Decimal>(); }),
            "expected decimal.Decimal, its text or an integer, found float");
}

TEST(UuidValue, IsPythonsUuid) {
  const Uuid id = Uuid::parse("a3bb189e-8bf9-4f8c-9b2c-2e7f1d2c3b4a");
  EXPECT_EQ(render(Value(id)), R"({"$ext": 0, "module": "uuid", "name": "UUID", )"
                               R"("arg": "a3bb189e8bf94f8c9b2c2e7f1d2c3b4a"})");
  EXPECT_EQ(Value(id).get<Uuid>(), id);
  EXPECT_EQ(Value("a3bb189e-8bf9-4f8c-9b2c-2e7f1d2c3b4a").get<Uuid>(), id);
  EXPECT_EQ(reason([] { return Value(5).get<Uuid>(); }),
            "expected uuid.UUID or its text, found int");
}

struct Invoice {
  Uuid id;
  Decimal total;
};
CLEW_JSON(Invoice, id, total)

TEST(PythonTypes, ReadTheSameFromTheTypedValueAndFromItsJson) {
  const Invoice invoice{Uuid::parse("a3bb189e-8bf9-4f8c-9b2c-2e7f1d2c3b4a"), Decimal("1.10")};
  const Value value = invoice;
  EXPECT_EQ(to_json(value), R"({"id":"a3bb189e-8bf9-4f8c-9b2c-2e7f1d2c3b4a","total":"1.10"})");
  for (const Value& source : {value, parse_json(to_json(value))}) {
    const Invoice back = source.get<Invoice>();
    EXPECT_EQ(back.id, invoice.id);
    EXPECT_EQ(back.total, invoice.total);
  }
}

}  // namespace
}  // namespace clew
