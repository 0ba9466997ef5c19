#!/usr/bin/env python3
"""Measures Clew's server and LangGraph's development server by turns, and prints how they compare.

  bench/server/compare.py                          everything
  bench/server/compare.py --only 'ok|threads'      what matches
  bench/server/compare.py --clew-only              without LangGraph
  bench/server/compare.py --write                  puts the table into BENCHMARKS.md

Clew keeps everything on disk with synchronous=FULL; LangGraph's development server keeps it in memory.
Both get the same load from the same machine, one after the other, several times over.
"""

import argparse
import asyncio
import re
import resource
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "server"))

from load import LoadError, median_of  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from serving import Server  # noqa: E402

REPORT = ROOT / "BENCHMARKS.md"
HEADING = "## The server"
CLEW = (f"{ROOT}/build/bin/clew dev --config {ROOT}/examples/server_graphs/clew.json"
        " --host 127.0.0.1 --port {port} --data {data}")
LANGGRAPH = (f"{ROOT}/build/venv-server-bench/bin/langgraph dev --no-browser --no-reload --host 127.0.0.1 --port {{port}}"
             " --n-jobs-per-worker 10 --config langgraph.json")


class Side:
    """A running server, and how much of the slow scenarios it is given."""

    def __init__(self, name, command, data, single_runs, idle_streams, memory_threads):
        self.name = name
        self.single_runs, self.idle_streams, self.memory_threads = single_runs, idle_streams, memory_threads
        self._server = Server(command, data, directory=data)
        self.start_seconds = self._server.start()
        self.url = self._server.url

    @property
    def pid(self):
        return self._server.pid

    def stop(self):
        self._server.kill()


def main():
    options = parse_arguments()
    allow_many_connections()
    selected = [scenario for scenario in SCENARIOS if re.search(options.only, scenario.name)]
    # Data goes to the disk that the build is on; a temporary directory may be in memory.
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as data:
        sides = start_sides(options, Path(data))
        try:
            rows = asyncio.run(measure_all(selected, sides, options))
        finally:
            for side in sides:
                side.stop()
    table = "\n".join(table_of(rows))
    print(table)
    if options.write:
        write(table, options.rounds)
    return 1 if any(row["missed"] for row in rows) else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the names of scenarios")
    parser.add_argument("--seconds", type=float, default=4, help="of load per measurement")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each side gets; figures are their medians")
    parser.add_argument("--clew-command", default=CLEW, help="with {port} and {data} in it")
    parser.add_argument("--langgraph-command", default=LANGGRAPH, help="with {port} in it")
    parser.add_argument("--clew-only", action="store_true")
    parser.add_argument("--langgraph-only", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into BENCHMARKS.md")
    return parser.parse_args()


def allow_many_connections():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))


def start_sides(options, data):
    sides = []
    for name, command, left_out, sizes in (("clew", options.clew_command, options.langgraph_only, (100, 2000, 1000)),
                                           ("langgraph", options.langgraph_command, options.clew_only, (5, 200, 1000))):
        if not left_out:
            # LangGraph's server wants its graphs where it runs.
            shutil.copytree(ROOT / "tests" / "data" / "server" / "langgraph", data / name)
            sides.append(Side(name, command, data / name, *sizes))
    return sides


async def measure_all(selected, sides, options):
    rows = []
    for scenario in selected:
        rounds = 1 if scenario.once else options.rounds
        measured = {side.name: [] for side in sides}
        for turn in range(rounds):
            for side in sides:
                print(f"{scenario.name} on {side.name}: round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
                try:
                    measured[side.name].append(await scenario.measure(side, options.seconds))
                except (LoadError, OSError, asyncio.IncompleteReadError) as error:
                    print(f"{scenario.name} on {side.name} failed: {error!r}", file=sys.stderr)
        rows += [row_of(figure, measured) for figure in scenario.figures]
    return rows


def row_of(figure, measured):
    medians = {name: median_of(results)[figure.key] if results else None for name, results in measured.items()}
    clew, langgraph = medians.get("clew"), medians.get("langgraph")
    ratio = ratio_of(figure, measured.get("clew"), measured.get("langgraph")) if figure.comparable else None
    missed = "clew" in measured and (
        clew is None or (figure.most is not None and clew > figure.most) or (figure.least is not None and clew < figure.least)
        or (figure.least_ratio is not None and ratio is not None and ratio < figure.least_ratio))
    return {"figure": figure, "clew": clew, "langgraph": langgraph, "ratio": ratio, "missed": missed}


def ratio_of(figure, clew, langgraph):
    """The median of the ratios of each turn: what else the machine did met both."""
    if not clew or not langgraph:
        return None
    pairs = [(ours[figure.key], theirs[figure.key]) for ours, theirs in zip(clew, langgraph)]
    return statistics.median(ours / theirs if figure.more_is_better else theirs / ours for ours, theirs in pairs)


def table_of(rows):
    yield "| figure | Clew | LangGraph dev | ratio | must be | |"
    yield "| --- | --: | --: | --: | --: | --- |"
    for row in rows:
        figure = row["figure"]
        yield (f"| {figure.what} | {shown(row['clew'], figure.unit)} | {shown(row['langgraph'], figure.unit)} "
               f"| {shown(row['ratio'], 'x')} | {wanted(figure)} | {'MISSED' if row['missed'] else ''} |")


def shown(value, unit):
    if value is None:
        return ""
    digits = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{digits} {unit}" if unit not in ("x", "/s") else f"{digits}{unit}"


def wanted(figure):
    if figure.least_ratio is not None:
        return f">= {figure.least_ratio:g}x"
    return f"<= {shown(figure.most, figure.unit)}" if figure.most is not None else f">= {shown(figure.least, figure.unit)}"


def write(table, rounds):
    """Replaces the section about the server, or adds it at the end."""
    section = (f"{HEADING}\n\n`bench/server/compare.py --write`, medians of {rounds} turn(s). Clew is on disk with\n"
               "synchronous=FULL, LangGraph's development server in memory. Where it has no ratio, its figure shows how\n"
               "it polls its queue, not what a run costs.\n\n" + table + "\n")
    text = REPORT.read_text()
    pattern = re.compile(rf"^{re.escape(HEADING)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    REPORT.write_text(pattern.sub(lambda _: section, text) if pattern.search(text) else f"{text.rstrip()}\n\n{section}")
    print(f"wrote {REPORT.name}")


if __name__ == "__main__":
    sys.exit(main())
