#include "serde/revive.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/json.hpp>

namespace clew::serde {
namespace {

std::string revived(std::string_view json, Dialect dialect) {
  return to_json(canonical(revive(parse_json(json), dialect)), {.spaced = true});
}

std::string python(std::string_view json) { return revived(json, Dialect::python); }
std::string javascript(std::string_view json) { return revived(json, Dialect::javascript); }

bool unchanged(std::string_view json, Dialect dialect) {
  const Value parsed = parse_json(json);
  return same(revive(parsed, dialect), parsed);
}

// What Python makes of calling the class with these arguments.
std::string called(std::string_view id, std::string_view arguments) {
  return python(R"({"lc": 2, "type": "constructor", "id": )" + std::string(id) + ", " +
                std::string(arguments) + "}");
}

std::string instance(int code, std::string_view module, std::string_view name,
                     std::string_view rest) {
  return R"({"$ext": )" + std::to_string(code) + R"(, "module": ")" + std::string(module) +
         R"(", "name": ")" + std::string(name) + R"(", )" + std::string(rest) + "}";
}

std::string human(std::string_view content, std::string_view id) {
  return instance(5, "langchain_core.messages.human", "HumanMessage",
                  R"("kwargs": {"content": ")" + std::string(content) +
                      R"(", "additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
                      R"("name": null, "id": )" +
                      std::string(id) + R"(}, "method": "model_validate_json")");
}

TEST(RevivePython, LeavesPlainJsonAlone) {
  const Value plain = parse_json(R"({"a": [1, 2.5, null, "x"], "lc": 3, "id": []})");
  EXPECT_TRUE(same(revive(plain, Dialect::python), plain));
  EXPECT_TRUE(same(revive(plain, Dialect::javascript), plain));
}

TEST(RevivePython, Messages) {
  EXPECT_EQ(python(R"({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages",
                       "HumanMessage"], "kwargs": {"content": "hi", "id": "j1",
                       "type": "human"}})"),
            human("hi", "\"j1\""));
  for (std::string_view path : {R"(["langchain", "schema", "messages", "HumanMessage"])",
                                R"(["langchain", "schema", "HumanMessage"])",
                                R"(["langchain_core", "messages", "human", "HumanMessage"])"}) {
    EXPECT_EQ(python(R"({"lc": 1, "type": "constructor", "id": )" + std::string(path) +
                     R"(, "kwargs": {"content": "hi"}})"),
              human("hi", "null"));
  }
  EXPECT_EQ(
      python(R"({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages",
                       "AIMessage"], "kwargs": {"content": "yo", "id": "j2",
                       "tool_calls": [{"name": "a", "args": {}, "id": "1"}],
                       "invalid_tool_calls": [], "additional_kwargs": {},
                       "response_metadata": {}, "more": 1}})"),
      instance(5, "langchain_core.messages.ai", "AIMessage",
               R"("kwargs": {"content": "yo", "additional_kwargs": {}, )"
               R"("response_metadata": {}, "type": "ai", "name": null, "id": "j2", )"
               R"("tool_calls": [{"name": "a", "args": {}, "id": "1", "type": "tool_call"}], )"
               R"("invalid_tool_calls": [], "usage_metadata": null, "more": 1}, )"
               R"("method": "model_validate_json")"));
  EXPECT_EQ(python(R"({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages",
                       "RemoveMessage"], "kwargs": {"id": "h1", "content": []}})"),
            instance(5, "langchain_core.messages.modifier", "RemoveMessage",
                     R"("kwargs": {"content": "", "additional_kwargs": {}, )"
                     R"("response_metadata": {}, "type": "remove", "name": null, "id": "h1"}, )"
                     R"("method": "model_validate_json")"));
}

TEST(RevivePython, Documents) {
  const std::string document =
      instance(5, "langchain_core.documents.base", "Document",
               R"("kwargs": {"id": "d1", "metadata": {"src": "a"}, "page_content": "text", )"
               R"("type": "Document"}, "method": "model_validate_json")");
  for (std::string_view path : {R"(["langchain", "schema", "document", "Document"])",
                                R"(["langchain_core", "documents", "base", "Document"])"}) {
    EXPECT_EQ(python(R"({"lc": 1, "type": "constructor", "id": )" + std::string(path) +
                     R"(, "kwargs": {"page_content": "text", "metadata": {"src": "a"},
                        "id": "d1", "type": "Document"}})"),
              document);
  }
}

