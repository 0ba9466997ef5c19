// The versions of one value, each stored as the difference from an earlier one.
//
// A version's place in the chain, written in base 64, says which: version 130 is
// 2|2, based on 129; 128 is 2|0, based on 64, which is 1|0, based on 0. So
// reading a version touches at most 63 rows per digit, whatever its number, and
// each part of a value is written at most once per digit. Version 0 is stored
// whole, and the chain begins anew wherever a difference would not pay.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <clew/serde.hpp>
#include <clew/value.hpp>

#include "checkpoint/sqlite/value_patch.hpp"

namespace clew::sqlite {

// A version as a row holds it.
struct StoredVersion {
  TypedBytes data;             // of the value, or of a patch
  Value base;                  // the version that the patch is for, or null
  std::int64_t place = 0;      // in its chain
  Value base_checkpoint = {};  // the checkpoint that the base came with
};

class VersionChain {
 public:
  using MakePatch = std::optional<Value>(const Value& older, const Value& newer);

  // Adds the next version, which comes with a checkpoint.
  StoredVersion add(const Value& version, const Value& value, const Value& checkpoint_id,
                    const Serializer& serializer, MakePatch& make = make_patch);

  // Adds a version that is stored already, in a row of `bytes`: when a chain is
  // read, oldest version first.
  void load(const Value& version, std::int64_t place, const Value& value,
            const Value& checkpoint_id, std::size_t bytes);

  bool empty() const { return newest().version.is_null(); }
  // A text, as all versions here.
  const Value& version() const { return newest().version; }
  const Value& value() const { return newest().value; }
  // The checkpoint that it came with; empty if that is not known.
  std::string_view checkpoint_id() const {
    return newest().checkpoint_id.is_string() ? newest().checkpoint_id.as_string() : "";
  }
  // About how much the newest version takes when it is stored whole.
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::int64_t kBase = 64;
  static constexpr std::size_t kDigits = 3;

  struct Link {
    Value version;
    Value value;
    Value checkpoint_id;
  };

  const Link& newest() const { return links_[0]; }
  static std::size_t trailing_zeros(std::int64_t place);
  StoredVersion begin(const Link& newest, TypedBytes whole);
  void advance(std::int64_t place, const Link& newest);

  // The newest versions whose place ends in 0, 1, 2 zero digits.
  std::array<Link, kDigits> links_;
  std::int64_t place_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace clew::sqlite
