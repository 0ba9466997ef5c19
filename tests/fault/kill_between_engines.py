"""Kills one engine in the middle of a step and lets the other finish the thread.

    kill_between_engines.py --fault build/bin/clew-fault

Once Clew starts and LangGraph finishes, once the reverse. Of two parallel nodes `fast` has
finished, and its writes are in the file, when the process dies by SIGKILL inside `slow`. Whoever
continues must not run `fast` again, and must come to the right end.
"""
from __future__ import annotations

import argparse
import json
import operator
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import typing
import warnings

warnings.simplefilter("ignore")

PATIENCE_SECONDS = 60
THREAD = {"configurable": {"thread_id": "handoff"}}


# ---- the graph, as Clew has it in handoff.cpp


def note(sink: pathlib.Path, *words: str) -> None:
    file = os.open(sink, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, ("\n" + " ".join(words) + " .").encode())
    os.close(file)


def build(connection: sqlite3.Connection, sink: pathlib.Path, slow_hangs: bool):
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, StateGraph

    class State(typing.TypedDict):
        log: typing.Annotated[list, operator.add]

    def node(name: str, hangs: bool = False):
        def run(state: State) -> dict:
            note(sink, "begin", name)
            while hangs:
                time.sleep(1)
            note(sink, "effect", name)
            return {"log": [name]}

        return run

    graph = StateGraph(State)
    graph.add_node("fast", node("fast"))
    graph.add_node("slow", node("slow", slow_hangs))
    graph.add_node("joined", node("joined"))
    graph.add_edge(START, "fast")
    graph.add_edge(START, "slow")
    graph.add_edge(["fast", "slow"], "joined")
    return graph.compile(checkpointer=SqliteSaver(connection))


def run_langgraph(part: str, file: pathlib.Path, sink: pathlib.Path) -> None:
    connection = sqlite3.connect(file, check_same_thread=False)
    graph = build(connection, sink, slow_hangs=part == "start")
    given = {"log": []} if part == "start" else None
    print(json.dumps(graph.invoke(given, THREAD, durability="sync")))


# ---- the test


def lines(sink: pathlib.Path) -> list[list[str]]:
    text = sink.read_text() if sink.exists() else ""
    return [line.split()[:-1] for line in text.split("\n") if line.endswith(" .")]


def is_in_the_middle(file: pathlib.Path, sink: pathlib.Path) -> bool:
    """Whether `slow` runs and what `fast` wrote is in the file."""
    if ["begin", "slow"] not in lines(sink) or not file.exists():
        return False
    connection = sqlite3.connect(file, timeout=PATIENCE_SECONDS)
    try:
        return connection.execute("SELECT count(*) FROM writes WHERE channel = 'log' "
                                  "AND task_path LIKE '%fast%'").fetchone()[0] == 1
    finally:
        connection.close()


def hand_over(name: str, start: list[str], finish: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, sink = pathlib.Path(folder, "threads.db"), pathlib.Path(folder, "sink")
        first = subprocess.Popen([*start, str(file), str(sink)])
        try:
            give_up = time.monotonic() + PATIENCE_SECONDS
            while not is_in_the_middle(file, sink):
                if first.poll() is not None or time.monotonic() > give_up:
                    raise SystemExit(f"{name}: never came to the middle; noted: {lines(sink)}")
                time.sleep(0.01)
        finally:
            first.send_signal(signal.SIGKILL)
            first.wait()
        before = lines(sink)
        done = subprocess.run([*finish, str(file), str(sink)], capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS)
        after = lines(sink)[len(before):]
        expect(name, "exit code", done.returncode, 0, done.stderr)
        expect(name, "state", json.loads(done.stdout), {"log": ["fast", "slow", "joined"]})
        expect(name, "effects before the kill", effects(before), ["fast"])
        expect(name, "effects after it", effects(after), ["slow", "joined"])
        expect(name, "nodes begun after it", [words[1] for words in after if words[0] == "begin"],
               ["slow", "joined"])
    print(f"{name}: passed")


def effects(noted: list[list[str]]) -> list[str]:
    return [words[1] for words in noted if words[0] == "effect"]


def expect(name: str, what: str, found: object, wanted: object, more: str = "") -> None:
    if found != wanted:
        raise SystemExit(f"{name}: {what}: {found!r} instead of {wanted!r}\n{more}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fault", help="the program clew-fault")
    parser.add_argument("--langgraph", nargs=3, metavar=("PART", "FILE", "SINK"),
                        help="be LangGraph: start or finish the thread")
    options = parser.parse_args()
    if options.langgraph:
        part, file, sink = options.langgraph
        return run_langgraph(part, pathlib.Path(file), pathlib.Path(sink))
    if not options.fault:
        parser.error("--fault is missing")
    clew = [options.fault, "handoff"]
    langgraph = [sys.executable, __file__, "--langgraph"]
    hand_over("Clew is killed, LangGraph finishes", [*clew, "start"], [*langgraph, "finish"])
    hand_over("LangGraph is killed, Clew finishes", [*langgraph, "start"], [*clew, "finish"])


if __name__ == "__main__":
    main()
