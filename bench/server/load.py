"""Load on a server: many requests by wrk, single requests and streams by a thin client of our own."""

import asyncio
import json
import os
import shutil
import statistics
import time
from pathlib import Path
from urllib.parse import urlsplit

SCRIPT = Path(__file__).resolve().parent / "post.lua"


class LoadError(Exception):
    pass


async def hammer(url, connections, seconds, method, path, body=None):
    """Requests one after the other on each of the connections. Returns requests per second and latencies."""
    wrk = shutil.which("wrk")
    if not wrk:
        raise LoadError("wrk is not installed (Debian: wrk)")
    command = [wrk, "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s", "-s", str(SCRIPT), url,
               "--", method, path, "" if body is None else json.dumps(body)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, errors = await process.communicate()
    line = next((line for line in out.decode().splitlines() if line.startswith("REPORT ")), None)
    if line is None:
        raise LoadError(f"wrk: {out.decode()}{errors.decode()}")
    report = json.loads(line.removeprefix("REPORT "))
    if report["errors"]:
        raise LoadError(f"{report['errors']} of {report['requests']} requests to {path} failed")
    return {"per_second": report["requests"] / report["seconds"], "p50_ms": report["p50_ms"], "p99_ms": report["p99_ms"]}


class Connection:
    """One connection that is kept open. It knows just as much HTTP as these servers speak."""

    def __init__(self, url):
        parts = urlsplit(url)
        self._host, self._port = parts.hostname, parts.port
        self._reader = self._writer = None

    async def ask(self, method, path, body=None):
        """The status and the whole body."""
        status, headers = await self.send(method, path, body)
        pieces = [piece async for piece in self.pieces(headers)]
        return status, b"".join(pieces)

    async def send(self, method, path, body=None):
        """Sends a request and reads the head of the answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        content = b"" if body is None else json.dumps(body).encode()
        head = (f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n")
        self._writer.write(head.encode() + content)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        return int(lines[0].split()[1]), headers

    async def pieces(self, headers):
        """The body as it arrives."""
        if "content-length" in headers:
            yield await self._reader.readexactly(int(headers["content-length"]))
            return
        while size := int((await self._reader.readline()).split(b";")[0], 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)

    def close(self):
        if self._writer:
            self._writer.close()
            self._writer = None


async def new_thread(url):
    connection = Connection(url)
    status, body = await connection.ask("POST", "/threads", {})
    connection.close()
    if status != 200:
        raise LoadError(f"POST /threads: {status}")
    return json.loads(body)["thread_id"]


async def follow_stream(url, thread, body):
    """Runs a graph on a stream. Returns when its first event and its end came, in milliseconds."""
    connection = Connection(url)
    await connection.ask("GET", "/ok")  # what is measured is not the making of a connection
    started, first, events = time.perf_counter(), None, 0
    status, headers = await connection.send("POST", f"/threads/{thread}/runs/stream", body)
    if status != 200:
        raise LoadError(f"runs/stream: {status}")
    async for piece in connection.pieces(headers):
        first = first or time.perf_counter()
        events += piece.count(b"event: ")
    connection.close()
    return {"first_ms": (first - started) * 1e3, "end_ms": (time.perf_counter() - started) * 1e3, "events": events}


def resident_megabytes(pid):
    """Memory of a process and all its children."""
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        try:
            status = Path(f"/proc/{process}/status").read_text()
            total += next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            for task in os.listdir(f"/proc/{process}/task"):
                waiting += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
        except (FileNotFoundError, ProcessLookupError, StopIteration):
            pass
    return total / 1024


def median_of(rows):
    """Key by key the median of several measurements."""
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}
