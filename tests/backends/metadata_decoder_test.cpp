// Metadata is decoded as any JSON is, whatever came before it.
#include "checkpoint/sqlite/metadata_decoder.hpp"

#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/json.hpp>

#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {
namespace {

TEST(MetadataDecoder, ReadsEachTextAsItIs) {
  const char* const texts[] = {
      R"({"source":"input","step":-1,"parents":{}})",
      R"({"source":"loop","step":0,"parents":{}})",
      R"({"source":"loop","step":1,"parents":{}})",
      R"({"source":"loop","step":12,"parents":{}})",
      R"({"source":"loop","step":12,"parents":{"":"x"}})",
      R"({"source":"loop","step":13,"parents":{"":"x"}})",
      R"({"source":"loop","step":13,"user":{"step":5},"parents":{}})",
      R"({"source":"loop","step":14,"user":{"step":5},"parents":{}})",
      R"({"user":{"source":"loop","step":5},"source":"loop","step":6})",
      R"({"user":{"source":"loop","step":6},"source":"loop","step":6})",
      R"({"source":"a\",\"step\":1,","step":3})",
      R"({"source":"a\",\"step\":2,","step":3})",
      R"({"source":"a\",\"step\":2,","step":4})",
      R"({"source":"loop","step":1.5})",
      R"({"source":"loop","step":2.5})",
      R"({"source":"loop","step":2e3})",
      R"({"source":"loop","step":2,"step":3})",
      R"({"source":"loop","step":3,"step":3})",
      R"({"source":"loop","step":4,"step":3})",
      R"({"source":"loop","step":"1"})",
      R"({"source":"loop","step":99999999999999999999})",
      R"({"source":"loop","step":null})",
      R"({"source":"loop"})",
      R"({})",
      R"({"source":"loop","step":7})",
      R"({"source":"loop","step":8})",
  };
  const JsonPlusSerializer serializer;
  MetadataDecoder decoder(serializer);
  for (const char* text : texts) {
    const Value metadata = decoder.decode(kJsonType, text);
    EXPECT_EQ(metadata, parse_json(text)) << text;
    EXPECT_EQ(to_json(metadata), to_json(parse_json(text)));  // in this order
  }
}

TEST(MetadataDecoder, DamagedTextIsAnErrorEachTime) {
  const JsonPlusSerializer serializer;
  MetadataDecoder decoder(serializer);
  for (const char* text : {R"({"source":"loop","step":1)", R"({"source":"loop","step":2)",
                           R"({"source":"loop","step":-})", R"({"source":"loop)", ""}) {
    EXPECT_THROW(decoder.decode(kJsonType, text), Error) << text;
  }
  EXPECT_EQ(decoder.decode(kJsonType, R"({"source":"loop","step":3})")["step"], Value(3));
}

TEST(MetadataDecoder, PlainTextIsNoMetadataOfWhoeverEncrypts) {
  const EncryptedSerializer serializer(std::make_shared<AesEaxCipher>(std::string(32, 'k')));
  MetadataDecoder decoder(serializer);
  const Value metadata = {{"source", "loop"}, {"step", 3}};
  const TypedBytes stored = serializer.dumps_typed(metadata);
  EXPECT_EQ(decoder.decode(stored.tag, stored.bytes), metadata);
  EXPECT_THROW(decoder.decode(kJsonType, to_json(metadata)), Error);
}

}  // namespace
}  // namespace clew::sqlite
