#include <clew/msgpack.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <clew/extension.hpp>
#include <clew/serde.hpp>

namespace clew {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  std::string pair;
  for (char c : hex) {
    if (c == ' ') continue;
    pair += c;
    if (pair.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
    pair.clear();
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 0xF];
  }
  return hex;
}

std::string repeat(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

std::string written(const Value& value) { return to_hex(to_msgpack(value)); }

Value read(std::string_view hex) { return from_msgpack(from_hex(hex)); }

// What reading the bytes says, or "no error".
std::string refusal(std::string_view bytes, const MsgpackReadOptions& options = {}) {
  try {
    from_msgpack(bytes, options);
  } catch (const SerdeError& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal_of_writing(const Value& value, const MsgpackWriteOptions& options = {}) {
  try {
    to_msgpack(value, options);
  } catch (const SerdeError& error) {
    return error.what();
  }
  return "no error";
}

// A document with every kind of value in it.
const Value& sample() {
  static const Value kSample = object({
      {"null", nullptr},
      {"flags", list({true, false})},
      {"numbers", list({0, -1, 127, 128, -33, 65536, std::int64_t{1} << 40, -1.5})},
      {"text", "h\u00e9llo, " + std::string(40, 'x')},
      {"bytes", Value::bytes(std::string("\0\1\2", 3))},
      {"map", Value::map(std::vector<std::pair<Value, Value>>{{1, "one"}, {nullptr, list()}})},
      {"set", make_extension(ExtensionCode::construct, "builtins", "set", list({1, 2}))},
      {"human", make_extension(ExtensionCode::pydantic_v2, "langchain_core.messages.human",
                               "HumanMessage", object({{"content", "hi"}, {"id", nullptr}}))},
      {"snapshot", make_extension(ExtensionCode::delta_snapshot, list({1}))},
      {"odd", make_raw_extension(99, "raw")},
  });
  return kSample;
}

// ---- every form, exact bytes

struct Form {
  Value value;
  const char* hex;
};

TEST(Msgpack, WritesScalarsInTheirShortestForm) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Form forms[] = {
      {nullptr, "c0"},
      {false, "c2"},
      {true, "c3"},
      {0, "00"},
      {127, "7f"},
      {128, "cc80"},
      {255, "ccff"},
      {256, "cd0100"},
      {65535, "cdffff"},
      {65536, "ce00010000"},
      {4294967295, "ceffffffff"},
      {4294967296, "cf0000000100000000"},
      {kMax, "cf7fffffffffffffff"},
      {static_cast<std::uint64_t>(kMax) + 1, "cf8000000000000000"},
      {std::numeric_limits<std::uint64_t>::max(), "cfffffffffffffffff"},
      {-1, "ff"},
      {-32, "e0"},
      {-33, "d0df"},
      {-128, "d080"},
      {-129, "d1ff7f"},
      {-32768, "d18000"},
      {-32769, "d2ffff7fff"},
      {-2147483648, "d280000000"},
      {-2147483649, "d3ffffffff7fffffff"},
      {kMin, "d38000000000000000"},
      {0.0, "cb0000000000000000"},
      {-0.0, "cb8000000000000000"},
      {1.5, "cb3ff8000000000000"},
      {std::numeric_limits<double>::infinity(), "cb7ff0000000000000"},
      {std::numeric_limits<double>::quiet_NaN(), "cb7ff8000000000000"},
      {std::numeric_limits<double>::denorm_min(), "cb0000000000000001"},
      {"", "a0"},
      {"a", "a161"},
      {Value::bytes(""), "c400"},
      {Value::bytes("a"), "c40161"},
      {list(), "90"},
      {object(), "80"},
      {Value::map({}), "80"},
  };
  for (const Form& form : forms) {
    EXPECT_EQ(written(form.value), form.hex);
    // A map without entries has nothing that tells it from an object.
    if (form.value.kind() != Kind::map) {
      EXPECT_EQ(read(form.hex), form.value) << form.hex;
    }
  }
}

TEST(Msgpack, ReadsFormsThatAreLongerThanNeeded) {
  const Form forms[] = {
      {5, "cc05"},
      {5, "cd0005"},
      {5, "ce00000005"},
      {5, "cf0000000000000005"},
      {5, "d005"},
      {-1, "d0ff"},
      {-1, "d1ffff"},
      {-1, "d2ffffffff"},
      {-1, "d3ffffffffffffffff"},
      {1.5, "ca3fc00000"},
      {-std::numeric_limits<double>::infinity(), "caff800000"},
      {static_cast<double>(std::numeric_limits<float>::denorm_min()), "ca00000001"},
      {"a", "d90161"},
      {"a", "da000161"},
      {"a", "db0000000161"},
      {Value::bytes("a"), "c5000161"},
      {Value::bytes("a"), "c60000000161"},
      {list({7}), "dc000107"},
      {list({7}), "dd0000000107"},
      {object({{"a", 7}}), "de0001a16107"},
      {object({{"a", 7}}), "df00000001a16107"},
      {make_raw_extension(9, "a"), "c7010961"},
      {make_raw_extension(9, "a"), "c800010961"},
      {make_raw_extension(9, "a"), "c9000000010961"},
  };
  for (const Form& form : forms) EXPECT_EQ(read(form.hex), form.value) << form.hex;
  EXPECT_TRUE(std::isnan(read("ca7fc00000").as_double()));
  EXPECT_TRUE(std::signbit(read("ca80000000").as_double()));
}

struct Header {
  std::size_t size;
  const char* hex;
};

TEST(Msgpack, TextHeadersGrowWithTheSize) {
  for (const auto& [size, hex] :
       {Header{31, "bf"}, Header{32, "d920"}, Header{255, "d9ff"}, Header{256, "da0100"},
        Header{65535, "daffff"}, Header{65536, "db00010000"}}) {
    const std::string text(size, 'x');
    EXPECT_EQ(to_msgpack(text), from_hex(hex) + text) << size;
    EXPECT_EQ(from_msgpack(from_hex(hex) + text), Value(text)) << size;
  }
}

TEST(Msgpack, BytesHeadersGrowWithTheSize) {
  for (const auto& [size, hex] : {Header{0, "c400"}, Header{255, "c4ff"}, Header{256, "c50100"},
                                  Header{65535, "c5ffff"}, Header{65536, "c600010000"}}) {
    const std::string data(size, '\xFF');
    EXPECT_EQ(to_msgpack(Value::bytes(data)), from_hex(hex) + data) << size;
    EXPECT_EQ(from_msgpack(from_hex(hex) + data), Value::bytes(data)) << size;
  }
}

TEST(Msgpack, ListHeadersGrowWithTheSize) {
  for (const auto& [size, hex] : {Header{15, "9f"}, Header{16, "dc0010"}, Header{65535, "dcffff"},
                                  Header{65536, "dd00010000"}}) {
    ListBuilder builder;
    for (std::size_t i = 0; i < size; ++i) builder.push_back(7);
    const Value value = std::move(builder).build();
    EXPECT_EQ(to_msgpack(value), from_hex(hex) + std::string(size, '\x07')) << size;
    EXPECT_EQ(from_msgpack(to_msgpack(value)), value) << size;
  }
}

TEST(Msgpack, MapHeadersGrowWithTheSize) {
  for (const auto& [size, hex] : {Header{15, "8f"}, Header{16, "de0010"}, Header{65535, "deffff"},
                                  Header{65536, "df00010000"}}) {
    ObjectBuilder builder;
    for (std::size_t i = 0; i < size; ++i) builder.set("k" + std::to_string(i), 1);
    const Value value = std::move(builder).build();
    const std::string bytes = to_msgpack(value);
    EXPECT_TRUE(bytes.starts_with(from_hex(hex) + "\xA2k0\x01\xA2k1\x01")) << size;
    EXPECT_EQ(from_msgpack(bytes), value) << size;
  }
}

TEST(Msgpack, ExtensionHeadersGrowWithTheSize) {
  for (const auto& [size, hex] :
       {Header{0, "c70009"}, Header{1, "d409"}, Header{2, "d509"}, Header{3, "c70309"},
        Header{4, "d609"}, Header{5, "c70509"}, Header{7, "c70709"}, Header{8, "d709"},
        Header{9, "c70909"}, Header{15, "c70f09"}, Header{16, "d809"}, Header{17, "c71109"},
        Header{255, "c7ff09"}, Header{256, "c8010009"}, Header{65535, "c8ffff09"},
        Header{65536, "c90001000009"}}) {
    const std::string data(size, 'x');
    const Value value = make_raw_extension(9, data);
    EXPECT_EQ(to_msgpack(value), from_hex(hex) + data) << size;
    EXPECT_EQ(from_msgpack(from_hex(hex) + data), value) << size;
  }
}

// The header is written after the payload; what surrounds it must not move.
TEST(Msgpack, ExtensionsOfEverySizeNestAndFollowEachOther) {
  for (std::size_t size = 0; size < 300; ++size) {
    const Value text(std::string(size, 'x'));
    const Value inner = make_extension(ExtensionCode::delta_snapshot, text);
    const Value value =
        list({"before", make_extension(ExtensionCode::delta_snapshot, inner), "after"});
    EXPECT_EQ(from_msgpack(to_msgpack(value)), value) << size;
  }
  const Value large = make_extension(ExtensionCode::delta_snapshot, std::string(70'000, 'x'));
  const Value value = list({large, make_extension(ExtensionCode::delta_snapshot, large), 1});
  EXPECT_EQ(from_msgpack(to_msgpack(value)), value);
}

// ---- containers

TEST(Msgpack, KeepsTheOrderOfEntries) {
  EXPECT_EQ(written(object({{"b", 1}, {"a", object({{"z", 0}, {"y", 1}})}})),
            "82a16201a16182a17a00a17901");
  EXPECT_EQ(to_hex(to_msgpack(read("82a16201a16182a17a00a17901"))), "82a16201a16182a17a00a17901");
}

TEST(Msgpack, KeysMayBeOfManyKinds) {
  const char* kHex = "87 01a161 fba162 c3c0 c001 cb3ff800000000000002 c4016b03 9201a17804";
  const Value map = read(kHex);
  EXPECT_EQ(map.kind(), Kind::map);
  EXPECT_EQ(map.size(), 7U);
  EXPECT_EQ(map.as_map()[6].first, list({1, "x"}));
  EXPECT_EQ(to_msgpack(map), from_hex(kHex));
}

TEST(Msgpack, OfRepeatedKeysTheLastWins) {
  EXPECT_EQ(read("83 a16101 a16202 a16103"), object({{"a", 3}, {"b", 2}}));
  EXPECT_EQ(written(read("83 a16101 a16202 a16103")), "82a16103a16202");
  EXPECT_EQ(written(read("83 0101 0202 0103")), "8201030202");
  EXPECT_EQ(written(read("82 c001 c002")), "81c002");
}

TEST(Msgpack, CanKeepRepeatedKeys) {
  MsgpackReadOptions options;
  options.keep_repeated_keys = true;
  const Value repeated = from_msgpack(from_hex("82 a16101 a16102"), options);
  EXPECT_EQ(repeated.kind(), Kind::map);
  EXPECT_EQ(written(repeated), "82a16101a16102");
  EXPECT_EQ(written(from_msgpack(from_hex("82 0101 0102"), options)), "8201010102");
  EXPECT_TRUE(from_msgpack(from_hex("82 a16101 a16202"), options).is_object());
}

// ---- extensions

TEST(Msgpack, WritesEveryExtensionCode) {
  const Form forms[] = {
      {make_extension(ExtensionCode::construct, "m", "N", 1), "c7060093a16da14e01"},
      {make_extension(ExtensionCode::construct_args, "m", "N", list({1})), "c7070193a16da14e9101"},
      {make_extension(ExtensionCode::construct_kwargs, "m", "N", object({{"a", 1}})),
       "c7090293a16da14e81a16101"},
      {make_extension(ExtensionCode::call_method, "m", "N", 1, "f"), "d70394a16da14e01a166"},
      {make_extension(ExtensionCode::pydantic_v1, "m", "N", object()), "c7060493a16da14e80"},
      {make_extension(ExtensionCode::pydantic_v2, "m", "N", object(), "f"), "d70594a16da14e80a166"},
      {make_extension(ExtensionCode::ndarray, list({"|u1", list({1}), "C", Value::bytes("x")})),
       "c70c0694a37c75319101a143c40178"},
      {make_extension(ExtensionCode::delta_snapshot, 5), "d40705"},
      {make_raw_extension(-1, "x"), "d4ff78"},
  };
  for (const Form& form : forms) {
    EXPECT_EQ(written(form.value), form.hex);
    EXPECT_EQ(read(form.hex), form.value) << form.hex;
  }
}

TEST(Msgpack, ReadExtensionsCanBeLookedInto) {
  const Value value = read("d70394a16da14e01a166");
  const Extension extension = value.as_extension();
  EXPECT_EQ(extension.code, ExtensionCode::call_method);
  EXPECT_EQ(extension.module, "m");
  EXPECT_EQ(extension.name, "N");
  EXPECT_EQ(extension.method, "f");
  EXPECT_EQ(extension.payload, Value(1));
  EXPECT_FALSE(extension.is_raw);
}

TEST(Msgpack, ExtensionsOfAnotherShapeStayAsTheyAre) {
  for (const char* hex : {
           "d40000",                // not a list
           "c7030092a16d",          // a list that ends early
           "d60092a16da1",          // a name that ends early
           "d60092a16d01",          // a list of two
           "c7070094a16da14e0101",  // a list of four
           "c7060593a16da14e80",    // without the method
           "d600930102c0",          // names that are no text
           "c7060093a1ffa14e01",    // a module that is not UTF-8
           "d5070102",              // bytes after the payload
           "d407c1",                // a payload that means nothing
           "c70007",                // no payload
           "c7070694a17890a14301",  // an array whose data are no bytes
           "d47f00",                // codes that nobody uses
           "d48000",
       }) {
    const Value value = read(hex);
    EXPECT_TRUE(value.as_extension().is_raw) << hex;
    EXPECT_EQ(to_msgpack(value), from_hex(hex));
  }
}

TEST(Msgpack, HandsEveryExtensionToTheReader) {
  std::vector<std::string> seen;
  MsgpackReadOptions options;
  options.on_extension = [&](Value extension) {
    seen.push_back(extension.type_name());
    return Value("replaced");
  };
  const Value value = list(
      {make_extension(ExtensionCode::construct, "m", "Outer", list({make_raw_extension(9, "x")})),
       make_extension(ExtensionCode::delta_snapshot, 1)});
  EXPECT_EQ(from_msgpack(to_msgpack(value), options), list({"replaced", "replaced"}));
  EXPECT_EQ(seen, (std::vector<std::string>{"extension 9", "m.Outer", "delta snapshot"}));
}

struct Meters {
  double length;
};

TEST(Msgpack, AsksHowToWriteCppObjects) {
  MsgpackWriteOptions options;
  options.on_host = [](const Value& value) { return Value(unwrap<Meters>(value)->length); };
  EXPECT_EQ(to_hex(to_msgpack(list({wrap(Meters{1.5})}), options)), "91cb3ff8000000000000");
}

// ---- what cannot be written

TEST(Msgpack, RefusesWhatItCannotWriteAndSaysWhere) {
  const auto in_list = [](Value value) { return object({{"a", list({0, std::move(value)})}}); };
  EXPECT_EQ(refusal_of_writing(in_list(Value::integer("18446744073709551616"))),
            "msgpack cannot hold this value: $.a[1]: the integer 18446744073709551616 does not fit "
            "64 bits; store it as text or as a Decimal");
  EXPECT_NE(refusal_of_writing(Value::integer("-9223372036854775809")), "no error");
  EXPECT_EQ(refusal_of_writing(in_list("ab\xFF")),
            "msgpack cannot hold this value: $.a[1]: text that is not UTF-8 at its byte 2; use "
            "Value::bytes() for binary data");
  EXPECT_NE(refusal_of_writing(object({{"ab\xFF", 1}})), "no error");
  EXPECT_NE(refusal_of_writing(in_list(wrap(Meters{1}))).find("$.a[1]: a C++ object of type"),
            std::string::npos);
  const Value pickle = make_extension(ExtensionCode::pickle, Value::bytes("x"));
  EXPECT_NE(refusal_of_writing(in_list(pickle)).find("$.a[1]: a pickle payload"),
            std::string::npos);
}

TEST(Msgpack, RefusesKeysThatNobodyCouldLookUp) {
  const Value set = make_extension(ExtensionCode::construct, "builtins", "frozenset", list({1}));
  for (const Value& key : {set, object({{"a", 1}}), list({1, list({set})}), Value::map({})}) {
    const std::vector<std::pair<Value, Value>> entries{{key, 1}};
    EXPECT_NE(refusal_of_writing(Value::map(entries)).find("cannot be written; keys are"),
              std::string::npos);
  }
}

// ---- damaged input

TEST(Msgpack, EveryTruncationIsRefusedWithItsPlace) {
  const std::string documents[] = {
      to_msgpack(sample()),
      from_hex("dd00000002dc0001dd00000000df00000001db00000001610a"),
      from_hex("c90000000309010203"),
      to_msgpack(std::string(300, 'x')),
      from_hex("cf0000000000000005"),
  };
  for (const std::string& document : documents) {
    for (std::size_t size = 0; size < document.size(); ++size) {
      try {
        from_msgpack(std::string_view(document).substr(0, size));
        ADD_FAILURE() << size << " bytes of " << to_hex(document);
      } catch (const SerdeError& error) {
        ASSERT_TRUE(error.offset().has_value());
        EXPECT_LE(*error.offset(), size);
        EXPECT_FALSE(error.reason().empty());
      }
    }
  }
}

TEST(Msgpack, BitFlipsAreRefusedOrReadAsAnotherValue) {
  const std::string document = to_msgpack(sample());
  for (std::size_t bit = 0; bit < document.size() * 8; ++bit) {
    std::string damaged = document;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    try {
      const Value value = from_msgpack(damaged);
      EXPECT_EQ(from_msgpack(to_msgpack(value)), value) << bit;
    } catch (const SerdeError&) {
      // Either is right; crashing, or another exception, is not.
    }
  }
}

TEST(Msgpack, RandomBytesAreRefusedOrRead) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    try {
      from_msgpack(bytes);
    } catch (const SerdeError&) {
    }
  }
}

TEST(Msgpack, RefusesWhatFollowsTheValue) {
  EXPECT_EQ(refusal(from_hex("9101c0c0")), "msgpack at byte 2: 2 bytes follow the value");
  EXPECT_EQ(refusal(""), "msgpack at byte 0: the input ends early: 1 bytes are needed, 0 are left");
}

TEST(Msgpack, RefusesBytesThatMeanNothing) {
  EXPECT_EQ(refusal(from_hex("92c0c1")), "msgpack at byte 2: 0xc1 starts no value");
  EXPECT_EQ(refusal(from_hex("92c0a261ff")),
            "msgpack at byte 2: text that is not UTF-8 at its byte 1");
  EXPECT_EQ(refusal(from_hex("81a1ff01")),
            "msgpack at byte 1: text that is not UTF-8 at its byte 0");
  // A surrogate, an overlong form, a character past the last.
  for (const char* hex : {"a3eda080", "a2c080", "a4f4908080"}) {
    EXPECT_NE(refusal(from_hex(hex)), "no error") << hex;
  }
}

TEST(Msgpack, PlacesAreThoseOfTheInputAlsoAfterAnExtension) {
  // A known code of an odd shape, a well-formed one, an unknown code; then the mistake.
  EXPECT_EQ(refusal(from_hex("92 d40001 c1")), "msgpack at byte 4: 0xc1 starts no value");
  EXPECT_EQ(refusal(from_hex("92 d60093c0c0c0 a1ff")),
            "msgpack at byte 7: text that is not UTF-8 at its byte 0");
  EXPECT_EQ(refusal(from_hex("92 d407c0 a1ff")),
            "msgpack at byte 4: text that is not UTF-8 at its byte 0");
  EXPECT_EQ(refusal(from_hex("92 c7060093a16da14ec0 a1ff")),
            "msgpack at byte 10: text that is not UTF-8 at its byte 0");
  EXPECT_EQ(refusal(from_hex("92 d40900 a1ff")),
            "msgpack at byte 4: text that is not UTF-8 at its byte 0");
}

TEST(Msgpack, CountsThatTheInputCannotHoldAreRefused) {
  EXPECT_EQ(refusal(from_hex("ddffffffff0102")),
            "msgpack at byte 0: a list of 4294967295 needs more than the 2 bytes that are left");
  EXPECT_EQ(refusal(from_hex("df7fffffff0102")),
            "msgpack at byte 0: a map of 2147483647 needs more than the 2 bytes that are left");
  for (const char* hex : {"dbffffffff61", "c6ffffffff61", "c9ffffffff0161", "9f01", "8201 02",
                          "dc0002c0", "de0001c0"}) {
    EXPECT_NE(refusal(from_hex(hex)), "no error") << hex;
  }
}

// ---- limits

std::string nested_lists(std::size_t depth) { return std::string(depth - 1, '\x91') + '\x90'; }

std::string nested_maps(std::size_t depth) { return repeat("\x81\xA1k", depth - 1) + '\x80'; }

Value nested_snapshots(std::size_t depth) {
  Value value = 1;
  for (std::size_t i = 0; i < depth; ++i) {
    value = make_extension(ExtensionCode::delta_snapshot, std::move(value));
  }
  return value;
}

TEST(Msgpack, NestsAsDeepAsPythonReads) {
  for (const auto& nested : {nested_lists, nested_maps}) {
    const Value deepest = from_msgpack(nested(1023));
    EXPECT_EQ(to_msgpack(deepest), nested(1023));
    EXPECT_NE(refusal(nested(1024)).find("nested deeper than 1023 levels"), std::string::npos);
    EXPECT_NE(refusal(nested(1'000'000)).find("nested deeper than 1023 levels"), std::string::npos);
  }
}

TEST(Msgpack, WritingStopsAtTheDepthThatReadingDoes) {
  Value deepest = from_msgpack(nested_lists(1023));
  EXPECT_NE(refusal_of_writing(list({deepest})).find("nested deeper than 1023 levels"),
            std::string::npos);
  for (std::size_t depth : {1, 2, 1022, 1023}) {
    const std::string bytes = to_msgpack(nested_snapshots(depth));
    EXPECT_EQ(to_msgpack(from_msgpack(bytes)), bytes) << depth;
  }
  // What is opaque is no level of its own.
  for (const char* scalar : {"d40900", "c40161"}) {
    const std::string bytes = std::string(1023, '\x91') + from_hex(scalar);
    EXPECT_EQ(to_msgpack(from_msgpack(bytes)), bytes) << scalar;
  }
}

TEST(Msgpack, LimitsAreOptions) {
  MsgpackReadOptions shallow;
  shallow.max_depth = 2;
  EXPECT_EQ(refusal(from_hex("9190"), shallow), "no error");
  EXPECT_EQ(refusal(from_hex("92c09190"), shallow),
            "msgpack at byte 3: nested deeper than 2 levels; raise max_depth if this is meant");

  MsgpackReadOptions small;
  small.max_bytes = 3;
  EXPECT_EQ(refusal(from_hex("92c0c0"), small), "no error");
  EXPECT_EQ(refusal(from_hex("93c0c0c0"), small),
            "msgpack at byte 0: 4 bytes are more than the 3 allowed; raise max_bytes if this is "
            "meant");

  MsgpackReadOptions narrow;
  narrow.max_elements = 2;
  EXPECT_EQ(refusal(from_hex("9292c0c082a16101a16202"), narrow), "no error");
  EXPECT_EQ(refusal(from_hex("9193c0c0c0"), narrow),
            "msgpack at byte 1: more than 2 elements; raise max_elements if this is meant");
  EXPECT_NE(refusal(from_hex("83a16101a16202a16303"), narrow), "no error");

  MsgpackWriteOptions flat;
  flat.max_depth = 1;
  EXPECT_EQ(refusal_of_writing(list({1}), flat), "no error");
  EXPECT_EQ(refusal_of_writing(list({0, list({1})}), flat),
            "msgpack cannot hold this value: $[1]: nested deeper than 1 levels");
}

// ---- memory

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

// Lets this process have only `bytes` more address space than it has now.
void limit_memory(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * 4096 + bytes;
  const rlimit both{limit, limit};
  setrlimit(RLIMIT_AS, &both);
}

// Reads `input` in a process that has 64 bytes per byte of it, and a megabyte.
void expect_bounded(const std::string& what, const std::string& input) {
  EXPECT_EXIT(
      {
        limit_memory(input.size() * 64 + (1 << 20));
        try {
          from_msgpack(input);
        } catch (const SerdeError&) {
        } catch (const std::bad_alloc&) {
          std::_Exit(EXIT_FAILURE);
        }
        std::_Exit(EXIT_SUCCESS);
      },
      testing::ExitedWithCode(EXIT_SUCCESS), "")
      << what;
}

// The header of a list (0xDD) or map (0xDF) of `count`.
std::string header(char head, std::size_t count) {
  std::string bytes(1, head);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(count >> shift);
  return bytes;
}

std::string list_of(std::size_t count, std::string_view element) {
  return header('\xDD', count) + repeat(element, count);
}

std::string map_of(std::size_t count, const std::function<std::string(std::size_t)>& key) {
  std::string bytes = header('\xDF', count);
  for (std::size_t i = 0; i < count; ++i) bytes += key(i) + '\xC0';
  return bytes;
}

TEST(MsgpackMemory, IsASmallMultipleOfTheInput) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers reserve more address space than a limit leaves";
  constexpr std::size_t kMany = 100'000;
  const auto four_characters = [](std::size_t i) {
    std::string key = "\xA4";
    for (int shift = 0; shift < 20; shift += 5) key += static_cast<char>('a' + (i >> shift & 15));
    return key;
  };
  expect_bounded("nulls", list_of(kMany, "\xC0"));
  expect_bounded("empty lists", list_of(kMany, "\x90"));
  expect_bounded("lists of one", list_of(kMany, "\x91\xC0"));
  expect_bounded("objects of one", list_of(kMany, "\x81\xA1k\xC0"));
  expect_bounded("maps of one", list_of(kMany, "\x81\x01\xC0"));
  expect_bounded("short texts", list_of(kMany, "\xAFxxxxxxxxxxxxxxx"));
  expect_bounded("snapshots", list_of(kMany, from_hex("d407c0")));
  expect_bounded("raw extensions", list_of(kMany, from_hex("d47f00")));
  expect_bounded("small objects of a class", list_of(kMany, from_hex("c7060093a16da14ec0")));
  expect_bounded("a map of integers", map_of(kMany, [](std::size_t i) {
                   return std::string(1, static_cast<char>(i & 0x7F));
                 }));
  expect_bounded("a large object", map_of(kMany, four_characters));
  expect_bounded("an object with one key repeated",
                 map_of(kMany, [](std::size_t) { return std::string("\xA1k"); }));
  std::string distinct = header('\xDD', kMany);
  for (std::size_t i = 0; i < kMany; ++i) distinct += "\x81" + four_characters(i) + "\xC0";
  expect_bounded("objects of distinct keys", distinct);
}

TEST(MsgpackMemory, IsNotTakenForWhatIsOnlyAnnounced) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers reserve more address space than a limit leaves";
  // Each level announces as many elements as bytes are left, and the input ends in the midst.
  std::string lists;
  std::string maps;
  for (std::size_t left = 1'000'000; left > 990'000; left -= 10) {
    lists += header('\xDD', left);
    maps += header('\xDF', left / 2) + "\xA1k";
  }
  expect_bounded("nested lists", lists + std::string(1'000'000 - lists.size(), '\xC0'));
  expect_bounded("nested maps", maps + std::string(1'000'000 - maps.size(), '\xC0'));
  expect_bounded("a list", from_hex("ddffffffff") + std::string(1000, '\xC0'));
  expect_bounded("text", from_hex("dbffffffff") + std::string(1000, 'x'));
}

