#include <clew/add_messages.hpp>

#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <clew/channels.hpp>
#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/types.hpp>

namespace clew {
namespace {

Value human(const char* content, const char* id) {
  return HumanMessage{.content = content, .id = id};
}
Value ai(const char* content, const char* id) { return AIMessage{.content = content, .id = id}; }
Value removal(const char* id) { return RemoveMessage{.id = id}; }

// "type id:content", comma separated.
std::string render(const Value& messages) {
  std::string text;
  for (const Value& message : messages) {
    if (!text.empty()) text += ", ";
    text += std::string(message_type(message)) + " " +
            std::string(message_id(message).value_or("-")) + ":" + message_text(message);
  }
  return text;
}

const Value kTwo = list({human("a", "1"), ai("b", "2")});

TEST(AddMessages, NewIdsAreAppendedAndKnownOnesReplace) {
  EXPECT_EQ(render(add_messages(kTwo, list({human("c", "3")}))), "human 1:a, ai 2:b, human 3:c");
  EXPECT_EQ(render(add_messages(kTwo, list({human("c", "1"), ai("d", "4"), ai("e", "4")}))),
            "human 1:c, ai 2:b, ai 4:e");
  EXPECT_EQ(render(kTwo), "human 1:a, ai 2:b");
}

TEST(AddMessages, TheUpdateMayBeASingleMessage) {
  EXPECT_EQ(render(add_messages(kTwo, ai("c", "3"))), "human 1:a, ai 2:b, ai 3:c");
  EXPECT_EQ(render(add_messages(nullptr, ai("c", "3"))), "ai 3:c");
  EXPECT_EQ(render(add_messages(human("a", "1"), ai("c", "3"))), "human 1:a, ai 3:c");
}

TEST(AddMessages, MessagesComeInManyForms) {
  const Value update = list({"text", list({"assistant", "pair"}),
                             object({{"role", "system"}, {"content", "object"}, {"id", "s"}})});
  const Value merged = add_messages(list(), update);
  EXPECT_EQ(message_type(merged[0]), "human");
  EXPECT_EQ(message_text(merged[0]), "text");
  EXPECT_EQ(message_type(merged[1]), "ai");
  EXPECT_EQ(message_text(merged[1]), "pair");
  EXPECT_EQ(render(list({merged[2]})), "system s:object");
}

TEST(AddMessages, AMessageWithoutIdGetsAUuid) {
  const Value merged = add_messages(list(), list({"a", "b"}));
  const std::string first(*message_id(merged[0]));
  EXPECT_EQ(first.size(), 36U);
  EXPECT_EQ(first[14], '4');
  EXPECT_NE(first, *message_id(merged[1]));
  EXPECT_TRUE(is_message(merged[0]));
  EXPECT_EQ(message_text(merged[0]), "a");
}

TEST(AddMessages, MessagesThatWereThereWithoutIdGetOneToo) {
  const Value bare = HumanMessage{.content = "old"};
  const Value merged = add_messages(list({bare, "text"}), ai("c", "3"));
  EXPECT_TRUE(message_id(merged[0]));
  EXPECT_TRUE(message_id(merged[1]));
  EXPECT_EQ(message_text(merged[1]), "text");
  EXPECT_EQ(merged.size(), 3U);
}

TEST(AddMessages, StreamedPartsBecomeMessages) {
  const Value chunk = AIMessageChunk{
      .content = "x", .id = "c", .tool_calls = {{.name = "f", .args = {{"a", 1}}, .id = "t"}}};
  const Value merged = add_messages(list(), chunk);
  const AIMessage whole = merged[0].get<AIMessage>();
  EXPECT_EQ(whole.content, Value("x"));
  EXPECT_EQ(whole.id, "c");
  ASSERT_EQ(whole.tool_calls.size(), 1U);
  EXPECT_EQ(whole.tool_calls[0].name, "f");
  EXPECT_EQ(message_type(add_messages(list({chunk}), "y")[0]), "ai");
}

TEST(AddMessages, RemovalsTakeMessagesOut) {
  EXPECT_EQ(render(add_messages(kTwo, removal("1"))), "ai 2:b");
  EXPECT_EQ(render(add_messages(kTwo, list({removal("1"), human("back", "1")}))),
            "human 1:back, ai 2:b");
  EXPECT_EQ(render(add_messages(kTwo, list({human("new", "3"), removal("3")}))),
            "human 1:a, ai 2:b");
  EXPECT_EQ(render(add_messages(list({human("a", "1"), human("b", "1")}), removal("1"))), "");
}

TEST(AddMessages, RemovingWhatIsNotThereIsAnError) {
  try {
    add_messages(kTwo, list({human("c", "3"), removal("nobody")}));
    FAIL() << "expected MessageNotFoundError";
  } catch (const MessageNotFoundError& error) {
    EXPECT_NE(std::string(error.what()).find("'nobody'"), std::string::npos);
  }
}

TEST(AddMessages, RemovingAllKeepsWhatFollows) {
  const Value all = removal(REMOVE_ALL_MESSAGES);
  EXPECT_EQ(render(add_messages(kTwo, all)), "");
  EXPECT_EQ(render(add_messages(kTwo, list({human("x", "1"), all, human("y", "5")}))), "human 5:y");
  EXPECT_EQ(render(add_messages(
                kTwo, list({all, human("x", "5"), all, human("y", "6"), human("z", "6")}))),
            "human 6:y, human 6:z");
}

TEST(AddMessages, OfEqualIdsInTheListTheLastIsReplaced) {
  const Value twice = list({human("a", "1"), human("b", "1")});
  EXPECT_EQ(render(add_messages(twice, human("c", "1"))), "human 1:a, human 1:c");
}

TEST(AddMessages, TheEmptyIdIsAnId) {
  EXPECT_EQ(render(add_messages(list({human("a", "")}), human("b", ""))), "human :b");
}

TEST(AddMessages, WhatIsNoMessageIsAnErrorWithItsPlace) {
  EXPECT_THROW(add_messages(kTwo, nullptr), ValueError);
  EXPECT_THROW(add_messages(kTwo, object({{"x", 1}})), ValueError);
  EXPECT_THROW(add_messages(list({5}), "a"), ValueError);
  try {
    add_messages(kTwo, list({"a", 5}));
    FAIL() << "expected ValueError";
  } catch (const ValueError& error) {
    EXPECT_EQ(error.path(), "$[1]");
  }
}

TEST(AddMessages, AppendingSharesTheMessages) {
  const Value merged = add_messages(kTwo, ai("c", "3"));
  EXPECT_TRUE(same(merged[0], kTwo[0]));
  EXPECT_TRUE(same(merged[1], kTwo[1]));
}

// Long lists are merged through an index of their ids.
TEST(AddMessages, ALongConversationBehavesLikeAShortOne) {
  constexpr int kCount = 300;
  Value messages = list();
  std::vector<Value> versions;
  for (int i = 0; i < kCount; ++i) {
    messages = add_messages(messages, human("x", std::to_string(i).c_str()));
    versions.push_back(messages);
  }
  ASSERT_EQ(messages.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; i += 7) {
    messages = add_messages(messages, ai("replaced", std::to_string(i).c_str()));
  }
  ASSERT_EQ(messages.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    EXPECT_EQ(message_id(messages[at]), std::to_string(i));
    EXPECT_EQ(message_type(messages[at]), i % 7 == 0 ? "ai" : "human");
    EXPECT_EQ(versions[at].size(), at + 1);
  }
  // Merging into an older version does not mix the two up.
  EXPECT_EQ(add_messages(versions[200], human("y", "250")).size(), 202U);
  messages = add_messages(messages, list({removal("0"), human("z", "new")}));
  EXPECT_EQ(message_id(messages[0]), "1");
  EXPECT_THROW(add_messages(messages, removal("0")), MessageNotFoundError);
  messages = add_messages(messages, human("back", "0"));
  EXPECT_EQ(message_id(messages[messages.size() - 1]), "0");
  EXPECT_EQ(add_messages(messages, removal(REMOVE_ALL_MESSAGES)).size(), 0U);
}

TEST(AddMessages, ThreadsMayMergeIntoTheSameList) {
  Value shared = list();
  for (int i = 0; i < 100; ++i)
    shared = add_messages(shared, human("x", std::to_string(i).c_str()));
  std::vector<std::thread> threads;
  std::vector<Value> results(4);
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      results[t] = shared;
      for (int i = 50; i < 150; ++i) {
        results[t] = add_messages(results[t], ai("y", std::to_string(i).c_str()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Value& result : results) {
    EXPECT_EQ(result.size(), 150U);
    EXPECT_EQ(message_type(result[50]), "ai");
  }
}

// ---- The reducer of delta channels

Value fold(const Value& current, std::vector<Value> writes) {
  return messages_delta_reducer(current, writes);
}

TEST(MessagesDeltaReducer, FoldsWritesByIdInOneGo) {
  const std::vector<Value> writes = {list({human("c", "3"), ai("B", "2")}), ai("d", "4"),
                                     list({removal("1"), removal("nobody")})};
  EXPECT_EQ(render(fold(kTwo, writes)), "ai 2:B, human 3:c, ai 4:d");
  Value stepwise = kTwo;
  for (const Value& write : writes) stepwise = fold(stepwise, {write});
  EXPECT_EQ(stepwise, fold(kTwo, writes));
}

TEST(MessagesDeltaReducer, ARemovedMessageComesBackAtTheEnd) {
  EXPECT_EQ(render(fold(kTwo, {removal("1"), human("again", "1")})), "ai 2:b, human 1:again");
}

TEST(MessagesDeltaReducer, GivesNoIds) {
  EXPECT_EQ(render(fold(nullptr, {"a", list({"b"})})), "human -:a, human -:b");
  EXPECT_EQ(render(fold(list({"raw"}), {})), "human -:raw");
  EXPECT_THROW(fold(list({human("a", "1"), 5}), {}), ValueError);
  EXPECT_THROW(fold(list(), {5}), ValueError);
}

// ---- Ids for what delta channels store

TEST(EnsureMessageIds, EveryFormOfAMessageGetsAnId) {
  EXPECT_TRUE(message_id(ensure_message_ids("text")));
  EXPECT_TRUE(message_id(ensure_message_ids(HumanMessage{.content = "x"})));
  const Value written = ensure_message_ids(
      list({"a", list({"ai", "b"}), object({{"role", "user"}, {"content", "c"}})}));
  for (const Value& message : written) EXPECT_TRUE(message_id(message));
  const Value replaced = ensure_message_ids(to_value(Overwrite{list({"a"})}));
  EXPECT_TRUE(message_id((*overwritten(replaced))[0]));
}

TEST(EnsureMessageIds, WhatHasAnIdOrIsNoMessageStays) {
  EXPECT_TRUE(same(ensure_message_ids(kTwo), kTwo));
  const Value number = 5;
  EXPECT_EQ(ensure_message_ids(number), number);
  EXPECT_EQ(ensure_message_ids(list({5})), list({5}));
  EXPECT_THROW(ensure_message_ids(list({object({{"role", "user"}})})), ValueError);
}

TEST(EnsureMessageIds, OtherReducersKeepTheirOwnData) {
  EXPECT_EQ(ensure_message_object_ids(list({"text", 5})), list({"text", 5}));
  const Value mixed = ensure_message_object_ids(
      list({HumanMessage{.content = "x"}, object({{"role", "user"}, {"content", "c"}}), "text"}));
  EXPECT_TRUE(message_id(mixed[0]));
  EXPECT_TRUE(message_id(mixed[1]));
  EXPECT_EQ(mixed[2], Value("text"));
  const Value single = ensure_message_object_ids(object({{"type", "human"}, {"content", "c"}}));
  EXPECT_TRUE(single.is_object());
  EXPECT_EQ(single["id"].as_string().size(), 36U);
  const Value overwrite = object({{"__overwrite__", list({HumanMessage{.content = "x"}})}});
  const Value stamped = ensure_message_object_ids(overwrite);
  EXPECT_TRUE(message_id(stamped["__overwrite__"][0]));
}

}  // namespace
}  // namespace clew
