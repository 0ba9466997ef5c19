// Decodes the metadata of checkpoints, one after the other. That of steps which follow each other
// most often differs in nothing but the number of the step, which then is all that is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <clew/serde.hpp>
#include <clew/value.hpp>

namespace clew::sqlite {

class MetadataDecoder {
 public:
  explicit MetadataDecoder(const Serializer& serializer);

  Value decode(std::string_view type, std::string_view bytes);

 private:
  // A JSON text that begins as Clew writes it: with "source" and "step".
  struct StepText {
    std::string_view before;
    std::int64_t step = 0;
    std::string_view after;
  };
  static std::optional<StepText> find_step(std::string_view json);
  Value decode(const StepText& text, std::string_view json);

  const Serializer& serializer_;
  const bool is_plain_;
  std::string before_;  // the last text without its step, and
  std::string after_;
  Value last_;  // what it says, or null
};

}  // namespace clew::sqlite
