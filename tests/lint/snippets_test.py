"""The code in the documents follows the sources, and --check notices when it does not."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "docs"))

import snippets

SOURCE = """int main() {
  // [snippet values]
  int a = 1;
  // [snippet inner]
  if (a) {
    go();
  }
  // [/snippet inner]
  // [/snippet values]
}
"""
CURRENT = """Text
<!-- snippet: examples/a.cpp#values -->
```cpp
int a = 1;
if (a) {
  go();
}
```
More
"""


class Snippets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "examples").mkdir()
        (self.root / "docs").mkdir()
        (self.root / "examples/a.cpp").write_text(SOURCE)
        self.document = self.root / "docs/a.md"

    def run_tool(self, text, check):
        self.document.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = snippets.main(self.root, check)
        return code, output.getvalue()

    def test_a_current_document_passes(self):
        self.assertEqual(self.run_tool(CURRENT, check=True), (0, ""))

    def test_a_stale_document_fails_the_check_and_is_left_alone(self):
        stale = CURRENT.replace("int a = 1;", "int a = 2;")
        code, output = self.run_tool(stale, check=True)
        self.assertEqual(code, 1)
        self.assertIn("docs/a.md: differs", output)
        self.assertEqual(self.document.read_text(), stale)

    def test_a_stale_document_is_rewritten(self):
        code, _ = self.run_tool(CURRENT.replace("int a = 1;\n", ""), check=False)
        self.assertEqual(code, 0)
        self.assertEqual(self.document.read_text(), CURRENT)

    def test_markers_that_lead_nowhere_fail(self):
        for text, expected in (
            (CURRENT.replace("a.cpp", "b.cpp"), "examples/b.cpp does not exist"),
            (CURRENT.replace("#values", "#nothing"), "has no '// [snippet nothing]'"),
            (CURRENT.replace("```\nMore", ""), "no block of code follows"),
            (CURRENT.replace("```cpp\n", ""), "no block of code follows"),
            (CURRENT.replace("#values", ""), "a marker reads"),
        ):
            for check in (True, False):
                with self.subTest(expected, check=check):
                    code, output = self.run_tool(text, check)
                    self.assertEqual(code, 1)
                    self.assertIn(expected, output)


if __name__ == "__main__":
    unittest.main()
