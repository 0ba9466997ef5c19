#!/usr/bin/env python3
"""Runs the workloads on LangGraph and on Clew, by turns, and prints how they compare.

  ./dev bench                     everything; rewrites BENCHMARKS.md
  ./dev bench 'W[46]'             what matches the regular expression; only prints

Both sides run the same workload in their own processes, one after the other, several times over, so
that what else the machine does meets both. What is compared is CPU time per super-step: it depends
less on the rest of the machine than wall time does. What must be reached is in targets.py.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

from targets import (CELLS, LEAST_RATIO, LEAST_RECALL, MOST_COMMITS, MOST_GROWTH, MOST_GROWTH_OF_TURNS, MOST_MEGABYTES,
                     MOST_MEGABYTES_ON_DISK, MOST_MICROSECONDS, MOST_MILLISECONDS_OF_STATE, MOST_NANOSECONDS,
                     MOST_OF_THEIR_DISK, MOST_WALL)

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "BENCHMARKS.md"
LANGGRAPH = ROOT / "bench" / "langgraph" / "bench.py"

# Both sides must agree on these, or they did not do the same work.
MUST_AGREE = ["n", "durability", "blob_bytes", "events"]

# What LangGraph's side calls a backend that Clew has in two layouts.
OTHER_NAMES = {"sqlite_langgraph": "sqlite"}

STEPS_OF_W9 = 3

PACKAGES = ["langgraph", "langgraph-checkpoint", "langchain-core", "ormsgpack"]


def main():
    options = parse_arguments()
    selected = re.compile(options.filter or "")
    cells = [cell for cell in CELLS if selected.search(cell.arguments)]
    rows = [row for cell in cells for row in measure_cell(cell, options)]
    compiler, micro = measure_micro(options)
    if not rows and not micro:
        sys.exit(f"nothing matches '{options.filter}'; cells: {', '.join(cell.arguments for cell in CELLS)}")

    print_table(WORKLOAD_COLUMNS, rows)
    print_table(LIMIT_COLUMNS, limits_of(rows))
    print_table(MICRO_COLUMNS, timed(micro))
    print_table(MEMORY_COLUMNS, counted(micro))
    if options.filter or options.clew_only or options.no_write:
        return
    REPORT.write_text(report(rows, micro, compiler, options.rounds) + server_section())
    print(f"wrote {REPORT.name}")


def server_section():
    """What bench/server/compare.py wrote last, which stays."""
    _, heading, section = REPORT.read_text().partition("\n## The server\n") if REPORT.exists() else ("", "", "")
    return heading + section


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", help="regular expression on workloads and on rows of clew-micro")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each side gets; figures are their medians")
    parser.add_argument("--clew-only", action="store_true", help="leave LangGraph out; writes nothing")
    parser.add_argument("--no-write", action="store_true", help="leave BENCHMARKS.md as it is")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin", help="where clew-bench and clew-micro are")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


# ---- Measuring


def measure_cell(cell, options):
    """Rows of one cell: the medians of both sides, and the median of their ratios."""
    # Databases go to the disk that the build is on; a temporary directory may be in memory.
    arguments = [*cell.arguments.split(), "--tmp", str(options.bin)]
    clew_rounds, python_rounds = [], []
    rounds = min(options.rounds, cell.most_rounds)
    for turn in range(rounds):
        progress(f"{cell.arguments}: round {turn + 1} of {rounds}")
        clew = [str(options.bin / "clew-bench"), *arguments, "--repeat", str(cell.clew_repeat)]
        clew_rounds.append(json_lines(clew))
        if not options.clew_only and not cell.clew_only:
            theirs = [OTHER_NAMES.get(argument, argument) for argument in arguments]
            python_rounds.append(json_lines([sys.executable, str(LANGGRAPH), *theirs, "--repeat", "1"]))
            expect_same_work(clew_rounds[-1], python_rounds[-1])
    return [compared(name, clew_rounds, python_rounds) for name in clew_rounds[0]]


def json_lines(command):
    """The lines that `command` prints, by workload."""
    lines = [json.loads(line) for line in output_of(command).splitlines()]
    return {line["workload"]: line for line in lines}


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{Path(command[0]).name} failed:\n{done.stderr.strip()}")
    return done.stdout


def expect_same_work(clew, python):
    if clew.keys() != python.keys():
        sys.exit(f"the two sides ran different workloads: {sorted(clew)} and {sorted(python)}")
    for name, line in clew.items():
        for key in MUST_AGREE:
            if line.get(key) != python[name].get(key):
                sys.exit(f"{name}: {key} is {line.get(key)} on Clew and {python[name].get(key)} on LangGraph")


def backend_of(line):
    return f"{line['backend']} async" if line.get("durability") == "async" else line["backend"]


def compared(name, clew_rounds, python_rounds):
    clew = [cost(lines[name]) for lines in clew_rounds]
    python = [cost(lines[name]) for lines in python_rounds]
    ratios = [theirs / ours for theirs, ours in zip(python, clew)]
    line = clew_rounds[0][name]
    return {
        "name": name,
        "backend": backend_of(line),
        "unit": unit(line),
        "clew_wall": statistics.median(wall(lines[name]) for lines in clew_rounds),
        "clew_disk_mb": (line.get("bytes_on_disk") or 0) / 1e6,
        "python_disk_mb": (python_rounds[0][name].get("bytes_on_disk") or 0) / 1e6 if python else None,
        "clew": statistics.median(clew),
        "python": statistics.median(python) if python else None,
        "ratio": statistics.median(ratios) if ratios else None,
        "spread": (min(ratios), max(ratios)) if ratios else None,
        "least": LEAST_RATIO.get(f"{name} {backend_of(line)}"),
        "recall": line.get("recall_at_10"),
        "commits": median_of(clew_rounds, name, "commits"),
        "n": line["n"],
        "first_s": median_of(clew_rounds, name, "first100_s"),
        "last_s": median_of(clew_rounds, name, "last100_s"),
        "state_ms": median_of(clew_rounds, name, "get_state_ms"),
        "clew_mb": statistics.median(lines[name]["rss_mb"] for lines in clew_rounds),
        "python_mb": statistics.median(lines[name]["rss_mb"] for lines in python_rounds) if python else None,
    }


def median_of(rounds, name, key):
    """Of what a row says besides the time, if it does."""
    figures = [lines[name].get(key) for lines in rounds]
    return None if None in figures else statistics.median(figures)


def cost(line):
    """CPU time in microseconds of one unit() of the line's work."""
    if unit(line) == "task":
        return line["cpu_us_per_op"] / fan_of(line)
    if "cpu_s_per_rep" in line:
        return line["cpu_s_per_rep"] * 1e6 / line["n"] / STEPS_OF_W9
    # A single get_state has no CPU time of its own; its wall time is a median of many.
    return line.get("cpu_us_per_superstep") or line.get("cpu_us_per_op") or line["us_per_op"]


