"""Each lint check finds its bad sample and is content with its good one."""

import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tools" / "lint"))

import coroutines
import format as formatting
import headers
import layers
import length
import listed
import paths


class LintTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_finds(self, check, name, text, expected):
        self.write(name, text)
        findings = check(self.root)
        self.assertEqual(len(findings), 1, findings)
        self.assertIn(expected, findings[0])

    def assert_content(self, check, name, text):
        self.write(name, text)
        self.assertEqual(check(self.root), [])


class Layers(LintTest):
    def test_a_layer_may_not_use_one_above_it(self):
        self.assert_finds(layers.check, "src/value/a.cpp", '#include "serde/b.hpp"\n', "a.cpp:1: value may use nothing")

    def test_a_layer_may_not_use_a_public_header_above_it(self):
        self.assert_finds(layers.check, "src/value/a.cpp", "#include <clew/serde.hpp>\n", "but not serde")

    def test_a_public_header_may_not_use_one_above_it(self):
        self.assert_finds(layers.check, "include/clew/value.hpp", "#include <clew/ids.hpp>\n", "but not checkpoint")

    def test_core_does_not_include_all_of_itself(self):
        self.assert_finds(layers.check, "src/serde/a.cpp", "#include <clew/clew.hpp>\n", "but not everything")

    def test_a_layer_may_use_those_below_it(self):
        self.assert_content(layers.check, "src/checkpoint/a.cpp",
                            '#include <clew/serde.hpp>\n#include <vector>\n#include "value/node.hpp"\n')

    def test_a_new_folder_or_header_has_to_be_placed(self):
        self.assert_finds(layers.check, "src/misc/a.cpp", "#include <vector>\n", "src/misc is not a layer")
        (self.root / "src/misc/a.cpp").unlink()
        self.assert_finds(layers.check, "include/clew/misc.hpp", "#pragma once\n", "belongs to no layer")

    def test_a_public_header_includes_no_library(self):
        for included in ("<boost/json.hpp>", "<simdjson.h>", "<fmt/core.h>", '"value.hpp"', "<unistd.h>"):
            self.assert_finds(layers.check, "include/clew/value.hpp", f"#include {included}\n", "value.hpp:1:")

    def test_only_the_bridge_includes_nlohmann(self):
        self.assert_content(layers.check, "include/clew/nlohmann.hpp", "#include <nlohmann/json.hpp>\n")
        self.assert_finds(layers.check, "src/value/a.cpp", "#include <nlohmann/json.hpp>\n", "may be included only from")

    def test_a_database_client_stays_in_its_backend(self):
        self.assert_content(layers.check, "src/checkpoint/sqlite/saver.cpp", "#include <sqlite3.h>\n")
        self.assert_finds(layers.check, "src/checkpoint/saver.cpp", "#include <sqlite3.h>\n", "src/*/sqlite/*")

    def test_a_backend_does_not_reach_into_another(self):
        self.assert_content(layers.check, "src/store/sqlite/a.cpp", '#include "store/sqlite/b.hpp"\n')
        self.assert_finds(layers.check, "src/store/a.cpp", '#include "store/sqlite/b.hpp"\n', "private to the sqlite backend")


class Headers(LintTest):
    def test_a_header_must_include_what_it_uses(self):
        self.write("include/clew/a.hpp", "#pragma once\ninline std::string name();\n")
        findings = headers.check(self.root)
        self.assertTrue(findings)
        self.assertIn("a.hpp:1: does not compile alone with g++", findings[0])

    def test_a_complete_header_is_fine(self):
        self.assert_content(headers.check, "include/clew/a.hpp",
                            "#pragma once\n#include <string>\ninline std::string name() { return {}; }\n")


class Format(LintTest):
    def setUp(self):
        super().setUp()
        self.write(".clang-format", (PROJECT / ".clang-format").read_text())

    def test_bad(self):
        self.assert_finds(formatting.check, "src/value/a.cpp", "int   main( ){}\n", "is not formatted")

    def test_good(self):
        self.assert_content(formatting.check, "src/value/a.cpp", "int main() {}\n")


class Length(LintTest):
    def test_bad(self):
        self.assert_finds(length.check, "src/value/a.cpp", "\n" * 801, "has 801 lines")

    def test_good(self):
        self.assert_content(length.check, "src/value/a.cpp", "\n" * 800)


