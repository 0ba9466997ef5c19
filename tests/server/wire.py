"""HTTP, server-sent events and WebSocket as a test wants them: raw, with what was really on the wire."""

import http.client
import json
import socket
import time
from urllib.parse import urlsplit

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

TIMEOUT = 40  # seconds without a byte before a server counts as hanging


class Exchange:
    """One request whose answer is read in pieces, on a connection of its own."""

    def __init__(self, url, request):
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
        self._connection.connect()
        self._socket = self._connection.sock
        body, headers = encode(request)
        self._connection.request(request["method"], request["path"], body, headers)
        self._response = self._connection.getresponse()
        self.status = self._response.status
        self.headers = {name.lower(): value for name, value in self._response.getheaders()}
        self._unread = b""

    @property
    def is_stream(self):
        return self.headers.get("content-type", "").startswith("text/event-stream")

    def whole(self):
        """The answer to an ordinary request."""
        text = self._response.read().decode()
        self.close()
        is_json = "json" in self.headers.get("content-type", "")
        return {"status": self.status, "headers": self.headers, "body": json.loads(text) if is_json and text else text}

    def stream(self, leave_after=None, linger=0):
        """The events until the server closes, or until the client leaves after so many, having lingered."""
        raw, items, closed_by = [], [], "client"
        while leave_after is None or len(items) < leave_after or linger:
            if leave_after is not None and len(items) >= leave_after:
                self._socket.settimeout(linger)
            block = self._next_block()
            if block is None:
                closed_by = "server"
                break
            if block == b"":
                break
            item = parse_event(block)
            if "comment" not in item:
                raw.append(block.decode())
            if leave_after is None or "comment" not in item:
                items.append(item)
        self.close()
        return {"status": self.status, "headers": self.headers, "sse": items, "closed_by": closed_by,
                "first_event_raw": raw[0] if raw else ""}

    def close(self):
        self._response.close()
        self._connection.close()

    def _next_block(self):
        """An event with its blank line; None at the end of the stream; empty when nothing comes."""
        while True:
            for separator in (b"\r\n\r\n", b"\n\n"):
                block, found, rest = self._unread.partition(separator)
                if found:
                    self._unread = rest
                    return block + found
            try:
                piece = self._response.read1(1 << 16)
            except (socket.timeout, TimeoutError):
                return b""
            if not piece:
                return None
            self._unread += piece


def call(url, request):
    """Sends a request and reads the whole answer."""
    exchange = Exchange(url, request)
    return exchange.stream() if exchange.is_stream else exchange.whole()


def encode(request):
    headers = dict(request.get("headers") or {})
    if "raw_body" in request:
        return request["raw_body"].encode(), headers
    if "body" not in request:
        return None, headers
    if not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = "application/json"
    return json.dumps(request["body"]).encode(), headers


def parse_event(block):
    item = {}
    for line in block.decode().replace("\r\n", "\n").strip("\n").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "":
            item["comment"] = value
        elif field == "data":
            item["data"] = json.loads(value) if value else None
        else:
            item[field] = value
    return item


class Socket:
    """A WebSocket conversation in JSON frames."""

    def __init__(self, url, path, headers):
        self._socket = connect(url.replace("http", "ws", 1) + path, additional_headers=headers or {})

    def send(self, text):
        self._socket.send(text)

    def receive(self, seconds):
        """The next frame, or None if none comes in that time."""
        try:
            return json.loads(self._socket.recv(timeout=seconds))
        except TimeoutError:
            return None

    def close(self):
        self._socket.close()


def upgrade(url, path, headers):
    """How the server answers a WebSocket upgrade: 'accepted' or the status."""
    try:
        Socket(url, path, headers).close()
        return "accepted"
    except InvalidStatus as refused:
        return str(refused.response.status_code)


def poll(condition, seconds, pause=0.05):
    """Waits until the condition holds. What it last said is returned."""
    deadline = time.monotonic() + seconds
    while not (result := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
    return result