def wall(line):
    return line.get("us_per_superstep") or line["us_per_op"]


def unit(line):
    if fan_of(line):
        return "task"
    if line["workload"].startswith("W6_history"):
        return "checkpoint"
    return "super-step" if line["us_per_superstep"] else "call"


def fan_of(line):
    match = re.fullmatch(r"W3_fan(\d+)", line["workload"])
    return int(match[1]) if match else None


def limits_of(rows):
    """What is promised of Clew's own figures, as far as `rows` have them."""
    by_name = {f"{row['name']} {row['backend']}": row for row in rows}
    limits = []
    for name, most in MOST_MICROSECONDS.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: CPU time per {row['unit']}", "unit": " us",
                           "clew": row["clew"], "python": row["python"], "most": most})
    for name, most in MOST_MEGABYTES.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: memory of the process", "unit": " MB",
                           "clew": row["clew_mb"], "python": row["python_mb"], "most": most})
    for name, most in MOST_MEGABYTES_ON_DISK.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: on disk", "unit": " MB", "clew": row["clew_disk_mb"],
                           "python": row["python_disk_mb"],
                           "most": most})
    for name, most in MOST_OF_THEIR_DISK.items():
        if (row := by_name.get(name)) and row["python_disk_mb"]:
            limits.append({"what": f"{name}: on disk, in what LangGraph leaves", "unit": "x", "python": None,
                           "clew": row["clew_disk_mb"] / row["python_disk_mb"], "most": most})
    for name, (what, most) in MOST_COMMITS.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: commits per {what}", "unit": "", "python": None,
                           "clew": row["commits"] / row["n"], "most": most})
    for name, most in MOST_GROWTH_OF_TURNS.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: the last 100 turns, in the time of the first", "unit": "x", "python": None,
                           "clew": row["last_s"] / row["first_s"], "most": most})
    for name, most in MOST_MILLISECONDS_OF_STATE.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: get_state after all turns", "unit": " ms", "python": None,
                           "clew": row["state_ms"], "most": most})
    for (name, base), most in MOST_WALL.items():
        if (row := by_name.get(name)) and (base_row := by_name.get(base)):
            limits.append({"what": f"{name}: wall time per {row['unit']}, in that of {base}", "unit": "x",
                           "clew": row["clew_wall"] / base_row["clew_wall"], "python": None, "most": most})
    for name, least in LEAST_RECALL.items():
        if row := by_name.get(name):
            limits.append({"what": f"{name}: not found of the best ten", "unit": "",
                           "clew": 1 - row["recall"], "python": None, "most": round(1 - least, 4)})
    for (name, base), most in MOST_GROWTH.items():
        if (row := by_name.get(name)) and (base_row := by_name.get(base)):
            python = row["python"] and row["python"] / base_row["python"]
            limits.append({"what": f"{name}: CPU time per {row['unit']}, in that of {base}", "unit": "x",
                           "clew": row["clew"] / base_row["clew"], "python": python, "most": most})
    return limits


