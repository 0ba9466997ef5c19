#!/usr/bin/env python3
"""An OpenAI-compatible endpoint for tests: a good one, or one that fails as told.

    server.py [--minilm] COMMAND [ARGUMENT...]

serves on a free port of the loopback, runs the command with OPENAI_BASE_URL set to the endpoint, and
ends with its status. With --minilm, BASE/embeddings answers with vectors of that model. Otherwise
the tests put the name of a behaviour and one of their own behind the base:

    BASE/BEHAVIOUR/NAME/embeddings      answers as BEHAVIOURS below say
    BASE/BEHAVIOUR/NAME/requests        what came there so far, each with the port it came from

The vector of a text is its length, its first byte, and 1; or longer or shorter, if so asked.
"""

import base64
import json
import os
import struct
import subprocess
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE = "/v1"


def vector_of(text, dimensions=3):
    data = text.encode()
    return ([float(len(data)), float(data[0]), 1.0] + [0.0] * dimensions)[:dimensions]


def entries(asked):
    return [{"object": "embedding", "index": index, "embedding": vector_of(text, asked.get("dimensions", 3))}
            for index, text in enumerate(asked["input"])]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        path = self.path[self.path.index(BASE) + len(BASE):].strip("/").split("/")
        if len(path) == 1:
            return self.answer_minilm(asked)
        behaviour, name, call = path
        if call == "requests":
            return self.send(200, self.server.requests_of(behaviour, name))
        request = {"port": self.client_address[1], "target": self.path, "headers": dict(self.headers), "body": asked}
        number = self.server.note(behaviour, name, request)
        BEHAVIOURS[behaviour](self, asked, number)

    def answer_minilm(self, asked):
        vectors = self.server.minilm_vectors(asked["input"])
        self.send(200, {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]})

    def answer(self, asked):
        self.send_entries(entries(asked))

    def send_entries(self, data):
        self.send(200, {"object": "list", "data": data, "model": "test"})

    def send(self, status, body, headers=()):
        self.send_bytes(status, json.dumps(body).encode(), [("Content-Type", "application/json"), *headers])

    def refuse(self, status, message, headers=()):
        self.send(status, {"error": {"message": message}}, headers)

    def send_bytes(self, status, body, headers=(), size=None):
        self.send_response(status)
        for header, value in headers:
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body) if size is None else size))
        self.end_headers()
        self.wfile.write(body)

    def hang(self):
        """Until the client gives up."""
        self.rfile.read(1)
        self.close_connection = True

    def cut(self):
        self.send_bytes(200, b'{"data": [{"index": 0, "embed', size=1000)
        self.close_connection = True

    def log_message(self, *arguments):
        pass


# ---- How an endpoint may behave: a function of the handler, what was asked, and how many requests
# were there before.

BEHAVIOURS = {}


def behaviour(function):
    BEHAVIOURS[function.__name__] = function
    return function


@behaviour
def good(handler, asked, number):
    handler.answer(asked)


@behaviour
def fails_twice(handler, asked, number):
    handler.refuse(500, "out of memory") if number < 2 else handler.answer(asked)


@behaviour
def fails(handler, asked, number):
    handler.refuse(503, "the model is being loaded")


@behaviour
def conflicts_once(handler, asked, number):
    handler.refuse(409, "locked") if number < 1 else handler.answer(asked)


@behaviour
def asks_to_wait(handler, asked, number):
    handler.refuse(429, "slow down", [("Retry-After", "7")]) if number < 1 else handler.answer(asked)


@behaviour
def asks_to_wait_an_hour(handler, asked, number):
    handler.refuse(429, "the quota is used up", [("Retry-After", "3600")])


@behaviour
def knows_no_key(handler, asked, number):
    handler.refuse(401, "Incorrect API key: " + handler.headers.get("Authorization", "none"))


@behaviour
def forbids_and_quotes_the_headers(handler, asked, number):
    handler.refuse(403, f"not for {handler.headers['Authorization']} of {handler.headers['X-Tenant']}")


@behaviour
def knows_no_model(handler, asked, number):
    handler.refuse(404, f"The model `{asked['model']}` does not exist")


@behaviour
def refuses(handler, asked, number):
    handler.refuse(400, "'$.input' is invalid\nand this is another line")


@behaviour
def has_moved(handler, asked, number):
    handler.send_bytes(308, b"", [("Location", "/elsewhere/embeddings")])


@behaviour
def hangs(handler, asked, number):
    handler.hang()


@behaviour
def hangs_once(handler, asked, number):
    handler.hang() if number < 1 else handler.answer(asked)


@behaviour
def cuts(handler, asked, number):
    handler.cut()


@behaviour
def cuts_once(handler, asked, number):
    handler.cut() if number < 1 else handler.answer(asked)


@behaviour
def closes_at_once(handler, asked, number):
    handler.close_connection = True


@behaviour
def answers_a_page(handler, asked, number):
    handler.send_bytes(200, b"<html>\n<body>Welcome</body>\n</html>")


@behaviour
def answers_nothing(handler, asked, number):
    handler.send_bytes(200, b"")


@behaviour
def answers_an_error(handler, asked, number):
    handler.refuse(200, "no model is loaded")


@behaviour
def leaves_one_out(handler, asked, number):
    handler.send_entries(entries(asked)[:-1])


@behaviour
def makes_one_longer(handler, asked, number):
    data = entries(asked)
    data[-1]["embedding"].append(4.0)
    handler.send_entries(data)


@behaviour
def makes_each_batch_longer(handler, asked, number):
    handler.send_entries(entries(asked | {"dimensions": 3 + len(asked["input"])}))


@behaviour
def ignores_dimensions(handler, asked, number):
    handler.send_entries(entries(asked | {"dimensions": 3}))


@behaviour
def makes_nan(handler, asked, number):
    data = entries(asked)
    data[-1]["embedding"][1] = float("nan")
    handler.send_entries(data)


@behaviour
def answers_backwards(handler, asked, number):
    handler.send_entries(entries(asked)[::-1])


@behaviour
def answers_in_base64(handler, asked, number):
    data = entries(asked)
    for entry in data:
        packed = struct.pack(f"<{len(entry['embedding'])}f", *entry["embedding"])
        entry["embedding"] = base64.b64encode(packed).decode()
    handler.send_entries(data)


@behaviour
def fails_for_bad_and_hangs_for_others(handler, asked, number):
    handler.refuse(400, "bad text") if asked["input"] == ["bad"] else handler.hang()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, model):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
        self.mutex = threading.Lock()
        self.noted = defaultdict(list)

    def note(self, behaviour, name, request):
        with self.mutex:
            requests = self.noted[behaviour, name]
            requests.append(request)
            return len(requests) - 1

    def requests_of(self, behaviour, name):
        with self.mutex:
            return list(self.noted[behaviour, name])

    def minilm_vectors(self, texts):
        return [self.model.embed(text).tolist() for text in texts]

    def handle_error(self, request, client_address):
        pass  # a client that gave up


def load_minilm():
    # Threads of NumPy spin while they wait for each other, which takes minutes on a busy machine.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from minilm import MiniLm
    return MiniLm()


def main(arguments):
    wants_minilm = arguments[:1] == ["--minilm"]
    server = Server(load_minilm() if wants_minilm else None)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment["OPENAI_BASE_URL"] = f"http://127.0.0.1:{server.server_port}{BASE}"
    environment.pop("OPENAI_API_KEY", None)
    try:
        return subprocess.run(arguments[wants_minilm:], env=environment).returncode
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