// ---- token by token

std::string describe(const MsgpackToken& token) {
  using Type = MsgpackToken::Type;
  switch (token.type) {
    case Type::null: return "null";
    case Type::boolean: return token.integer != 0 ? "true" : "false";
    case Type::integer: return std::to_string(token.integer);
    case Type::unsigned_integer: return std::to_string(token.unsigned_integer) + "u";
    case Type::floating: return std::to_string(token.floating);
    case Type::string: return "'" + std::string(token.text) + "'";
    case Type::bytes: return "b'" + std::string(token.text) + "'";
    case Type::list: return "list(" + std::to_string(token.count) + ")";
    case Type::map: return "map(" + std::to_string(token.count) + ")";
    case Type::extension:
      return "ext" + std::to_string(token.code) + "(" + to_hex(token.text) + ")";
  }
  return "?";
}

std::string walk(std::string_view bytes) {
  MsgpackReader reader(bytes);
  std::string tokens;
  while (!reader.at_end()) {
    const MsgpackToken token = reader.next();
    tokens += "@" + std::to_string(token.offset) + " " + describe(token) + "\n";
  }
  return tokens;
}

TEST(MsgpackReader, GivesOneTokenAfterAnother) {
  EXPECT_EQ(walk(from_hex("85 a16101 a16292c0c3 cffffffffffffffff0cb3ff8000000000000 "
                          "c40178d0ff c2d4fe05")),
            "@0 map(5)\n"
            "@1 'a'\n"
            "@3 1\n"
            "@4 'b'\n"
            "@6 list(2)\n"
            "@7 null\n"
            "@8 true\n"
            "@9 18446744073709551600u\n"
            "@18 1.500000\n"
            "@27 b'x'\n"
            "@30 -1\n"
            "@32 false\n"
            "@33 ext-2(05)\n");
}

