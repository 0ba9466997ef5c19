#!/usr/bin/env python3
"""Replays recorded exchanges with the Agent Server API against a running server.

  replay.py --url http://127.0.0.1:2024                  every file that an open server can answer
  replay.py --url ... --file 16_auth.json                a server with the keys of tests/data/server/README.md
  replay.py --url ... --file 05_runs.json --only list    one exchange; those before it are replayed silently
  replay.py --url ... --strict                           without the table of deliberate differences
  replay.py --differences                                prints that table

The server must be a test server with the thirteen demo graphs: before each file its crons, assistants,
threads and store items are deleted. What a server makes up (ids, times) is compared by label, what is
its own (versions, the texts of its errors) not at all; see labels.py and comparison.py.

Nothing sleeps for a fixed time. A request that needs an earlier run to have got somewhere waits for
that, and a read that does not agree is repeated while a run of its thread is still on its way.
"""

import argparse
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Empty, Queue

from comparison import EMPTY_IN_THREAD, INTERNAL, Comparison, events
from differences import DIFFERENCES, difference_for
from labels import Labels
from wire import Exchange, Socket, call, poll, upgrade

RECORDINGS = Path(__file__).resolve().parent.parent / "data" / "server" / "recordings"

# Not replayed by default: MCP and A2A are not served, and auth needs a server of its own.
SET_ASIDE = {"14_mcp.json", "15_a2a.json", "16_auth.json"}

# What the recorder did while it held these streams open; without it nothing would come.
MEANWHILE = {
    "thread stream run_modes": ("/runs/wait", {"assistant_id": "seq", "input": {"value": "ts"}, "stream_mode": "updates"}),
    "thread stream lifecycle": ("/runs/wait", {"assistant_id": "seq", "input": {"value": "ts"}}),
    "thread stream state_update": ("/state", {"values": {"value": "su"}, "as_node": "a"}),
}

# These were sent when the run had come to rest, although a run in progress could be asked as well.
AFTER_THE_RUN = {"join of interrupted run", "input.respond"}

# A run of `seq` may be over before the next request arrives. The recorded server never was that fast.
MAY_BE_OVER = {"thread is busy"}

# Streams on which the next event never comes: lingering shows that there is no event too many.
ENDLESS = re.compile(r"/threads/[^/]+/stream(/events)?(\?|$)")

# The recorder left before the last events of this one, which the two exchanges after it show.
LEFT_EARLY = {"events nested"}

UNSETTLED = {"pending", "running"}
KEYS = ["key-alice", "key-bob"]
SETTLE_SECONDS = 20
LINGER_SECONDS = 0.4


