"""What is measured on a server, and what must be reached."""

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import Callable, Optional

from load import Connection, LoadError, follow_stream, hammer, new_thread, resident_megabytes

SEQ = {"assistant_id": "seq", "input": {"value": "x"}}
ON_NEW_THREAD = {**SEQ, "if_not_exists": "create"}
SLOW = {"assistant_id": "slow", "input": {"ticks": 10, "delay": 0.05}, "stream_mode": ["custom", "values"]}
SLEEP_MS = 500  # what a run of SLOW sleeps


async def ok(side, seconds):
    return await hammer(side.url, 16, seconds, "GET", "/ok")


def create_threads(connections):
    async def measure(side, seconds):
        return await hammer(side.url, connections, seconds, "POST", "/threads", {})
    return measure


async def state(side, seconds):
    thread = await new_thread(side.url)
    connection = Connection(side.url)
    await connection.ask("POST", f"/threads/{thread}/runs/wait", SEQ)
    connection.close()
    return await hammer(side.url, 8, seconds, "GET", f"/threads/{thread}/state")


def wait(connections):
    async def measure(side, seconds):
        return await hammer(side.url, connections, seconds, "POST", "/threads/@U@/runs/wait", ON_NEW_THREAD)
    return measure


async def first_event(side, _):
    streams = [await follow_stream(side.url, await new_thread(side.url), SEQ) for _ in range(side.single_runs)]
    return {"p50_ms": statistics.median(stream["first_ms"] for stream in streams)}


async def streams_at_once(side, _):
    threads = [await new_thread(side.url) for _ in range(50)]
    started = time.perf_counter()
    streams = await asyncio.gather(*[follow_stream(side.url, thread, SLOW) for thread in threads])
    elapsed = time.perf_counter() - started
    if {stream["events"] for stream in streams} != {14}:
        raise LoadError("a stream of `slow` has 14 events")
    return {"times_sleep": elapsed * 1e3 / SLEEP_MS}


async def idle_streams(side, _):
    """Memory that streams cost on which nothing happens."""
    threads = [await new_thread(side.url) for _ in range(20)]
    before = resident_megabytes(side.pid)
    connections = [Connection(side.url) for _ in range(side.idle_streams)]
    for number, connection in enumerate(connections):
        status, _ = await connection.send("GET", f"/threads/{threads[number % len(threads)]}/stream")
        if status != 200:
            raise LoadError(f"stream {number}: {status}")
    await asyncio.sleep(1)
    grown = resident_megabytes(side.pid) - before
    for connection in connections:
        connection.close()
    return {"megabytes": grown * 2000 / side.idle_streams}


async def memory(side, _):
    """Of a server just started, and after 1,000 threads with a run each."""
    idle = resident_megabytes(side.pid)
    numbers = iter(range(side.memory_threads))

    async def create():
        connection = Connection(side.url)
        for _ in numbers:
            thread = await new_thread(side.url)
            await connection.ask("POST", f"/threads/{thread}/runs/wait", SEQ)
        connection.close()

    await asyncio.gather(*[create() for _ in range(16)])
    return {"idle_mb": idle, "used_mb": resident_megabytes(side.pid)}


async def start(side, _):
    return {"ms": side.start_seconds * 1e3}


@dataclass
class Figure:
    """One figure of a scenario: what it is called, and what must be reached."""
    what: str
    key: str
    unit: str
    least_ratio: Optional[float] = None  # how many times better than LangGraph's
    least: Optional[float] = None
    most: Optional[float] = None
    more_is_better: bool = False
    comparable: bool = True  # LangGraph's development server polls its queue: its run latencies are no measure


@dataclass
class Scenario:
    name: str
    measure: Callable
    figures: list
    once: bool = False  # per server, because it changes what comes after


SCENARIOS = [
    Scenario("start", start, [Figure("start of the binary to the first answer", "ms", "ms", most=200)], once=True),
    Scenario("memory", memory, [
        Figure("memory when idle", "idle_mb", "MB", most=30),
        Figure("memory after 1,000 threads with a run each", "used_mb", "MB", most=45)], once=True),
    Scenario("ok", ok, [Figure("`GET /ok`, 16 connections", "per_second", "/s", least_ratio=10, more_is_better=True)]),
    Scenario("threads16", create_threads(16), [
        Figure("`POST /threads`, 16 connections", "per_second", "/s", least_ratio=10, more_is_better=True)]),
    Scenario("threads64", create_threads(64), [
        Figure("`POST /threads`, 64 connections", "per_second", "/s", least_ratio=10, more_is_better=True)]),
    Scenario("state", state, [
        Figure("`GET state`, 8 connections", "per_second", "/s", least_ratio=25, more_is_better=True)]),
    Scenario("wait1", wait(1), [
        Figure("`runs/wait` on `seq`, 1 connection, p50", "p50_ms", "ms", most=12, comparable=False)]),
    Scenario("wait16", wait(16), [
        Figure("`runs/wait` on `seq`, 16 connections", "per_second", "/s", least=300, more_is_better=True, comparable=False)]),
    Scenario("first", first_event, [
        Figure("first event of a stream, p50", "p50_ms", "ms", most=5, comparable=False)]),
    Scenario("streams", streams_at_once, [
        Figure("50 streams of `slow`, in its own sleep", "times_sleep", "x", most=1.3, comparable=False)]),
    Scenario("idle", idle_streams, [Figure("2,000 idle streams", "megabytes", "MB", most=30)], once=True),
]
