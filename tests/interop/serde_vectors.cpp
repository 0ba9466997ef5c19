#include <string>

#include <clew/canonical.hpp>
#include <clew/msgpack.hpp>
#include <clew/serde.hpp>

#include "python_expression.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

// The canonical JSON of stored bytes, which shows what the bytes say also where
// loading them says less: repeated keys, the markers inside JSON.
Value canonical_of(std::string_view tag, std::string_view bytes) {
  if (tag == "json") return object({{"$json", parse_lenient_json(bytes)}});
  if (tag == "msgpack") {
    MsgpackReadOptions options;
    options.keep_repeated_keys = true;
    return canonical(from_msgpack(bytes, options));
  }
  return canonical(JsonPlusSerializer().loads_typed(tag, bytes));
}

void check_stored(const Value& stored) {
  const JsonPlusSerializer serializer;
  const std::string tag(stored.at("tag").as_string());
  const std::string bytes = from_hex(stored.at("hex").as_string());
  expect_same_json("canonical", stored.at("canonical"), canonical_of(tag, bytes));

  const Value value = serializer.loads_typed(tag, bytes);
  const TypedBytes again = serializer.dumps_typed(value);
  if (stored.at("reencode").as_string() == "same") {
    expect_equal("tag written again", tag, again.tag);
    expect_equal("bytes written again", to_hex(bytes), to_hex(again.bytes));
  }
  expect_true("the value survives being stored", serializer.loads_typed(again) == value);
}

// A value that cannot be stored, known by its Python source, or bytes that
// cannot be loaded.
void check_refused(const Value& refused) {
  const JsonPlusSerializer serializer;
  if (refused.contains("hex")) {
    const std::string bytes = from_hex(refused.at("hex").as_string());
    expect_refused<SerdeError>(
        "loading", [&] { serializer.loads_typed(refused.at("tag").as_string(), bytes); });
    return;
  }
  const Value value = evaluate_python(refused.at("python").as_string());
  expect_refused<SerdeError>("storing", [&] { serializer.dumps_typed(value); });
}

void check_case(const Value& recorded) {
  const std::string_view kind = recorded.at("kind").as_string();
  if (kind == "refused") {
    check_refused(recorded);
  } else if (kind == "roundtrip" || kind == "decode-only") {
    check_stored(recorded);
  } else {
    throw Mismatch("this tool does not know the kind '" + std::string(kind) + "'");
  }
}

}  // namespace

void run_serde(const Value& vectors, Report& report) {
  constexpr Section kSections[] = {{"cases", check_case}};
  run_sections(vectors, kSections, report);
}

}  // namespace clew::interop
