// What the row of a checkpoint holds besides the checkpoint itself: the values that are new
// with it, and what the tasks wrote in the step that led to it. All of a super-step is then
// one row, and storing it changes one place in the file.
//
// Two columns say in JSON what there is, so that any SQLite can read it, and the column
// `data` has the bytes; docs/format/sqlite.md shows them.
#pragma once

#include <array>
#include <cstdint>
#include <forward_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/serde.hpp>

#include "checkpoint/sqlite/version_chain.hpp"

namespace clew::sqlite {

// The version of a channel as it is stored, packed or in a row of its own.
struct StoredBlob {
  std::string base;                // the version that it is a difference from, or empty
  std::string base_checkpoint_id;  // the checkpoint that the base came with, if it is known
  std::int64_t place = 0;
  TypedBytes data;
  std::string packed_in;  // the checkpoint in whose row it is, or empty
};

// The same where it is packed.
struct PackedBlob {
  std::string_view channel;
  std::string_view version;
  std::string_view type;
  std::string_view bytes;
  std::string_view base = {};
  std::string_view base_checkpoint_id = {};
  std::int64_t place = 0;

  StoredBlob stored(std::string_view packed_in) const;
};

// A write of a task, and its position among them.
struct StoredWrite {
  std::int64_t index = 0;
  PendingWrite write;
};

class RowPack {
 public:
  void add_blob(std::string_view channel, std::string_view version, const StoredVersion& stored);
  // `values` are those of `task.writes`, encoded.
  void add_writes(const WritesPut& task, std::span<const TypedBytes> values);

  // False if something must have rows of its own: it is large, or has a name that SQLite
  // would not read from JSON as it is.
  bool is_possible() const;

  // What the columns hold. Empty: NULL.
  std::string_view new_blobs() const { return new_blobs_; }
  std::string_view step_writes() const { return step_writes_; }
  std::string_view data() const { return data_; }

  // How many bytes all values have; `data` has those once that several are made of.
  std::size_t value_bytes() const { return value_bytes_; }

 private:
  class List;
  struct Part {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  std::size_t place(std::string_view bytes);

  std::string new_blobs_;
  std::string step_writes_;
  std::string data_;
  std::size_t value_bytes_ = 0;
  std::array<Part, 16> parts_ = {};  // of the data, the first ones
  std::size_t part_count_ = 0;
  bool has_odd_name_ = false;
};

// What the columns of a checkpoint's row hold. Reading them throws SerdeError if they are
// damaged.
class PackedBlobs {
 public:
  // Refers to the columns, which must stay as they are.
  void read(std::string_view new_blobs, std::string_view data);

  auto begin() const { return blobs_.begin(); }
  auto end() const { return blobs_.end(); }
  // Null if there is none.
  const PackedBlob* find(std::string_view channel, std::string_view version) const;

 private:
  std::vector<PackedBlob> blobs_;
  std::forward_list<std::string> unescaped_;  // names that stand otherwise in the column
};

std::vector<StoredWrite> packed_writes(std::string_view step_writes, std::string_view data,
                                       const Serializer& serializer);
// The same without looking at the values.
void check_packed_writes(std::string_view step_writes, std::string_view data);

}  // namespace clew::sqlite
