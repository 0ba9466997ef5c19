#!/usr/bin/env python3
"""Kills a server again and again under load and checks that nothing acknowledged was lost or done twice.

  kill.py --server-command 'build/bin/clew dev --config examples/server_graphs/clew.json \
                            --host 127.0.0.1 --port {port} --data {data}'
  kill.py ... --kills 0           the same load without a kill: what the checks expect of any server
  kill.py ... --seed 7            the same moments again

Clients create runs in the background and follow resumable streams all the while. When a connection
breaks they do what the official clients do: wait for the server and go on with Last-Event-ID.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
import uuid

import httpx

from serving import Server
from wire import parse_event

SETTLE_SECONDS = 180
UNSETTLED = {"pending", "running"}


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as data, open(options.log, "ab") as log:
        server = Server(options.server_command, data, log=log)
        server.start()
        try:
            return asyncio.run(Trial(server, options).run())
        finally:
            server.kill()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-command", required=True, help="with {port} and {data} in it")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--gently", action="store_true", help="SIGTERM instead of SIGKILL")
    parser.add_argument("--streams", type=int, default=200, help="resumable streams at the same time")
    parser.add_argument("--creators", type=int, default=8, help="clients that create background runs")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--log", default="/dev/null", help="where what the server prints goes")
    return parser.parse_args()


class Trial:
    def __init__(self, server, options):
        self.server, self.options = server, options
        self.random = random.Random(options.seed)
        self.client = httpx.AsyncClient(base_url=server.url, timeout=30, limits=httpx.Limits(max_connections=None))
        self.work = []     # what was acknowledged, thread by thread
        self.stopped = asyncio.Event()
        self.passed = self.failed = 0

    async def run(self):
        print(f"seed {self.options.seed}", flush=True)
        streams = [Stream(self.client, self.random.randint(8, 24)) for _ in range(self.options.streams)]
        readers = [asyncio.create_task(stream.follow()) for stream in streams]
        creators = [asyncio.create_task(self.create_runs(number)) for number in range(self.options.creators)]
        await self.kill_and_restart()
        self.stopped.set()
        await asyncio.gather(*creators)
        await asyncio.wait_for(asyncio.gather(*readers), SETTLE_SECONDS)
        await self.check_runs()
        await self.check_streams(streams)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    async def kill_and_restart(self):
        for number in range(self.options.kills):
            await asyncio.sleep(self.random.uniform(0.3, 2.5))
            await asyncio.to_thread(self.server.stop if self.options.gently else self.server.kill)
            seconds = await asyncio.to_thread(self.server.start)
            print(f"kill {number + 1}: back after {seconds:.2f} s", flush=True)
        await asyncio.sleep(1.5)

    # Load

    async def create_runs(self, number):
        """Each round a new thread with one to three runs on it, of one graph."""
        chance = random.Random(self.options.seed * 1000 + number)
        while not self.stopped.is_set():
            work = Work(chance.choice(list(GRAPHS)), chance.randint(1, 3))
            for _ in range(work.wanted):
                try:
                    work.acknowledged.append(await self.create_run(work))
                except httpx.HTTPError:
                    work.in_doubt += 1
                    await asyncio.sleep(0.1)
            if work.acknowledged:
                self.work.append(work)
            await asyncio.sleep(0.05)

    async def create_run(self, work):
        body = {"assistant_id": work.graph, "input": GRAPHS[work.graph].input, "if_not_exists": "create"}
        response = await self.client.post(f"/threads/{work.thread}/runs", json=body)
        response.raise_for_status()
        return response.json()["run_id"]

    # Checks

    async def check_runs(self):
        runs = sum(len(work.acknowledged) for work in self.work)
        for work in self.work:
            self.report(f"{work.graph} {work.thread}", await self.wrong_with(work))
        print(f"{runs} acknowledged runs on {len(self.work)} threads")

    async def wrong_with(self, work):
        try:
            runs = await self.settled_runs(work.thread)
        except httpx.HTTPStatusError as error:
            return f"the thread answers {error.response.status_code}"
        status = {run["run_id"]: run["status"] for run in runs}
        for run in work.acknowledged:
            if status.get(run) != "success":
                return f"run {run} is {status.get(run, 'gone')}"
        extra = len(runs) - len(work.acknowledged)
        if extra > work.in_doubt:
            return f"{extra} runs more than were asked for"
        values = (await self.get(f"/threads/{work.thread}/state"))["values"]
        expected = GRAPHS[work.graph].after(len(runs))
        if values != expected:
            return f"after {len(runs)} runs expected {expected}, got {values}"
        return await self.wrong_with_history(work, len(runs))

    async def wrong_with_history(self, work, runs):
        """Every step was saved once, each on top of the one before."""
        history = await self.get(f"/threads/{work.thread}/history", {"limit": 1000})
        steps = [state["metadata"]["step"] for state in history]
        expected = list(range(GRAPHS[work.graph].steps * runs - 2, -2, -1))
        if steps != expected:
            return f"expected the steps {expected}, got {steps}"
        for child, parent in zip(history, history[1:]):
            if child["parent_checkpoint"] != parent["checkpoint"]:
                return f"step {child['metadata']['step']} is not on top of the one before"
        return None

    async def settled_runs(self, thread):
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            runs = await self.get(f"/threads/{thread}/runs?limit=100")
            if not any(run["status"] in UNSETTLED for run in runs) or time.monotonic() > deadline:
                return runs
            await asyncio.sleep(0.1)

    async def check_streams(self, streams):
        for stream in streams:
            self.report(f"stream {stream.location}", await stream.wrong())
        events, breaks = sum(len(s.seen) for s in streams), sum(s.breaks for s in streams)
        print(f"{events} events on {len(streams)} streams, {breaks} broken connections")

    async def get(self, path, body=None):
        response = await (self.client.get(path) if body is None else self.client.post(path, json=body))
        return response.raise_for_status().json()

    def report(self, name, wrong):
        self.passed, self.failed = self.passed + (wrong is None), self.failed + (wrong is not None)
        if wrong:
            print(f"{name}: {wrong}", flush=True)


class Work:
    """A thread and the runs on it that the server has acknowledged."""

    def __init__(self, graph, wanted):
        self.graph, self.wanted = graph, wanted
        self.thread = str(uuid.uuid4())
        self.acknowledged = []
        self.in_doubt = 0  # requests whose answer never came: the run may be there or not


class Graph:
    """What a graph is given, and what a thread holds after so many runs of it."""

    def __init__(self, input, after, steps):
        self.input, self.after, self.steps = input, after, steps


GRAPHS = {
    "seq": Graph({"value": "x"}, lambda runs: {"value": "xabc", "log": ["a", "b", "c"] * runs}, 5),
    "slow": Graph({"ticks": 4, "delay": 0.1},
                  lambda runs: {"ticks": 4, "delay": 0.1, "done": ["work:4", "end"] * runs}, 4),
    "fanout": Graph({"items": [1, 2, 3]},
                    lambda runs: {"items": [1, 2, 3], "squares": [1, 4, 9] * runs, "total": 14 * runs}, 5),
}


class Stream:
    """A client that follows one resumable run to its end, whatever happens to the server."""

    def __init__(self, client, ticks):
        self.client, self.ticks = client, ticks
        self.location = None
        self.seen = []
        self.breaks = 0

    async def follow(self):
        while self.location is None:
            await self.attempt(self.start)
        while not await self.is_over():
            await self.attempt(self.go_on)

    async def attempt(self, connect):
        try:
            await connect()
        except httpx.HTTPError:
            self.breaks += 1
            await asyncio.sleep(random.uniform(0.05, 0.3))

    async def start(self):
        body = {"assistant_id": "slow", "input": {"ticks": self.ticks, "delay": 0.25}, "if_not_exists": "create",
                "stream_mode": ["custom", "values"], "stream_resumable": True}
        path = f"/threads/{uuid.uuid4()}/runs/stream"
        async with self.client.stream("POST", path, json=body) as response:
            response.raise_for_status()
            self.location = response.headers["location"]
            await self.read(response, self.seen)

    async def go_on(self):
        headers = {"Last-Event-ID": self.seen[-1]["id"] if self.seen else "-1"}
        async with self.client.stream("GET", self.location, headers=headers) as response:
            response.raise_for_status()
            await self.read(response, self.seen)

    async def read(self, response, into):
        block = []
        async for line in response.aiter_lines():
            if line:
                block.append(line)
            elif block:
                event = parse_event("\n".join(block).encode())
                block = []
                if "comment" not in event:
                    into.append(event)

    async def is_over(self):
        try:
            run = await self.client.get(self.location.removesuffix("/stream"))
            if run.status_code == 404:
                return True
            return run.status_code == 200 and run.json()["status"] not in UNSETTLED and await self.has_all()
        except httpx.HTTPError:
            await asyncio.sleep(0.2)
            return False

    async def has_all(self):
        """Nothing follows the last event seen. One more round of reading shows it."""
        before = len(self.seen)
        await self.go_on()
        return len(self.seen) == before

    async def wrong(self):
        whole = []
        async with self.client.stream("GET", self.location, headers={"Last-Event-ID": "-1"}) as response:
            await self.read(response, whole)
        if not self.seen or whole[-1:] and whole[-1]["event"] == "error":
            return f"the run is gone: {whole[-1:]}"
        ids = [event["id"] for event in self.seen]
        if len(set(ids)) != len(ids):
            return f"events came twice: {sorted(id for id in ids if ids.count(id) > 1)}"
        if self.seen != whole:
            position = next((n for n, pair in enumerate(zip(self.seen, whole)) if pair[0] != pair[1]), min(len(self.seen), len(whole)))
            return f"saw {len(self.seen)} events, the log has {len(whole)}; they part at event {position}"
        # An attempt that finds all told already says no more than that it is there.
        told = [event for event in self.seen if event["event"] != "metadata"]
        if told[-1]["data"].get("done") != [f"work:{self.ticks}", "end"]:
            return f"the last event is {told[-1]}"
        return wrong_with_ids(ids)


def wrong_with_ids(ids):
    """Numbers must follow each other without a gap; where a time stands before them they must at least grow."""
    parts = [tuple(int(part) for part in id.split("-")) for id in ids]
    if len({part[:-1] for part in parts}) > 1:
        return None if parts == sorted(parts) else f"ids out of order: {ids}"
    numbers = [part[-1] for part in parts]
    return None if numbers == list(range(numbers[0], numbers[0] + len(numbers))) else f"gaps in the ids {ids}"


if __name__ == "__main__":
    sys.exit(main())
