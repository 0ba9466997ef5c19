#!/usr/bin/env python3
"""Nothing in the repository names a place that exists on one machine only."""

import re

import repository

# The bracketed letters keep this file from finding itself.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:wor[k]|far[m]|roo[t]|hom[e]/\w+)/|\.\./share[d]\b|--(?:extra-)?inde[x]-url")


def check(root):
    findings = []
    for path in repository.files(root):
        if is_recorded(path):
            continue
        for number, line in enumerate((root / path).read_bytes().split(b"\n"), 1):
            match = MACHINE_PATH.search(line)
            if match:
                findings.append(f"{path}:{number}: {match[0].decode()} exists on one machine only; use a relative path")
    return findings


def is_recorded(path):
    """Recorded inputs hold whatever the recorded program held."""
    return path.parts[:2] == ("tests", "data") or path.parts[:3] == ("tests", "fuzz", "corpus")


if __name__ == "__main__":
    repository.run(check)
