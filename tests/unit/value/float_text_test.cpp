#include "value/float_text.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace clew::internal {
namespace {

std::string text_of(double value) {
  char text[kFloatTextSize];
  return std::string(text, write_float(value, text));
}

struct Case {
  double value;
  const char* repr;
};

// Written by Python: value.hex(), repr(value).
constexpr Case kCases[] = {
    {0x0.0p+0, "0.0"},
    {-0x0.0p+0, "-0.0"},
    {0x1.0p+0, "1.0"},
    {-0x1.0p+0, "-1.0"},
    {0x1.999999999999ap-4, "0.1"},
    {0x1.0p-1, "0.5"},
    {0x1.8p+0, "1.5"},
    {0x1.9p+6, "100.0"},
    {0x1.e24p+16, "123456.0"},
    {0x1.c6bf52634p+49, "1000000000000000.0"},
    {0x1.c6bf52633fff8p+49, "999999999999999.0"},
    {0x1.c6bf526340004p+49, "1000000000000000.5"},
    {0x1.1c37937e08p+53, "1e+16"},
    {0x1.1c37937e07fffp+53, "9999999999999998.0"},
    {0x1.6345785d8ap+56, "1e+17"},
    {0x1.b1ae4d6e2ef5p+69, "1e+21"},
    {0x1.0f0cf064dd592p+73, "1e+22"},
    {0x1.52d02c7e14af6p+76, "1e+23"},
    {0x1.5eddb25e048p+53, "1.2345e+16"},
    {0x1.b69b4ba630f35p+56, "1.2345678901234568e+17"},
    {0x1.a36e2eb1c432dp-14, "0.0001"},
    {0x1.02e4b6ce5dc68p-13, "0.00012345"},
    {0x1.4f8b588e368f1p-17, "1e-05"},
    {0x1.f75104d551d6ap-17, "1.5000000000000002e-05"},
    {0x1.a36371ea531a8p-14, "9.999e-05"},
    {0x1.ad7f29abcaf48p-24, "1e-07"},
    {0x1.cd2b297d889bcp-54, "1e-16"},
    {0x1.0p-53, "1.1102230246251565e-16"},
    {0x1.3333333333334p-2, "0.30000000000000004"},
    {0x1.5555555555555p-2, "0.3333333333333333"},
    {0x1.5555555555555p-1, "0.6666666666666666"},
    {0x1.12e0be826d695p-32, "2.5e-10"},
    {0x0.0000000000001p-1022, "5e-324"},
    {0x1.0p-1022, "2.2250738585072014e-308"},
    {0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
    {0x1.fffffffffffffp+1023, "1.7976931348623157e+308"},
    {-0x1.fffffffffffffp+1023, "-1.7976931348623157e+308"},
    {0x1.fffffffffffffp+52, "9007199254740991.0"},
    {0x1.0p+53, "9007199254740992.0"},
    {0x1.0000000000001p+53, "9007199254740994.0"},
    {0x1.0p+63, "9.223372036854776e+18"},
    {0x1.0p+64, "1.8446744073709552e+19"},
    {0x1.1666666666666p+2, "4.35"},
    {0x1.3333333333333p-2, "0.3"},
    {0x1.5666666666666p+1, "2.675"},
    {0x1.249ad2594c37dp+332, "1e+100"},
    {0x1.bff2ee48e053p-333, "1e-100"},
    {0x1.0p-44, "5.684341886080802e-14"},
    {0x1.0p-20, "9.5367431640625e-07"},
    {0x1.921fb54442d18p+1, "3.141592653589793"},
    {0x1.5bf0a8b145769p+1, "2.718281828459045"},
    {0x1.a46396187e6b4p+30, "1763239302.123456"},
    {0x1.1de784ap+28, "299792458.0"},
    {0x1.fe185ca57c517p+78, "6.02214076e+23"},
    {0x1.b860bde023111p-111, "6.62607015e-34"},
    {0x1.fffffffffffffp-1, "0.9999999999999999"},
    {0x1.0000000000001p+0, "1.0000000000000002"},
    {0x1.e240c9fbe76c9p+16, "123456.789"},
    {0x1.3p+3, "9.5"},
    {0x1.dcd65p+29, "1000000000.0"},
    {0x1.4b9ad0f953a6ep-2, "0.32383276483316237"},
    {0x1.34f069651327p-3, "0.15084917392450192"},
    {0x1.4d474883171ffp-1, "0.6509344730398537"},
    {0x1.28b2f3a47e1p-4, "0.07243628666754276"},
    {0x1.185402347c83p+16, "71764.00861337851"},
    {-0x1.06538aa29bbfep+18, "-268622.1661748289"},
    {-0x1.afa444d07dbf8p+19, "-884002.1504505863"},
};

TEST(FloatText, EqualsPythonRepr) {
  for (const Case& c : kCases) EXPECT_EQ(text_of(c.value), c.repr);
}

TEST(FloatText, NamesWhatIsNotANumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(text_of(infinity), "inf");
  EXPECT_EQ(text_of(-infinity), "-inf");
  EXPECT_EQ(text_of(nan), "nan");
  EXPECT_EQ(text_of(std::copysign(nan, -1.0)), "nan");
}

TEST(FloatText, ReadsBackToTheSameBitsAndFits) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const std::string text = text_of(value);
    ASSERT_LE(text.size(), kFloatTextSize);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)),
              std::bit_cast<std::uint64_t>(value))
        << text;
  }
}

TEST(FloatText, IsAsShortAsItCanBe) {
  std::mt19937_64 random(43);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::abs(std::bit_cast<double>(random()));
    if (!std::isnormal(value)) continue;
    std::string digits = text_of(value);
    digits = digits.substr(0, digits.find('e'));
    std::erase(digits, '.');
    digits.erase(0, digits.find_first_not_of('0'));
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.size() < 2) continue;
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(digits.size()) - 2, value);
    ASSERT_NE(std::strtod(shorter, nullptr), value) << shorter;
  }
}

}  // namespace
}  // namespace clew::internal