TEST(RevivePython, LeavesOtherLangChainObjects) {
  for (std::string_view json :
       {R"({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "Nope"],
           "kwargs": {}})",
        R"({"lc": 1, "type": "constructor", "id": ["elsewhere", "HumanMessage"],
           "kwargs": {"content": "x"}})",
        R"({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages",
           "HumanMessage"], "kwargs": {}})",
        R"({"lc": 1, "type": "constructor", "id": "HumanMessage", "kwargs": {"content": "x"}})",
        R"({"lc": 1, "type": "not_implemented", "id": ["x"]})"}) {
    EXPECT_TRUE(unchanged(json, Dialect::python)) << json;
  }
  EXPECT_EQ(python(R"({"lc": 1, "type": "secret", "id": ["API_KEY"]})"), "null");
}

TEST(RevivePython, Times) {
  EXPECT_EQ(called(R"(["datetime", "datetime"])", R"("args": [2024, 1, 2, 3, 4, 5, 6])"),
            instance(3, "datetime", "datetime",
                     R"("arg": "2024-01-02T03:04:05.000006", "method": "fromisoformat")"));
  EXPECT_EQ(called(R"(["datetime", "datetime"])",
                   R"("kwargs": {"year": 2024, "month": 1, "day": 2, "tzinfo":
                      {"lc": 2, "type": "constructor", "id": ["datetime", "timezone"], "args":
                        [{"lc": 2, "type": "constructor", "id": ["datetime", "timedelta"],
                          "kwargs": {"hours": 1}}]}})"),
            instance(3, "datetime", "datetime",
                     R"("arg": "2024-01-02T00:00:00+01:00", "method": "fromisoformat")"));
  EXPECT_EQ(called(R"(["datetime", "date"])", R"("args": [2024, 2, 29])"),
            instance(1, "datetime", "date", R"("args": [2024, 2, 29])"));
  EXPECT_EQ(called(R"(["datetime", "time"])", R"("kwargs": {"hour": 1, "fold": 1})"),
            instance(2, "datetime", "time",
                     R"("kwargs": {"hour": 1, "minute": 0, "second": 0, "microsecond": 0, )"
                     R"("tzinfo": null, "fold": 1})"));
  EXPECT_EQ(called(R"(["datetime", "timedelta"])", R"("args": [0, -1])"),
            instance(1, "datetime", "timedelta", R"("args": [-1, 86399, 0])"));
  EXPECT_EQ(called(R"(["zoneinfo", "ZoneInfo"])", R"("args": ["Europe/Paris"])"),
            instance(0, "zoneinfo", "ZoneInfo", R"("arg": "Europe/Paris")"));
}

