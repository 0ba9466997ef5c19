// A document after an earlier one has the bytes that it would have alone.
#include "value/msgpack_document.hpp"

#include <random>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/messages.hpp>
#include <clew/serde.hpp>

#include "serde/document.hpp"

namespace clew {
namespace {

using internal::MsgpackDocument;
using internal::to_msgpack_document;

Value numbers(int count, int first = 0) {
  ListBuilder list;
  for (int i = first; i < first + count; ++i)
    list.push_back(object({{"n", i}, {"text", "element"}}));
  return std::move(list).build();
}

// Writes each value after the one before, twice, and compares with what it is alone.
void expect_same_bytes(const std::vector<Value>& values, const MsgpackWriteOptions& options = {}) {
  MsgpackDocument earlier;
  MsgpackDocument spent;
  bool is_first = true;
  for (const Value& value : values) {
    MsgpackDocument document =
        to_msgpack_document(value, options, is_first ? nullptr : &earlier, std::move(spent));
    EXPECT_EQ(document.bytes(), to_msgpack(value, options)) << value;
    const MsgpackDocument again = to_msgpack_document(value, options, &document, {});
    EXPECT_EQ(again.bytes(), document.bytes()) << value;
    spent = std::move(earlier);
    earlier = std::move(document);
    is_first = false;
  }
}

TEST(MsgpackDocument, AListThatGrows) {
  Value list = numbers(30);
  std::vector<Value> values;
  for (int i = 0; i < 50; ++i) {
    values.push_back(object({{"id", i}, {"messages", list}, {"after", "text"}}));
    list = list.append(object({{"n", i}}));
  }
  expect_same_bytes(values);
}

TEST(MsgpackDocument, KnowsWhereItsLongListsStand) {
  const Value list = numbers(40);
  const auto document =
      to_msgpack_document(object({{"short", numbers(31)}, {"long", list}}), {}, nullptr, {});
  ASSERT_EQ(document.long_lists.size(), 1U);
  EXPECT_TRUE(same(document.long_lists[0].list, list));
  const std::string alone = to_msgpack(list);
  EXPECT_EQ(document.bytes_of(document.long_lists[0]), alone.substr(3));  // without its header
}

// What is changed in the earlier document is found again in those after it.
TEST(MsgpackDocument, CopiesTheElementsThatStay) {
  const Value list = numbers(40);
  MsgpackDocument earlier = to_msgpack_document(object({{"a", list}}), {}, nullptr, {});
  const std::size_t text = earlier.bytes().find("element");
  earlier.memory[text] = 'E';
  const auto copies = [&](const Value& value) {
    const MsgpackDocument document = to_msgpack_document(value, {}, &earlier, {});
    return document.bytes().find("Element") != std::string_view::npos;
  };
  EXPECT_TRUE(copies(object({{"a", list}})));
  EXPECT_TRUE(copies(object({{"new", 1}, {"a", list.append(1)}})));
  EXPECT_TRUE(copies(object({{"new", numbers(50, 1)}, {"a", list.concat(list)}})));
  EXPECT_FALSE(copies(object({{"a", list.slice(0, 39)}})));
  EXPECT_FALSE(copies(object({{"a", list.set(20, 1)}})));
}

TEST(MsgpackDocument, AListThatShrinksOrChanges) {
  const Value list = numbers(100);
  expect_same_bytes({list, list.slice(0, 60), list.slice(0, 61), list.slice(1, 100), list,
                     list.set(50, "other"), list.set(0, 1), list.set(99, Value()),
                     list.concat(list), list});
}

TEST(MsgpackDocument, ElementsThatAreEqualInOtherPlacesOfMemory) {
  expect_same_bytes({numbers(50), numbers(50), numbers(60), numbers(70, 1)});
}

TEST(MsgpackDocument, ListsInListsAndSeveralChannels) {
  Value inner = numbers(40);
  Value outer = list({inner, inner, inner});
  for (int i = 0; i < 40; ++i) outer = outer.append(numbers(33, i));
  std::vector<Value> values;
  for (int i = 0; i < 10; ++i) {
    values.push_back(object({{"outer", outer}, {"a", inner}, {"b", numbers(35, i)}, {"c", inner}}));
    inner = inner.append(i);
    outer = i % 2 == 0 ? outer.append(inner) : outer.set(42, outer[42].append(i));
  }
  values.push_back(object({{"c", inner}, {"a", inner}, {"outer", outer}}));
  values.push_back(object({{"outer", inner}}));
  expect_same_bytes(values);
}

// The header of an extension has another length after its payload is known: 2, 3, 4 or 6 bytes.
TEST(MsgpackDocument, ListsInExtensions) {
  ListBuilder small;
  for (int i = 0; i < 40; ++i) small.push_back(i);
  Value list = std::move(small).build();
  std::vector<Value> values;
  for (const int count : {0, 1, 10, 200, 201, 70'000, 70'001}) {
    while (list.size() < static_cast<std::size_t>(40 + count)) list = list.append(1);
    const Value inside = make_extension(ExtensionCode::delta_snapshot, list);
    const Value around = make_extension(ExtensionCode::delta_snapshot, object({{"x", inside}}));
    values.push_back(object({{"before", list}, {"extension", around}, {"after", list}}));
  }
  expect_same_bytes(values);
}

TEST(MsgpackDocument, AListThatBeginsWithAnExtension) {
  const Value first = make_extension(ExtensionCode::delta_snapshot, numbers(2));
  const Value list = clew::list({first}).concat(numbers(40));
  expect_same_bytes({list, list.append(1), list.append(2)});
}

TEST(MsgpackDocument, Messages) {
  Value messages = list();
  std::vector<Value> values;
  for (int i = 0; i < 80; ++i) {
    messages = messages.append(
        HumanMessage{.content = std::string(200, 'x') + std::to_string(i), .id = "m"});
    values.push_back(object({{"messages", messages}}));
  }
  expect_same_bytes(values);
}

// A list that was not too deep where it stood may be where it stands now.
TEST(MsgpackDocument, TheDepthOfWhatIsCopiedCounts) {
  MsgpackWriteOptions options;
  options.max_depth = 4;
  Value list = numbers(40).append(object({{"x", object()}}));
  const MsgpackDocument earlier = to_msgpack_document(object({{"a", list}}), options, nullptr, {});
  const auto write = [&](const Value& value) {
    return std::string(to_msgpack_document(value, options, &earlier, {}).bytes());
  };
  list = list.append(1);
  EXPECT_EQ(write(object({{"a", list}})), to_msgpack(object({{"a", list}}), options));
  EXPECT_EQ(write(list), to_msgpack(list, options));
  const Value too_deep = object({{"a", object({{"b", list}})}});
  EXPECT_THROW(to_msgpack(too_deep, options), SerdeError);
  EXPECT_THROW(write(too_deep), SerdeError);
}

TEST(MsgpackDocument, AFailureBehindWhatIsCopiedNamesItsPlace) {
  const Value list = numbers(40);
  const MsgpackDocument earlier = to_msgpack_document(list, {}, nullptr, {});
  const auto reason = [](const auto& write) -> std::string {
    try {
      write();
    } catch (const SerdeError& error) {
      return error.what();
    }
    return "none";
  };
  const Value longer = list.append(1).append("\xFF");
  EXPECT_EQ(reason([&] { to_msgpack_document(longer, {}, &earlier, {}); }),
            reason([&] { to_msgpack(longer); }));
}

struct Counted {
  int value = 0;
};

TEST(MsgpackDocument, ObjectsOfTheProgramAreWrittenEachTime) {
  int written = 0;
  MsgpackWriteOptions options;
  options.on_host = [&](const Value&) {
    return make_extension(ExtensionCode::delta_snapshot, ++written);
  };
  const Value plain = numbers(40);
  const Value list = plain.append(wrap(Counted{1}));
  const Value both = object({{"plain", plain}, {"list", list}});
  const MsgpackDocument first = to_msgpack_document(both, options, nullptr, {});
  EXPECT_EQ(first.long_lists.size(), 1U);
  EXPECT_FALSE(first.is_read_as_written);
  const MsgpackDocument second = to_msgpack_document(both, options, &first, {});
  EXPECT_EQ(written, 2);
  EXPECT_NE(second.bytes(), first.bytes());
}

TEST(MsgpackDocument, SaysWhetherItIsReadAsItWasWritten) {
  const auto is_exact = [](const Value& value) {
    const MsgpackDocument document = to_msgpack_document(value, {}, nullptr, {});
    return document.is_read_as_written && from_msgpack(document.bytes()) == value;
  };
  EXPECT_TRUE(is_exact({{"a", {1, 2.5, nullptr, true, "text", Value::bytes("x")}}}));
  EXPECT_TRUE(is_exact({{"m", list({AIMessage{.content = "hello"}})}}));
  EXPECT_TRUE(is_exact(make_extension(ExtensionCode::delta_snapshot, numbers(3))));
  EXPECT_FALSE(
      is_exact(object({{"a", make_extension(ExtensionCode::bytearray, Value::bytes("x"))}})));
  const std::vector<std::pair<Value, Value>> entries = {{"a", 1}};
  EXPECT_FALSE(is_exact(Value::map(entries)));
}

// Random states, each made of the one before -------------------------------------

class RandomStates {
 public:
  explicit RandomStates(unsigned seed) : random_(seed) {}