def measure_micro(options):
    """The compiler, and the rows of clew-micro that the filter selects."""
    progress("clew-micro")
    command = [str(options.bin / "clew-micro"), "--benchmark_format=json", f"--benchmark_filter={options.filter or '.'}",
               "--benchmark_repetitions=3", "--benchmark_min_time=0.2"]
    text = output_of(command)
    if not text.strip():
        return "", []
    measured = json.loads(text)
    rows = [micro_row(one) for one in measured["benchmarks"] if one.get("aggregate_name") == "median"]
    return measured["context"]["compiler"], rows


def micro_row(measured):
    counters = {key: value for key, value in measured.items() if "_per_" in key}
    name = measured["run_name"].removesuffix("/iterations:1")
    return {
        "name": name,
        "ns": measured["cpu_time"],
        "most": MOST_NANOSECONDS.get(name),
        "throughput": counters.pop("bytes_per_second", None),
        "counters": counters,
    }


def timed(micro):
    return [row for row in micro if not row["counters"]]


def counted(micro):
    return [row for row in micro if row["counters"]]


def progress(text):
    print(text, file=sys.stderr, flush=True)


# ---- Tables: a title and a text for each column

WORKLOAD_COLUMNS = {
    "workload": lambda row: row["name"],
    "backend": lambda row: row["backend"],
    "CPU time per": lambda row: row["unit"],
    "LangGraph": lambda row: duration(row["python"] and row["python"] * 1e3),
    "Clew": lambda row: duration(row["clew"] * 1e3),
    "times less": lambda row: number(row["ratio"]),
    "lowest, highest round": lambda row: ", ".join(number(ratio) for ratio in row["spread"] or ()),
    "at least": lambda row: verdict(row["least"] and f"{row['least']:g}", row["ratio"], row["least"], lower=True),
}