TEST(RevivePython, StandardTypes) {
  const std::string uuid =
      instance(0, "uuid", "UUID", R"("arg": "00000000000000000000000000000001")");
  EXPECT_EQ(called(R"(["uuid", "UUID"])", R"("args": ["00000000000000000000000000000001"])"), uuid);
  EXPECT_EQ(called(R"(["uuid", "UUID"])",
                   R"("kwargs": {"hex": "{00000000-0000-0000-0000-000000000001}"})"),
            uuid);
  EXPECT_EQ(called(R"(["decimal", "Decimal"])", R"("args": ["1.10"])"),
            instance(0, "decimal", "Decimal", R"("arg": "1.10")"));
  EXPECT_EQ(called(R"(["builtins", "set"])", R"("args": [[1, 1, 2]])"),
            instance(0, "builtins", "set", R"("arg": [1, 2])"));
  EXPECT_EQ(called(R"(["builtins", "frozenset"])", R"("args": [])"),
            instance(0, "builtins", "frozenset", R"("arg": [])"));
  EXPECT_EQ(
      called(R"(["collections", "deque"])", R"("args": [[1, 2, 3]], "kwargs": {"maxlen": 2})"),
      instance(0, "collections", "deque", R"("arg": [2, 3])"));
  EXPECT_EQ(called(R"(["ipaddress", "IPv4Address"])", R"("args": ["10.0.0.1"])"),
            instance(0, "ipaddress", "IPv4Address", R"("arg": "10.0.0.1")"));
  EXPECT_EQ(called(R"(["pathlib", "Path"])", R"("args": ["x", "/a//b/./c/", "d"])"),
            instance(1, "pathlib", "PosixPath", R"("args": ["/", "a", "b", "c", "d"])"));
  EXPECT_EQ(called(R"(["re", "compile"])", R"("args": ["a+", 2])"),
            instance(1, "re", "compile", R"("args": ["a+", 34])"));
}

TEST(RevivePython, LangGraphTypes) {
  const std::string_view types = "langgraph.types";
  EXPECT_EQ(called(R"(["langgraph", "types", "Send"])", R"("kwargs": {"node": "n", "arg": 1})"),
            instance(1, types, "Send", R"("args": ["n", 1])"));
  EXPECT_EQ(called(R"(["langgraph", "types", "Command"])", R"("kwargs": {"resume": 1})"),
            instance(2, types, "Command",
                     R"("kwargs": {"graph": null, "update": null, "resume": 1, "goto": []})"));
  EXPECT_EQ(
      called(R"(["langgraph", "types", "Interrupt"])", R"("args": ["v"])"),
      instance(2, types, "Interrupt",
               R"("kwargs": {"value": "v", "id": "placeholder-id", "response_schema": null})"));
  EXPECT_EQ(called(R"(["langgraph", "types", "Interrupt"])",
                   R"("kwargs": {"value": 1, "resumable": true, "ns": ["a"], "when": "during"})"),
            instance(2, types, "Interrupt",
                     R"("kwargs": {"value": 1, "id": "a96faf705af16834e6c632b61e964e1f", )"
                     R"("response_schema": null})"));
  EXPECT_EQ(called(R"(["langgraph", "types", "PregelTask"])", R"("args": ["a", "b", ["c"]])"),
            instance(2, types, "PregelTask",
                     R"("kwargs": {"id": "a", "name": "b", "path": ["c"], "error": null, )"
                     R"("interrupts": [], "state": null, "result": null})"));
  EXPECT_EQ(
      called(R"(["langchain_core", "messages", "human", "HumanMessage"])", R"("args": ["x"])"),
      human("x", "null"));
}

TEST(RevivePython, WhatPythonRefusesIsNull) {
  EXPECT_EQ(called(R"(["datetime", "date"])", R"("args": [2024, 2, 30])"), "null");
  EXPECT_EQ(called(R"(["datetime", "datetime"])",
                   R"("args": ["2024-01-02T00:00:00"], "method": "fromisoformat")"),
            "null");
  EXPECT_EQ(called(R"(["datetime", "time"])", R"("args": [25])"), "null");
  EXPECT_EQ(called(R"(["uuid", "UUID"])", R"("args": ["zz"])"), "null");
  EXPECT_EQ(called(R"(["uuid", "UUID"])", R"("args": [])"), "null");
  EXPECT_EQ(called(R"(["decimal", "Decimal"])", R"("args": ["abc"])"), "null");
  EXPECT_EQ(called(R"(["builtins", "set"])", R"("args": [[[1]]])"), "null");
  EXPECT_EQ(called(R"(["builtins", "set"])", R"("args": 5)"), "null");
  EXPECT_EQ(called(R"(["langgraph", "types", "Command"])", R"("args": ["x"])"), "null");
  EXPECT_EQ(called(R"(["langgraph", "types", "Command"])", R"("kwargs": {"bogus": 1})"), "null");
  EXPECT_EQ(
      called(R"(["langgraph", "types", "Send"])", R"("args": ["n"], "kwargs": {"node": "n"})"),
      "null");
  EXPECT_EQ(called(R"(["langchain_core", "messages", "human", "HumanMessage"])", R"("args": [])"),
            "null");
}

TEST(RevivePython, LeavesWhatOnlyPythonCanWorkOut) {
  for (std::string_view json :
       {R"({"lc": 2, "type": "constructor", "id": ["interop_types", "Plain"], "kwargs": {"a": 1}})",
        R"({"lc": 2, "type": "constructor", "id": ["set"], "args": [[1]]})",
        R"({"lc": 2, "type": "constructor", "id": [], "args": []})",
        R"({"lc": 2, "type": "constructor", "id": null})",
        R"({"lc": 2, "type": "constructor", "id": ["builtins", "ValueError"], "args": ["x"]})",
        R"({"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "kwargs": {"int": 5}})"}) {
    EXPECT_TRUE(unchanged(json, Dialect::python)) << json;
  }
}

