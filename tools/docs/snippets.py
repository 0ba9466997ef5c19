#!/usr/bin/env python3
"""Keeps the code in README.md and docs/ the same as code that is compiled and tested.

In Markdown, a marker stands directly before a block of code:

    <!-- snippet: examples/first_steps.cpp#values -->
    ```cpp
    ```

In the source, two comments, // or #, enclose what belongs there:

    // [snippet values]
    Value state{{"foo", "a"}};
    // [/snippet values]

Without arguments the blocks are rewritten; with --check nothing is, and a difference is an error.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARKER = re.compile(r"^<!-- snippet: (?P<file>\S+)#(?P<name>[\w-]+) -->$")
BOUNDARY = re.compile(r"^\s*(//|#) \[/?snippet [\w-]+\]$")


class SnippetError(Exception):
    pass


def documents(root):
    return [path for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))] if path.is_file()]


def refreshed(root, text):
    """The Markdown with every marked block as its source has it now."""
    lines = text.split("\n")
    result, at = [], 0
    while at < len(lines):
        result.append(lines[at])
        marker = MARKER.match(lines[at])
        at += 1
        if marker:
            end = block_end(lines, at, marker)
            result += [lines[at], *snippet(root, marker["file"], marker["name"]), lines[end]]
            at = end + 1
        elif "<!-- snippet:" in lines[at - 1]:
            raise SnippetError(f"line {at}: a marker reads <!-- snippet: FILE#NAME --> on a line of its own")
    return "\n".join(result)


def block_end(lines, start, marker):
    if start < len(lines) and lines[start].startswith("```"):
        for end in range(start + 1, len(lines)):
            if lines[end] == "```":
                return end
    raise SnippetError(f"line {start}: no block of code follows the marker of {marker['file']}#{marker['name']}")


def snippet(root, file, name):
    path = root / file
    if not path.is_file():
        raise SnippetError(f"{file} does not exist")
    lines = path.read_text().split("\n")
    stripped = [re.sub("^# ", "// ", line.strip()) for line in lines]
    try:
        start = stripped.index(f"// [snippet {name}]")
        end = stripped.index(f"// [/snippet {name}]", start)
    except ValueError:
        raise SnippetError(f"{file} has no '// [snippet {name}]' ... '// [/snippet {name}]'") from None
    kept = [line for line in lines[start + 1:end] if not BOUNDARY.match(line)]
    return textwrap.dedent("\n".join(kept)).strip("\n").split("\n")


def main(root, check):
    failed = False
    for document in documents(root):
        name = document.relative_to(root)
        before = document.read_text()
        try:
            after = refreshed(root, before)
        except SnippetError as error:
            print(f"{name}: {error}")
            failed = True
            continue
        if after != before and check:
            print(f"{name}: differs from the sources it quotes; run ./dev docs")
            failed = True
        elif after != before:
            document.write_text(after)
            print(f"{name}: updated")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    parser.add_argument("--root", type=Path, default=ROOT, help="project to work on (default: this one)")
    arguments = parser.parse_args()
    sys.exit(main(arguments.root.resolve(), arguments.check))
