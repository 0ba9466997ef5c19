#!/usr/bin/env python3
"""Every public header compiles when it is the only one included, with each compiler that is there."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import repository

COMPILERS = ["g++", "clang++-19"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-"]


def check(root):
    headers = [path for path in repository.files(root)
               if path.parts[:2] == ("include", "clew") and path.suffix == ".hpp"]
    compilers = [name for name in COMPILERS if shutil.which(name)]
    if not compilers:
        return ["no compiler found; install g++"]
    jobs = [(name, header) for header in headers for name in compilers]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [finding for finding in pool.map(lambda job: compile_alone(root, *job), jobs) if finding]


def compile_alone(root, compiler, header):
    source = f"#include <{header.relative_to('include')}>\n"
    result = subprocess.run([compiler, f"-I{root / 'include'}", *FLAGS], input=source, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    return f"{header}:1: does not compile alone with {compiler}:\n{result.stderr.strip()}"


if __name__ == "__main__":
    repository.run(check)
