// JSON text to Value and back.
//
//   Value state = parse_json(R"({"messages": ["hi"], "step": 12345678901234567890})");
//   to_json(state);                       // {"messages":["hi"],"step":12345678901234567890}
//   to_json(state, {.indent = 2});        // as Python's json.dumps(state, indent=2)
//
//   std::ofstream file("state.json");
//   write_json(state, [&](std::string_view chunk) { file << chunk; });
//
// Reading is strict RFC 8259 and exact: integers of any size keep every digit,
// doubles are rounded correctly, and of duplicate keys the last value wins at
// the first one's place, as in Python. Writing gives the bytes of Python's
// json.dumps for everything that it can write.
//
// What JSON has no form for is written as plain content: bytes as base64 text;
// dates, decimals and UUIDs as their text; sets as lists; messages and other
// objects as their fields; keys that are not strings as Python turns them into
// strings (true, null, 1, 1.5). Reading such text back gives the plain content,
// not the typed value; MessagePack (msgpack.hpp) keeps the types.
//
// The functions may be called from any thread. A JsonWriter belongs to one
// thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew {

// What to do with an escape like \ud800 that is half of a character and has no UTF-8 form.
enum class LoneSurrogates {
  reject,
  replace,  // by '?', which is what LangGraph's encoder stores for them
};

// What to write for NaN and the infinities, which JSON does not have.
enum class NonFinite {
  reject,
  null,
  literal,  // NaN, Infinity, -Infinity, as Python's json module; most other readers refuse them
};

struct JsonParseOptions {
  // Lists and objects may be nested this deep. Memory grows with the depth, the stack does not.
  std::size_t max_depth = 1000;

  // Longer text is refused before it is looked at. At most 4 GiB can be read.
  std::size_t max_bytes = std::size_t{1} << 30;

  // Also read NaN, Infinity and -Infinity, and numbers past the largest double
  // as an infinity, as Python's json module does.
  bool allow_non_finite = false;

  LoneSurrogates lone_surrogates = LoneSurrogates::reject;
};

// The value that `text` spells. Throws SerdeError with the byte offset and the
// reason if it is not one complete JSON value in UTF-8 without a byte order mark.
Value parse_json(std::string_view text, const JsonParseOptions& options = {});

struct JsonWriteOptions {
  // Spaces per level, each element on its own line; 0 breaks lines without
  // indenting. Negative: everything on one line.
  int indent = -1;

  // On one line: separate by ", " and ": " (Python's default) rather than "," and ":".
  bool spaced = false;

  // Escape all that is not printable ASCII, as Python's ensure_ascii.
  bool ascii_only = false;

  // Order the entries of every object by key instead of by insertion.
  bool sort_keys = false;

  NonFinite non_finite = NonFinite::reject;

  // Deeper values are refused. Writing takes a few hundred bytes of stack per level.
  std::size_t max_depth = 1000;
};

// The JSON text of `value`. Throws SerdeError that names the path if a string
// is not UTF-8, a number is not finite (see NonFinite) or the nesting is too deep.
std::string to_json(const Value& value, const JsonWriteOptions& options = {});

// Takes the text piece by piece; a piece is at most 8 KiB and may end within a character.
using JsonSink = std::function<void(std::string_view)>;

// As to_json(), but never holds more than one piece of the text. What was
// passed to `sink` before an error stays passed.
void write_json(const Value& value, const JsonSink& sink, const JsonWriteOptions& options = {});

// Writes a document that never exists as one Value.
//
//   JsonWriter writer(sink);
//   writer.begin_object().key("rows").begin_list();
//   while (auto row = next_row()) writer.value(*row);
//   writer.end_list().end_object().finish();
//
// A call that does not fit the document so far throws Error and writes nothing;
// value() throws as to_json() does, and the document is then incomplete.
// `sort_keys` applies within each value; entries written by key() keep their order.
class JsonWriter {
 public:
  explicit JsonWriter(JsonSink sink, const JsonWriteOptions& options = {});
  JsonWriter(JsonWriter&&) noexcept;
  JsonWriter& operator=(JsonWriter&&) noexcept;
  ~JsonWriter();

  JsonWriter& begin_object();
  JsonWriter& key(std::string_view key);
  JsonWriter& end_object();
  JsonWriter& begin_list();
  JsonWriter& end_list();
  JsonWriter& value(const Value& value);

  // Passes on what is still buffered; without it the sink may miss the end.
  // Throws Error if the document is not complete.
  void finish();

 private:
  struct Document;
  std::unique_ptr<Document> document_;
};

}  // namespace clew