def main():
    options = parse_arguments()
    if options.differences:
        return print_differences()
    files = [options.file] if options.file else sorted(
        path.name for path in RECORDINGS.glob("*.json") if path.name not in SET_ASIDE)
    passed = failed = 0
    with Hook() as hook:
        for file in files:
            for title, differences in Replay(options, file, hook).run():
                passed, failed = passed + (not differences), failed + bool(differences)
                if differences:
                    print(f"{file}: {title}: {differences[0]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="where the server listens")
    parser.add_argument("--file", help="replay only this file")
    parser.add_argument("--only", help="report only the exchanges with this title")
    parser.add_argument("--strict", action="store_true", help="accept no deliberate difference")
    parser.add_argument("--differences", action="store_true", help="print the deliberate differences and stop")
    options = parser.parse_args()
    if not options.url and not options.differences:
        parser.error("--url is needed")
    return options


def print_differences():
    print(f"everywhere: {', '.join(sorted(INTERNAL))}: the recorded product's own notes may be left out")
    print(f"threads: {', '.join(EMPTY_IN_THREAD)}: may be shown while they are empty")
    for entry in DIFFERENCES:
        print(f"{entry.file}: {', '.join(entry.titles)}: {entry.reason}")
    return 0


class Replay:
    """One file, replayed from its first exchange to its last."""

    def __init__(self, options, file, hook):
        self.url, self.only, self.strict = options.url.rstrip("/"), options.only, options.strict
        self.file, self.hook = file, hook
        self.exchanges = json.loads((RECORDINGS / file).read_text())["exchanges"]
        self.responses = {exchange["title"]: exchange.get("response") for exchange in self.exchanges}
        self.labels = Labels({"<hook-host>": hook.address})
        self.cancelled = set()  # threads on which a run was told to stop, without waiting for it

    def run(self):
        sweep(self.url, KEYS if self.file == "16_auth.json" else [None])
        for exchange in self.exchanges:
            try:
                differences = self.replay(exchange)
            except Exception as error:  # whatever a server answers, the others are replayed too
                differences = [f"{type(error).__name__}: {error}"]
            if self.only in (None, exchange["title"]):
                yield exchange["title"], differences

    def replay(self, exchange):
        if exchange["title"] == "webhook delivery":
            return self.delivery(exchange["request"])
        request = self.labels.fill_in(exchange["request"])
        if "frames" in exchange:
            return self.conversation(request, exchange["frames"])
        if request["method"].endswith("(upgrade)"):
            return self.upgrade(request, exchange["response"]["result"])
        self.wait_before(exchange, request)
        return self.ordinary(exchange, request)

    def ordinary(self, exchange, request):
        started = time.monotonic()
        differences = self.attempt(exchange, request)
        if differences and is_read(request):
            differences = self.repeat(exchange, request, differences)
        least = exchange.get("elapsed_seconds_at_least", 0)
        # The clock of the run started a little earlier.
        if not differences and time.monotonic() - started < least - 0.2:
            differences = [f"answered after {time.monotonic() - started:.1f} s, expected at least {least} s"]
        if request["path"].split("?")[0].endswith("/cancel") and exchange["response"]["status"] == 202:
            self.cancelled.add(thread_of(request))
        return differences

    def repeat(self, exchange, request, differences):
        """A read may have come too early: it is repeated until it agrees, or nothing moves any more."""
        deadline, grace = time.monotonic() + SETTLE_SECONDS, time.monotonic() + 0.5
        while differences and time.monotonic() < deadline:
            moving = time.monotonic() < grace or self.is_unsettled(request)
            time.sleep(0.1)
            differences = self.attempt(exchange, request)
            if not moving:
                break
        return differences

    def attempt(self, exchange, request):
        """Sends the request and compares. The labels that the better reading has bound are kept."""
        actual = self.send(exchange, request)
        readings = [exchange["response"]]
        deliberate = None if self.strict else difference_for(self.file, exchange["title"])
        if deliberate:
            readings.append(deliberate.instead(exchange["response"], self.responses))
        outcomes = [self.compare(exchange, recorded, actual) for recorded in readings]
        best = next((outcome for outcome in outcomes if not outcome.differences), outcomes[-1])
        self.labels.take_over(best.labels)
        return best.differences

    def compare(self, exchange, recorded, actual):
        comparison = Comparison(self.labels.copy(), self.strict)
        if "late join" in exchange["title"] and "sse" in actual:
            comparison.suffix(recorded, actual)
        elif exchange["title"] in SHAPES:
            SHAPES[exchange["title"]](comparison, actual)
        elif exchange["title"] in MAY_BE_OVER and actual["body"].get("status") != recorded["body"]["status"]:
            over = {"status": actual["body"].get("status"), "values": actual["body"].get("values"), "error": None, "interrupts": {}}
            comparison.response({**recorded, "body": {**recorded["body"], **over}}, actual)
        else:
            comparison.response(recorded, actual)
        return comparison

    def send(self, exchange, request):
        recorded = exchange["response"]
        sent = Exchange(self.url, request)
        if not sent.is_stream:
            return sent.whole()
        meanwhile = self.start_meanwhile(exchange["title"], request)
        if recorded.get("closed_by") == "client":
            stays = ENDLESS.search(request["path"]) and exchange["title"] not in LEFT_EARLY
            actual = sent.stream(leave_after=len(events(recorded["sse"])), linger=LINGER_SECONDS if stays else 0)
        else:
            actual = sent.stream()
        if meanwhile:
            meanwhile.join()
        return actual

    def start_meanwhile(self, title, request):
        if title not in MEANWHILE:
            return None
        path, body = MEANWHILE[title]
        companion = {"method": "POST", "path": f"/threads/{thread_of(request)}{path}", "body": body}
        thread = threading.Thread(target=call, args=(self.url, companion))
        thread.start()
        return thread

    # Waiting for runs

    def wait_before(self, exchange, request):
        thread = thread_of(request)
        if thread in self.cancelled:
            poll(lambda: not self.is_unsettled(request), SETTLE_SECONDS)
            self.cancelled.discard(thread)
        elif exchange["title"] in AFTER_THE_RUN:
            poll(lambda: not self.is_unsettled(request), SETTLE_SECONDS)
        elif displaces_a_run(request) or "late join" in exchange["title"]:
            poll(lambda: self.is_under_way(request), SETTLE_SECONDS)

    def is_unsettled(self, request):
        return bool(UNSETTLED & set(self.statuses(request)))

    def is_under_way(self, request):
        """No run waits for its turn, or one has started and its first checkpoint can be seen."""
        statuses = self.statuses(request, delayed=False)
        if "running" not in statuses:
            return "pending" not in statuses
        return bool(self.get(request, "/state").get("next"))

    def statuses(self, request, delayed=True):
        if not thread_of(request):
            return []
        runs = self.get(request, "/runs?limit=100")
        if not isinstance(runs, list):
            return []
        return [run["status"] for run in runs if delayed or not is_delayed(run)]

    def get(self, request, what):
        path = f"/threads/{thread_of(request)}{what}"
        return call(self.url, {"method": "GET", "path": path, "headers": request.get("headers")})["body"]

    # What is not an ordinary request

    def delivery(self, recorded):
        delivered = self.hook.wait(10)
        if delivered is None:
            return ["the webhook was not called"]
        comparison = Comparison(self.labels, self.strict)
        comparison.equal("method", recorded["method"], delivered["method"])
        comparison.text("path", recorded["path"], delivered["path"])
        comparison.value("body", recorded["body"], delivered["body"])
        return comparison.differences

    def upgrade(self, request, recorded):
        expected = "accepted" if recorded == "accepted" else "refused with 401 or 403"
        result = upgrade(self.url, request["path"], request.get("headers"))
        result = "refused with 401 or 403" if result in ("401", "403") else result
        return [] if result == expected else [f"expected {expected}, got {result}"]

    def conversation(self, request, frames):
        """Frames in order. Where the recorder heard nothing more, nothing more may come."""
        comparison = Comparison(self.labels, self.strict)
        connection = Socket(self.url, request["path"], request.get("headers"))
        for index, frame in enumerate(frames):
            if "send_raw" in frame:
                connection.send(frame["send_raw"])
            elif "send" in frame:
                connection.send(json.dumps(self.labels.fill_in(frame["send"])))
            elif "recv" in frame:
                comparison.value(f"frame {index}", frame["recv"], connection.receive(SETTLE_SECONDS))
            else:
                comparison.equal(f"frame {index}", None, connection.receive(LINGER_SECONDS))
            if comparison.differences:
                break
        connection.close()
        return comparison.differences


# Exchanges whose recorded answer shows what a server counts about itself: only the shape is fixed.

def metrics_json(comparison, actual):
    comparison.equal("status", 200, actual["status"])
    comparison.equal("keys", {"queue", "workers"}, {"queue", "workers"} & set(actual["body"]))
    comparison.equal("queue", {"n_pending", "n_running"}, {"n_pending", "n_running"} & set(actual["body"]["queue"]))
    comparison.equal("workers", {"max", "active", "available"}, set(actual["body"]["workers"]))


def metrics_text(comparison, actual):
    comparison.equal("content type", "text/plain", actual["headers"].get("content-type", "").split(";")[0])
    lines = actual["body"].splitlines()
    for start in ("# HELP ", "# TYPE "):
        if not any(line.startswith(start) for line in lines):
            comparison.differ("body", f"no line starts with {start!r}")


def docs_page(comparison, actual):
    comparison.equal("status", 200, actual["status"])
    comparison.equal("content type", "text/html", actual["headers"].get("content-type", "").split(";")[0])


def storage(comparison, actual):
    body = actual["body"]
    comparison.equal("status", 200, actual["status"])
    comparison.equal("keys", {"thread_id", "total_bytes", "checkpoints", "channel_values", "pending_writes"}, set(body))
    for part in ("checkpoints", "channel_values", "pending_writes"):
        comparison.equal(f"types of {part}", [int, int], [type(body.get(part, {}).get(key)) for key in ("count", "bytes")])
    comparison.equal("checkpoints", 5, body.get("checkpoints", {}).get("count"))


SHAPES = {"metrics json": metrics_json, "metrics prometheus": metrics_text, "docs page": docs_page, "storage": storage}


def is_read(request):
    path = request["path"].split("?")[0]
    return request["method"] == "GET" or path.endswith(("/search", "/count", "/history", "/state/checkpoint"))


def displaces_a_run(request):
    body = request.get("body")
    strategy = body.get("multitask_strategy") if isinstance(body, dict) else None
    return "/cancel" in request["path"] or strategy in ("interrupt", "rollback")


def is_delayed(run):
    configurable = run.get("kwargs", {}).get("config", {}).get("configurable", {})
    return bool(configurable.get("__after_seconds__"))


def thread_of(request):
    found = re.match(r"/threads/([0-9a-f-]{36})", request["path"])
    return found[1] if found else None


def sweep(url, keys):
    """Removes what earlier replays have left, so that searches and counts find what they found then."""
    for key in keys:
        headers = {"x-api-key": key} if key else {}

        def ask(method, path, body=None):
            request = {"method": method, "path": path, "headers": headers}
            return call(url, request if body is None else {**request, "body": body})["body"]

        def found(path, body):
            rows = ask("POST", path, body)
            return rows if isinstance(rows, list) else []  # a server may not serve all of this

        ask("POST", "/runs/cancel", {"status": "all"})
        poll(lambda: not found("/threads/search", {"status": "busy"}), SETTLE_SECONDS)
        for cron in found("/runs/crons/search", {"limit": 1000}):
            ask("DELETE", f"/runs/crons/{cron['cron_id']}")
        for assistant in found("/assistants/search", {"limit": 1000}):
            if assistant["metadata"].get("created_by") != "system":
                ask("DELETE", f"/assistants/{assistant['assistant_id']}")
        for thread in found("/threads/search", {"limit": 1000}):
            ask("DELETE", f"/threads/{thread['thread_id']}")
        if not key:
            stored = ask("POST", "/store/items/search", {"namespace_prefix": [], "limit": 1000})
            for item in stored.get("items", []) if isinstance(stored, dict) else []:
                ask("DELETE", "/store/items", {"namespace": item["namespace"], "key": item["key"]})


class Hook:
    """A receiver of webhooks on this machine."""

    def __enter__(self):
        deliveries = self._deliveries = Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                deliveries.put({"method": "POST", "path": self.path, "body": body})
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def wait(self, seconds):
        try:
            return self._deliveries.get(timeout=seconds)
        except Empty:
            return None

    def __exit__(self, *_):
        self._server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