TEST(MsgpackReader, HandsOutViewsIntoTheInput) {
  const std::string bytes = from_hex("93a3616263c402787985");
  MsgpackReader reader(bytes);
  reader.next();
  const MsgpackToken text = reader.next();
  EXPECT_EQ(text.text.data(), bytes.data() + 2);
  EXPECT_EQ(text.text, "abc");
  EXPECT_EQ(reader.position(), 5U);
  EXPECT_EQ(reader.remaining(), 5U);
}

TEST(MsgpackReader, StepsOverWholeValues) {
  const std::string bytes = from_hex("93 82a16192010203c0 d40900 a3") + "end";
  MsgpackReader reader(bytes);
  reader.next();
  reader.skip();
  EXPECT_EQ(describe(reader.next()), "ext9(00)");
  EXPECT_EQ(describe(reader.next()), "'end'");
  EXPECT_TRUE(reader.at_end());
  EXPECT_THROW(reader.next(), SerdeError);
  EXPECT_THROW(reader.skip(), SerdeError);
}

TEST(MsgpackReader, StepsOverAnyDepthWithoutRecursion) {
  const std::string bytes = nested_lists(1'000'000);
  MsgpackReader reader(bytes);
  reader.skip();
  EXPECT_TRUE(reader.at_end());
}

TEST(MsgpackReader, RefusesWhatIsDamaged) {
  const std::string document = to_msgpack(sample());
  for (std::size_t size = 0; size < document.size(); ++size) {
    MsgpackReader reader(std::string_view(document).substr(0, size));
    EXPECT_THROW(reader.skip(), SerdeError) << size;
  }
}

}  // namespace
}  // namespace clew