class Paths(LintTest):
    def test_bad(self):
        for place in ("/wor" + "k/main", "'/roo" + "t/x'", "/hom" + "e/me/x", "../share" + "d/DESIGN.md"):
            self.assert_finds(paths.check, "docs/a.md", f"text\nsee {place}\n", "a.md:2: ")

    def test_good(self):
        self.assert_content(paths.check, "docs/a.md", "see docs/work/root.md, /usr/bin, path $.work/ and a.b/work/c\n")


class Listed(LintTest):
    def test_bad(self):
        self.write("src/CMakeLists.txt", "add_library(x other_a.cpp a_test.cpp)\n")
        self.assert_finds(listed.check, "src/value/a.cpp", "", "is in no CMakeLists.txt")

    def test_a_header_that_would_not_be_installed(self):
        self.write("include/CMakeLists.txt", "target_sources(x FILES clew/ab.hpp)\n")
        self.assert_finds(listed.check, "include/clew/a.hpp", "", "is in no CMakeLists.txt")

    def test_good(self):
        self.write("include/CMakeLists.txt", "target_sources(x FILES clew/a.hpp)\n")
        self.write("include/clew/a.hpp", "")
        self.write("src/value/private.hpp", "")
        self.write("examples/CMakeLists.txt", "foreach(example first_steps)\n")
        self.write("examples/first_steps.cpp", "")
        self.write("src/CMakeLists.txt", "add_library(x value/a.cpp)\n")
        self.assert_content(listed.check, "src/value/a.cpp", "")


class Coroutines(LintTest):
    def lines(self, source):
        return [line for line, _ in coroutines.Scanner(source).scan()]

    def test_bad(self):
        for source in (
            'co_await f(Config{.thread_id = "1"});',
            "co_await f({.a = 1});",
            'co_await app.async_invoke({{"foo", ""}}, c);',
            "std::vector<int> v{co_await a()};",
            "auto x = co_await f(Config{});",
            "auto x = ok ? co_await a() : co_await b();",
            "f(ok ? 1 : 2, co_await b());",
            "if (co_await f(Config{})) go();",
            "for (auto x : co_await f({1})) go();",
            "co_return co_await f(Config{.a = 1});",
            "auto f = [] { go(); }(co_await a(), B{1});",
        ):
            with self.subTest(source):
                self.assertEqual(set(self.lines("Task<int> run() {\n" + source + "\n}\n")), {2})

    def test_good(self):
        for source in (
            'Config c{.thread_id = "1"};\nco_await f(c);',
            "if (ok) x = co_await a(); else x = co_await b();",
            "if (co_await a()) { Config c{1}; go(ok ? 1 : 2); }",
            "co_await a();\nint x = ok ? 1 : 2;",
            "co_return Config{ok ? 1 : 2};",
            "auto f = [c]() -> Task<int> { co_await g(); };\nConfig d{1};",
            "run(Config{1}, [](int i) -> Task<std::function<void(int)>> { co_await g(i); });",
            "for (;;) { co_await g(); }",
            "switch (co_await g()) { case 1: { Config c{1}; } default: break; }",
            "try { co_await g(); } catch (const Error& e) { Config c{1}; }",
            "do { co_await g(); } while (x);\nConfig c{1};",
            '// co_await f(Config{});\nlog("co_await ? {}");',
            'auto s = R"(co_await f({}))";',
            "#define SHAPE co_await f(Config{})\ngo();",
            "int n = 1'000; char c = '\\''; co_await g(n);",
        ):
            with self.subTest(source):
                self.assertEqual(self.lines("Task<int> run() {\n" + source + "\n}\n"), [])

    def test_declarations_around_a_coroutine_are_not_part_of_it(self):
        self.assertEqual(self.lines(
            "namespace clew {\n"
            "template <class T = int>\n"
            "class [[nodiscard]] Task final : public Base<T> {\n"
            "  Task() : a_{1}, b_(2) { go(); }\n"
            "  Task(int x) : a_{x} { go(); }\n"
            "  auto operator co_await() const noexcept { return Awaiter{this}; }\n"
            "  Task<T> run() requires Good<T> { co_await a_; }\n"
            "  int a_ = 1 ? 2 : 3;\n"
            "};\n"
            "}\n"), [])

    def test_a_finding_names_file_and_line(self):
        self.assert_finds(coroutines.check, "src/pregel/a.cpp", "void f() {\n  co_await g({1});\n}\n", "src/pregel/a.cpp:2:")

    def test_markdown_blocks_are_read(self):
        self.assert_finds(coroutines.check, "docs/a.md", "co_await f({});\n```cpp\nco_await f({});\n```\n", "docs/a.md:3:")


if __name__ == "__main__":
    unittest.main()