LIMIT_COLUMNS = {
    "what": lambda row: row["what"],
    "LangGraph": lambda row: number(row["python"], row["unit"]),
    "Clew": lambda row: number(row["clew"], row["unit"]),
    "at most": lambda row: verdict(f"{row['most']:g}{row['unit']}", row["clew"], row["most"], lower=False),
}

MICRO_COLUMNS = {
    "operation": lambda row: row["name"],
    "time": lambda row: duration(row["ns"]),
    "throughput": lambda row: f"{row['throughput'] / 1e6:,.0f} MB/s" if row["throughput"] else "",
    "at most": lambda row: verdict(duration(row["most"]), row["ns"], row["most"], lower=False),
}

MEMORY_COLUMNS = {
    "state": lambda row: row["name"],
    "bytes": lambda row: ", ".join(f"{value:,.0f} {key.replace('_bytes', '').replace('_', ' ')}"
                                   for key, value in sorted(row["counters"].items(), reverse=True)),
}


def verdict(text, measured, limit, lower):
    if not limit or measured is None:
        return text or ""
    missed = measured < limit if lower else measured > limit
    return f"{text} (missed)" if missed else text


def number(value, unit=""):
    if value is None:
        return ""
    return (f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}") + unit


def duration(nanoseconds):
    if nanoseconds is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def cells_of(columns, rows):
    return [list(columns), *([text(row) for text in columns.values()] for row in rows)]


def print_table(columns, rows):
    if not rows:
        return
    table = cells_of(columns, rows)
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print()


def markdown_table(columns, rows):
    table = cells_of(columns, rows)
    table.insert(1, ["---", *["--:"] * (len(columns) - 1)])
    return "\n".join("| " + " | ".join(line) + " |" for line in table)


# ---- The report


def report(rows, micro, compiler, rounds):
    return f"""# Benchmarks

Written by `./dev bench` on {datetime.date.today().isoformat()}; run it to measure your machine and rewrite this
page. What the workloads do is in [bench/README.md](bench/README.md).

{machine_facts(compiler)}

## Beside LangGraph

The same work on LangGraph and on Clew, in the same session and by turns: CPU time (user and system), the
median of {rounds} rounds. "times less" is LangGraph's time divided by Clew's, the median over the rounds; "at
least" is what the project promises. Both sides leave the same results, events, and sizes of encoded bytes.

{markdown_table(WORKLOAD_COLUMNS, rows)}

W7 encodes and decodes 1,000 messages of 500 characters, as dicts and as LangChain message objects, and a
nested JSON document. LangGraph encodes dicts and JSON by native code (ormsgpack); for message objects it
calls back into Python for each. The last eight rows are the shapes of LangGraph's own benchmarks. Where
LangGraph needs long, both sides do less than in `bench/README.md`: W2 has 200 turns (1,000 in Clew's SQLite layout),
W6 200 threads, and W3_fan1000, sequential and fanout_to_subgraph run once or twice per round; W2 has 2 rounds and sequential_3000 has 1.

What is promised of Clew's own figures:

{markdown_table(LIMIT_COLUMNS, limits_of(rows))}

## Single operations

CPU time on Clew alone, the median of 3 runs of `build/bin/clew-micro`. Numbers after a slash are sizes: of
the list, the object or the text.

{markdown_table(MICRO_COLUMNS, timed(micro))}

## Memory

Heap of a state of 1,000 messages of 500 characters, with the allocator's overhead, beside the size of its
encoded form; and of keeping each of 1,000 versions of a growing list.

{markdown_table(MEMORY_COLUMNS, counted(micro))}
"""


def machine_facts(compiler):
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return f"""- {os.cpu_count()} cores, {cpu_model()}; {system_name()}
- Clew: {compiler}, release preset
- LangGraph: Python {platform.python_version()}, {packages}"""


def cpu_model():
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else platform.machine()


def system_name():
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())


if __name__ == "__main__":
    main()