  Value next(const Value& state) {
    Value changed = state;
    for (int i = below(3); i >= 0; --i) {
      const std::string channel(1, static_cast<char>('a' + below(4)));
      changed = below(12) == 0 ? changed.erase(channel)
                               : changed.set(channel, change(changed[channel], 0));
    }
    return changed;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  Value change(const Value& value, int depth) {
    if (value.is_extension()) {
      return make_extension(ExtensionCode::delta_snapshot,
                            change(value.as_extension().payload, depth + 1));
    }
    if (!value.is_list()) return fresh(depth);
    const std::size_t size = value.size();
    switch (below(10)) {
      case 0: return fresh(depth);
      case 1: return value.slice(0, size - size / 4);
      case 2: return value.slice(1, size);
      case 3: return make_extension(ExtensionCode::delta_snapshot, value);
      case 4:
        return size == 0 ? value
                         : value.set(static_cast<std::size_t>(below(static_cast<int>(size))),
                                     fresh(depth + 1));
      case 5:
        if (size == 0 || depth > 3) return value;
        return value.set(size - 1, change(value[size - 1], depth + 1));
      default: return value.concat(fresh_list(depth + 1));
    }
  }

  Value fresh(int depth) {
    switch (below(depth > 3 ? 4 : 7)) {
      case 0: return below(1000) - 500;
      case 1: return std::string(static_cast<std::size_t>(below(60)), 'x');
      case 2: return object({{"n", below(100)}, {"f", 0.5}});
      case 3: return AIMessage{.content = std::to_string(below(100)), .id = "m"};
      case 4: return make_extension(ExtensionCode::delta_snapshot, fresh_list(depth + 1));
      default: return fresh_list(depth + 1);
    }
  }

  Value fresh_list(int depth) {
    ListBuilder list;
    for (int i = below(depth > 2 ? 40 : 12); i > 0; --i) {
      list.push_back(below(6) == 0 ? fresh(depth + 1) : Value(below(300)));
    }
    return std::move(list).build();
  }

  std::mt19937 random_;
};

TEST(MsgpackDocument, RandomStatesHaveTheBytesOfTheSerializer) {
  const JsonPlusSerializer serializer;
  std::size_t long_lists = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomStates states(seed);
    Value state = object();
    MsgpackDocument earlier = serde::dump_document(serializer, state, nullptr, {});
    MsgpackDocument spent;
    for (int step = 0; step < 60; ++step) {
      state = states.next(state);
      MsgpackDocument document =
          serde::dump_document(serializer, state, &earlier, std::move(spent));
      const TypedBytes expected = serializer.dumps_typed(state);
      ASSERT_EQ(expected.tag, serde::kDocumentTag);
      ASSERT_EQ(document.bytes(), expected.bytes) << "seed " << seed << ", step " << step;
      ASSERT_TRUE(document.is_read_as_written);
      ASSERT_EQ(serializer.loads_typed(expected), state);
      long_lists += document.long_lists.size();
      spent = std::move(earlier);
      earlier = std::move(document);
    }
  }
  EXPECT_GT(long_lists, 1000U);
}

}  // namespace
}  // namespace clew
