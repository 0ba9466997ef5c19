#!/usr/bin/env python3
"""Every source file and public header is named in a CMakeLists.txt; what is not is not built."""

import re

import repository

COMPILED_BY_SCRIPT = ("tests", "compile_fail")  # to see the compiler refuse them


def check(root):
    return [f"{path}:1: is in no CMakeLists.txt; add it to the nearest one"
            for path in repository.code_files(root)
            if is_built(path) and path.parts[:2] != COMPILED_BY_SCRIPT and not is_listed(root, path)]


def is_built(path):
    return path.suffix == ".cpp" or path.parts[0] == "include"


def is_listed(root, path):
    lists = ((folder, root / folder / "CMakeLists.txt") for folder in path.parents)
    return any(file.is_file() and names(file.read_text(), path.relative_to(folder)) for folder, file in lists)


def names(text, path):
    """Lists name files with the suffix, or without it where a loop adds it."""
    return re.search(rf"(?<![\w./-]){re.escape(str(path.with_suffix('')))}({re.escape(path.suffix)})?(?![\w./-])", text)


if __name__ == "__main__":
    repository.run(check)
