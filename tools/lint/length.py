#!/usr/bin/env python3
"""No source file is longer than 800 lines: past that it is two ideas."""

import repository

LIMIT = 800
SUFFIXES = (".cpp", ".hpp", ".py", ".sh", ".txt")


def check(root):
    findings = []
    for path in repository.code_files(root, SUFFIXES):
        if path.parts[:2] == ("tests", "data"):
            continue
        lines = (root / path).read_bytes().count(b"\n")
        if lines > LIMIT:
            findings.append(f"{path}:{LIMIT + 1}: has {lines} lines, the limit is {LIMIT}; split it")
    return findings


if __name__ == "__main__":
    repository.run(check)
