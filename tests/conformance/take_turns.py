#!/usr/bin/env python3
"""LangGraph and Clew take turns on one SQLite file, action by action, in both orders.

usage: take_turns.py --conformance PATH [--all] [--only TEXT] [--jobs N]

Runs a spread of scenarios, or --all. The driver, LangGraph's side and the list of scenarios are in
tests/data/handoff; run with a Python that has the packages of tests/interop/requirements.txt.
"""

import argparse
import multiprocessing
import os
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
SCENARIOS = DATA / "conformance"
SPREAD = 60

sys.path.insert(0, str(DATA / "handoff"))


def main(arguments):
    import handoff as driver

    options = parse(arguments)
    section = driver.load(DATA / "handoff" / "handoff.json")["sqlite"]
    adjustments = {**dict.fromkeys(section["handoff"]), **section["adjusted"]}
    names = sorted(adjustments)
    names = [name for name in names if options.only in name]
    if not options.all and not options.only:
        names = spread(names, SPREAD, always=section["adjusted"])
    engines = {"other": os.path.abspath(options.conformance), "oracle": None, "pattern": "alternate", "saver": "sqlite"}
    jobs = [(str(SCENARIOS / f"{name}.json"), adjustments[name], engines) for name in names]
    failed = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for failures in pool.imap(driver.work, jobs):
            failed += bool(failures)
            for line in failures:
                print(line, flush=True)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed or not jobs else 0


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--conformance", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)


def spread(names, count, always):
    """`count` of the names, evenly over all kinds of scenarios, `always` among them."""
    others = [name for name in names if name not in always]
    wanted = count - (len(names) - len(others))
    return sorted(set(names) - set(others)) + [others[i * len(others) // wanted] for i in range(wanted)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
