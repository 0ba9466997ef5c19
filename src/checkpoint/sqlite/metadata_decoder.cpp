#include "checkpoint/sqlite/metadata_decoder.hpp"

#include <charconv>

#include <clew/json.hpp>

#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {

MetadataDecoder::MetadataDecoder(const Serializer& serializer)
    : serializer_(serializer), is_plain_(is_plain(serializer)) {}

Value MetadataDecoder::decode(std::string_view type, std::string_view bytes) {
  const bool is_json = is_plain_ && type == kJsonType;
  if (const auto text = is_json ? find_step(bytes) : std::nullopt) return decode(*text, bytes);
  return decode_metadata(serializer_, type, bytes);
}

std::optional<MetadataDecoder::StepText> MetadataDecoder::find_step(std::string_view json) {
  constexpr std::string_view kSource = R"({"source":")";
  constexpr std::string_view kStep = R"(","step":)";
  if (!json.starts_with(kSource)) return std::nullopt;
  const std::size_t end_of_source = json.find('"', kSource.size());
  if (end_of_source == std::string_view::npos) return std::nullopt;
  if (!json.substr(end_of_source).starts_with(kStep)) return std::nullopt;
  const std::size_t begin = end_of_source + kStep.size();
  StepText text{.before = json.substr(0, begin), .after = {}};
  const char* const end = json.data() + json.size();
  const auto [rest, error] = std::from_chars(json.data() + begin, end, text.step);
  if (error != std::errc()) return std::nullopt;
  text.after = {rest, static_cast<std::size_t>(end - rest)};
  return text;
}

// Where the texts around it are those of the last one, the number stands for the same.
Value MetadataDecoder::decode(const StepText& text, std::string_view json) {
  if (!last_.is_null() && text.before == before_ && text.after == after_) {
    return last_.set("step", text.step);
  }
  Value metadata = parse_json(json);
  // What only looks like it is read whole each time, as is what names a step again.
  const bool is_step =
      metadata["step"] == Value(text.step) && text.after.find("\"step\"") == std::string_view::npos;
  last_ = is_step ? metadata : Value();
  before_ = text.before;
  after_ = text.after;
  return metadata;
}

}  // namespace clew::sqlite
