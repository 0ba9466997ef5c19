// MessagePack that can be written again, a little changed, for less.
//
//   MsgpackDocument first = to_msgpack_document(state, options, nullptr, {});
//   MsgpackDocument second = to_msgpack_document(next_state, options, &first, {});
//
// A document knows where its long lists stand. One that is written after it copies the elements
// of a list that begins with all of them, as a conversation does after every turn. The bytes
// are always those of to_msgpack().
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include <clew/msgpack.hpp>
#include <clew/value.hpp>

namespace clew::internal {

// A long list, and which bytes of a document are its elements.
struct WrittenList {
  Value list;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t depth = 0;  // how many lists, maps and extensions are around the elements
};

struct MsgpackDocument {
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  using Memory = std::unique_ptr<char[], Free>;

  std::string_view bytes() const { return {memory.get(), size}; }
  std::string_view bytes_of(const WrittenList& list) const {
    return bytes().substr(list.begin, list.end - list.begin);
  }

  Memory memory;
  std::size_t capacity = 0;
  std::size_t size = 0;
  std::vector<WrittenList> long_lists;  // in the order in which they begin
  // Whether from_msgpack() gives the same value: of a bytearray, say, it gives bytes.
  bool is_read_as_written = false;
};

// `earlier` may be null; it must have been written with the same options. `spent` is a document
// that is not needed any more, if there is one: its memory is used again. Throws what
// to_msgpack() throws.
MsgpackDocument to_msgpack_document(const Value& value, const MsgpackWriteOptions& options,
                                    const MsgpackDocument* earlier, MsgpackDocument spent);

}  // namespace clew::internal