TEST(RevivePython, LeavesJavaScriptsMarkers) {
  for (std::string_view json :
       {R"({"lc": 2, "type": "undefined"})",
        R"({"lc": 2, "type": "constructor", "id": ["Set"], "method": null, "args": [[1, 2]],
           "kwargs": {}})",
        R"({"lc": 2, "type": "constructor", "id": ["Error"], "method": null,
           "args": ["boom"], "kwargs": {}})",
        R"({"node": "n", "args": {"x": 1}})",
        R"({"lc": 2, "type": "delta_snapshot", "value": [1]})"}) {
    EXPECT_TRUE(unchanged(json, Dialect::python)) << json;
  }
}

TEST(Revive, ReachesEveryPosition) {
  EXPECT_EQ(python(R"({"a": 1, "b": [0, {"c": {"lc": 2, "type": "constructor",
                       "id": ["builtins", "set"], "args": [[{"lc": 2, "type": "constructor",
                       "id": ["decimal", "Decimal"], "args": ["1"]}]]}}, 2], "d": 3})"),
            R"({"a": 1, "b": [0, {"c": )" +
                instance(0, "builtins", "set",
                         R"("arg": [)" + instance(0, "decimal", "Decimal", R"("arg": "1")") + "]") +
                R"(}, 2], "d": 3})");
}

TEST(Revive, BoundsItsDepth) {
  Value deep = 1;
  for (int i = 0; i < 200000; ++i) deep = list({deep});
  EXPECT_THROW(revive(deep, Dialect::python), SerdeError);
  EXPECT_THROW(revive(deep, Dialect::javascript), SerdeError);
}

TEST(ReviveJavaScript, Undefined) {
  EXPECT_EQ(javascript(R"({"lc":2,"type":"undefined"})"), "null");
  EXPECT_EQ(javascript(R"([{"lc":2,"type":"undefined"}])"), "[null]");
  EXPECT_EQ(javascript(R"({"a":{"lc":2,"type":"undefined"}})"), R"({"a": null})");
}

std::string js_constructor(std::string_view name, std::string_view args) {
  return javascript(R"({"lc":2,"type":"constructor","id":[")" + std::string(name) +
                    R"("],"method":null,"args":)" + std::string(args) + R"(,"kwargs":{}})");
}

TEST(ReviveJavaScript, Collections) {
  EXPECT_EQ(js_constructor("Set", R"([[1,"a"]])"),
            instance(0, "builtins", "set", R"("arg": [1, "a"])"));
  EXPECT_EQ(js_constructor("Set", "[]"), instance(0, "builtins", "set", R"("arg": [])"));
  EXPECT_EQ(js_constructor("Map", R"([[["k",1],[2,{"x":1}]]])"),
            R"({"$map": [["k", 1], [2, {"x": 1}]]})");
  EXPECT_EQ(js_constructor("Map", R"([[["k",1],["l",2]]])"), R"({"k": 1, "l": 2})");
  EXPECT_EQ(js_constructor("Uint8Array", "[[0,255]]"), R"({"$bytes": "00ff"})");
}

