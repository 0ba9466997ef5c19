"""The files that the checks look at, and how a check reports what it found."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("include", "src", "tests", "bench", "examples")
CPP_SUFFIXES = (".cpp", ".hpp")


def files(root):
    """Every file of the project that is not ignored, relative to `root`, sorted."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, capture_output=True, text=True)
        if listing.returncode == 0:
            names = {Path(name) for name in listing.stdout.split("\0") if name}
            return sorted(name for name in names if (root / name).is_file())
    return sorted(path for path in (found.relative_to(root) for found in root.rglob("*") if found.is_file())
                  if not path.parts[0].startswith(("build", ".git")) and "__pycache__" not in path.parts)


def code_files(root, suffixes=CPP_SUFFIXES):
    """The source files below the folders that hold code."""
    return [path for path in files(root) if path.parts[0] in CODE_FOLDERS and path.suffix in suffixes]


def run(check):
    """Calls check(root) and exits by what it finds: lines of "file:line: what is wrong; what to do"."""
    parser = argparse.ArgumentParser(description=sys.modules[check.__module__].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="project to check (default: this one)")
    findings = check(parser.parse_args().root.resolve())
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
