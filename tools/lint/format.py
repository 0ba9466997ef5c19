#!/usr/bin/env python3
"""C++ is formatted as .clang-format says; `./dev format` does it."""

import shutil
import subprocess
import sys

import repository

FORMATTER = "clang-format-19"


def check(root):
    if not shutil.which(FORMATTER):
        return [f"{FORMATTER} is not installed; run ./dev lint, which installs it"]
    return [f"{path}:1: is not formatted; run ./dev format"
            for path in repository.code_files(root) if not is_formatted(root / path)]


def is_formatted(path):
    return subprocess.run([FORMATTER, "--dry-run", "-Werror", str(path)], capture_output=True).returncode == 0


def rewrite(root):
    paths = [str(root / path) for path in repository.code_files(root)]
    for _ in range(2 if paths else 0):  # some macros settle only in the second pass
        subprocess.run([FORMATTER, "-i", *paths], check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--fix"]:
        rewrite(repository.ROOT)
    else:
        repository.run(check)