TEST(ReviveJavaScript, PatternsAndErrors) {
  EXPECT_EQ(js_constructor("RegExp", R"(["a+","gi"])"),
            instance(1, "re", "compile", R"("args": ["a+", 34])"));
  EXPECT_EQ(js_constructor("RegExp", R"(["a+","gimsuy"])"),
            instance(1, "re", "compile", R"("args": ["a+", 58])"));
  EXPECT_EQ(js_constructor("Error", R"(["boom"])"), R"x("Error('boom')")x");
  EXPECT_EQ(js_constructor("TypeError", R"(["it's\n"])"), R"x("TypeError(\"it's\\n\")")x");
  EXPECT_EQ(js_constructor("Error", R"(["a'\"\\\u0001é"])"), R"x("Error('a\\'\"\\\\\\x01é')")x");
}

TEST(ReviveJavaScript, LeavesWhatItCannotMake) {
  for (std::string_view json :
       {R"({"lc": 2, "type": "constructor", "id": ["Date"], "method": null, "args": [[0]],
           "kwargs": {}})",
        R"({"lc": 2, "type": "constructor", "id": ["Map"], "method": null, "args": [[1]],
           "kwargs": {}})",
        R"({"lc": 2, "type": "constructor", "id": ["Uint8Array"], "method": "from",
           "args": [[256]], "kwargs": {}})",
        R"({"lc": 2, "type": "constructor", "id": ["Set"], "args": ["abc"]})",
        R"({"lc": 2, "type": "constructor", "id": ["RegExp"], "args": [1]})",
        R"({"lc": 2, "type": "constructor", "id": []})", R"("1970-01-01T00:00:00.000Z")",
        R"({"node": "n", "args": 1, "more": 2})", R"({"node": 5, "args": 1})",
        R"({"node": "n"})"}) {
    EXPECT_TRUE(unchanged(json, Dialect::javascript)) << json;
  }
}

TEST(ReviveJavaScript, LangGraphTypes) {
  EXPECT_EQ(javascript(R"({"node":"n","args":{"x":1}})"),
            instance(1, "langgraph.types", "Send", R"("args": ["n", {"x": 1}])"));
  EXPECT_EQ(javascript(R"({"lg_name":"Send","node":"n","args":[2]})"),
            instance(1, "langgraph.types", "Send", R"("args": ["n", [2]])"));
  EXPECT_EQ(javascript(R"({"lg_name":"Command","update":{"lc":2,"type":"undefined"},
                           "resume":"yes","goto":[]})"),
            instance(2, "langgraph.types", "Command",
                     R"("kwargs": {"graph": null, "update": null, "resume": "yes", "goto": []})"));
  EXPECT_EQ(javascript(R"({"lg_name":"Command","update":{"a":1},
                           "resume":{"lc":2,"type":"undefined"},"goto":["b"]})"),
            instance(2, "langgraph.types", "Command",
                     R"("kwargs": {"graph": null, "update": {"a": 1}, "resume": null, )"
                     R"("goto": ["b"]})"));
  EXPECT_EQ(javascript(R"({"lc":2,"type":"delta_snapshot","value":[1]})"),
            R"({"$ext": 7, "value": [1]})");
}

TEST(ReviveJavaScript, Messages) {
  EXPECT_EQ(javascript(R"({"lc":1,"type":"constructor","id":["langchain_core","messages",
                           "HumanMessage"],"kwargs":{"content":"hi","id":"h1",
                           "additional_kwargs":{},"response_metadata":{}}})"),
            human("hi", "\"h1\""));
  EXPECT_EQ(javascript(R"({"lc":1,"type":"constructor","id":["langchain_core","messages",
                           "ToolMessage"],"kwargs":{"content":"42","tool_call_id":"c1","id":"t1",
                           "status":{"lc":2,"type":"undefined"},
                           "additional_kwargs":{},"response_metadata":{}}})"),
            instance(5, "langchain_core.messages.tool", "ToolMessage",
                     R"("kwargs": {"content": "42", "additional_kwargs": {}, )"
                     R"("response_metadata": {}, "type": "tool", "name": null, "id": "t1", )"
                     R"("tool_call_id": "c1", "artifact": null, "status": "success"}, )"
                     R"("method": "model_validate_json")"));
  EXPECT_EQ(javascript(R"({"lc":1,"type":"constructor","id":["langchain_core","messages",
                           "RemoveMessage"],"kwargs":{"id":"h1","content":[],
                           "additional_kwargs":{},"response_metadata":{}}})"),
            instance(5, "langchain_core.messages.modifier", "RemoveMessage",
                     R"("kwargs": {"content": "", "additional_kwargs": {}, )"
                     R"("response_metadata": {}, "type": "remove", "name": null, "id": "h1"}, )"
                     R"("method": "model_validate_json")"));
}

}  // namespace
}  // namespace clew::serde
