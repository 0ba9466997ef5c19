#!/usr/bin/env python3
"""A tour of the official Python clients and of RemoteGraph against a server with the demo graphs.

  tour_python.py --url http://127.0.0.1:2024                  everything but what takes a minute
  tour_python.py --url ... --only resumable                   the checks whose names contain a text
  tour_python.py --url ... --only a_cron_fires                one that takes a minute
  tour_python.py --list

Every check uses threads of its own, so they run side by side; a failure never depends on another one.
"""

import argparse
import asyncio
import os
import sys
import time

from tour import assistants, crons, remote_graph, runs, store, streams, thread_streams, threads  # noqa: F401
from tour.check import CHECKS, Tour

SECONDS = 90  # for one check


def main():
    options = parse_arguments()
    selected = [(function, kind) for function, kinds in CHECKS for kind in kinds if is_selected(function, options.only)]
    if options.list:
        print("\n".join(name_of(function, kind) for function, kind in selected))
        return 0
    # Not asyncio.run: it would wait for the threads of synchronous clients on streams that never end.
    return asyncio.new_event_loop().run_until_complete(run_all(selected, options))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:2024")
    parser.add_argument("--only", default="", help="run the checks whose names contain this")
    parser.add_argument("--jobs", type=int, default=6, help="checks at the same time")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--verbose", action="store_true", help="print what passes too, with its time")
    return parser.parse_args()


def is_selected(function, only):
    if only:
        return only in name_of(function, "")
    return not getattr(function, "on_demand", False)


def name_of(function, kind):
    module = function.__module__.rsplit(".", 1)[-1]
    return f"{module}.{function.__name__}" + (f" ({kind})" if kind else "")


async def run_all(selected, options):
    turns = asyncio.Semaphore(options.jobs)
    outcomes = await asyncio.gather(*[run_one(function, kind, options, turns) for function, kind in selected])
    failed = outcomes.count(False)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


async def run_one(function, kind, options, turns):
    async with turns:
        started = time.monotonic()
        try:
            await asyncio.wait_for(function(Tour(options.url, kind)), SECONDS)
            outcome = None
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        if outcome or options.verbose:
            seconds = time.monotonic() - started
            print(f"{name_of(function, kind)}: {outcome or 'passed'} [{seconds:.1f} s]", flush=True)
        return outcome is None


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # a synchronous client may still hold a thread on an endless stream
