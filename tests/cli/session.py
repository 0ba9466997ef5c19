#!/usr/bin/env python3
"""Runs a session with the real `clew` and compares everything it prints.

A session is a text file of commands, each a line that starts with "$ ", followed by what it printed,
on both streams, and an empty line. A status other than 0 is printed as [exit N]. Lines that start with
# are remarks.

Commands run one after the other in a folder of their own, which has
  python.db   written by LangGraph (tests/data/databases/sqlite_checkpoints.db)
  clew.db     written by Clew (tests/data/databases/clew.db)
  memory.db   a memory store written by LangGraph (tests/data/databases/sqlite_store_plain.db)
and with the variables
  AES_KEY     the key of the encrypted threads of python.db
  TESTS       the folder of this program
  GRAPHS      the folder of the graphs of examples/server_graphs, if they are built

--update writes what is printed now into the file. Read the difference before you commit it.
"""

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATABASES = Path(__file__).resolve().parents[1] / "data" / "databases"
COPIES = {"python.db": "sqlite_checkpoints.db", "clew.db": "clew.db", "memory.db": "sqlite_store_plain.db"}
PROMPT = "$ "


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder that has clew and clew-cli-database")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("sessions", nargs="+", type=Path)
    options = parser.parse_args()
    has_failed = False
    for session in options.sessions:
        expected = session.read_text()
        printed = replay(expected, options.bin)
        if printed == expected:
            continue
        if options.update:
            session.write_text(printed)
            continue
        has_failed = True
        difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(), session.name, "printed now", lineterm="")
        print("\n".join(difference))
    sys.exit(1 if has_failed else 0)


def replay(session, bin_folder):
    """The session with what its commands print now."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, source in COPIES.items():
            shutil.copy(DATABASES / source, Path(folder) / name)
        environment = clean_environment(bin_folder)
        for line in session.splitlines():
            if not line.startswith(("#", PROMPT)):
                continue
            if lines and not lines[-1].startswith("#"):
                lines.append("")
            lines.append(line)
            if line.startswith(PROMPT):
                lines += run(line.removeprefix(PROMPT), folder, environment)
    return "\n".join(lines) + "\n"


def run(command, folder, environment):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
    lines = done.stdout.splitlines()
    if done.returncode != 0:
        lines.append(f"[exit {done.returncode}]")
    return lines


def clean_environment(bin_folder):
    key = json.loads((DATABASES / "sqlite_checkpoints.expected.json").read_text())["aes_key"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "LANGGRAPH_"))}
    return kept | {"PATH": f"{Path(bin_folder).resolve()}:{os.environ['PATH']}", "COLUMNS": "100", "TZ": "UTC", "LC_ALL": "C.UTF-8",
                   "AES_KEY": key, "TESTS": str(Path(__file__).resolve().parent),
                   "GRAPHS": str(Path(bin_folder).resolve().parent / "lib")}


if __name__ == "__main__":
    main()
