#!/usr/bin/env python3
"""Calls every route of a server with auth as a stranger, and expects to be turned away.

  strangers.py --url http://127.0.0.1:2024                     keys key-alice and key-bob, as in tests/data/server
  strangers.py --url ... --shared-assistants                   assistants belong to everybody

The routes are those of /openapi.json and a few that it does not list, so a route that is added later is
checked too. Alice owns a thread, a run, a cron, an assistant and an item of the store. Then come a caller
without a key, one with a wrong key, and Bob, who knows all of Alice's ids and also hides them in bodies.
Whatever he is answered, Alice's secret must not be in it, and in the end everything is as she left it.
"""

import argparse
import json
import re
import sys
import uuid

from wire import Exchange, call, upgrade

PUBLIC = {"/", "/ok", "/info", "/metrics", "/docs", "/openapi.json"}
NOT_SERVED = ("/mcp", "/a2a")  # come later

# Served, but not part of the document.
UNLISTED = [("GET", "/threads/{thread_id}/stream"), ("POST", "/threads/{thread_id}/stream/events"),
            ("POST", "/threads/{thread_id}/commands")]

RUN = {"assistant_id": "seq", "input": {"value": "b"}}

# Bodies with which a route would do its work if the caller were allowed to.
BODIES = {
    "POST /assistants": {"graph_id": "seq", "assistant_id": "{assistant_id}"},
    "PATCH /assistants/{assistant_id}": {"name": "taken"},
    "POST /assistants/{assistant_id}/latest": {"version": 1},
    "POST /threads": {"thread_id": "{thread_id}"},
    "POST /threads/prune": {"thread_ids": ["{thread_id}"]},
    "PATCH /threads/{thread_id}": {"metadata": {"owner": "bob", "taken": True}},
    "POST /threads/{thread_id}/state": {"values": {"value": "taken"}, "as_node": "a"},
    "POST /threads/{thread_id}/state/checkpoint": {"checkpoint": {"thread_id": "{thread_id}", "checkpoint_id": "{checkpoint_id}"}},
    "POST /threads/{thread_id}/runs": RUN,
    "POST /threads/{thread_id}/runs/stream": RUN,
    "POST /threads/{thread_id}/runs/wait": RUN,
    "POST /threads/{thread_id}/runs/crons": {"schedule": "0 3 * * *", **RUN},
    "POST /threads/{thread_id}/commands": {"id": 1, "method": "run.start", "params": RUN},
    "POST /threads/{thread_id}/stream/events": {"channels": ["values", "lifecycle"]},
    "POST /runs": RUN,
    "POST /runs/wait": RUN,
    "POST /runs/stream": RUN,
    "POST /runs/batch": [RUN],
    "POST /runs/cancel": {"thread_id": "{thread_id}", "run_ids": ["{run_id}"]},
    "POST /runs/crons": {"schedule": "0 3 * * *", **RUN},
    "PATCH /runs/crons/{cron_id}": {"schedule": "0 4 * * *"},
    "PUT /store/items": {"namespace": ["alice", "box"], "key": "k", "value": {"taken": True}},
    "DELETE /store/items": {"namespace": ["alice", "box"], "key": "k"},
    "POST /store/items/search": {"namespace_prefix": ["alice"]},
    "POST /store/namespaces": {"prefix": ["alice"]},
}
QUERIES = {"GET /store/items": "?namespace=alice.box&key=k"}

# Routes that belong to nobody: Bob may call them, and finds nothing of Alice's.
BOBS_TOO = {"POST /assistants/search", "POST /assistants/count", "POST /threads/search", "POST /threads/count",
            "POST /threads/prune", "POST /runs", "POST /runs/wait", "POST /runs/stream", "POST /runs/batch",
            "POST /runs/crons", "POST /runs/crons/search", "POST /runs/crons/count"}

TURNED_AWAY = {401, 403, 404}


def main():
    options = parse_arguments()
    trial = Trial(options)
    trial.settle_in()
    for method, path in trial.routes():
        trial.without_a_key(method, path)
        trial.as_bob(method, path)
    trial.smuggle()
    trial.over_the_socket()
    trial.nothing_has_changed()
    print(f"{trial.passed} passed, {trial.failed} failed")
    return 1 if trial.failed else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--alice", default="key-alice", help="the key of a user named alice")
    parser.add_argument("--bob", default="key-bob", help="the key of a user named bob")
    parser.add_argument("--shared-assistants", action="store_true", help="everybody may use and change assistants")
    return parser.parse_args()


class Trial:
    def __init__(self, options):
        self.url, self.options = options.url.rstrip("/"), options
        self.alice, self.bob = options.alice, options.bob
        self.secret = f"secret-{uuid.uuid4()}"
        self.ids = {"namespace": "child", "node_id": "a"}
        self.passed = self.failed = 0

    def settle_in(self):
        """Alice makes everything that Bob will be after."""
        def made(method, path, body):
            answer = self.call(method, path, self.alice, body)
            if answer["status"] >= 300:
                sys.exit(f"alice cannot {method} {path}: {answer['status']} {answer['body']}")
            return answer["body"]

        self.ids["thread_id"] = thread = made("POST", "/threads", {"metadata": {"mine": self.secret}})["thread_id"]
        made("POST", f"/threads/{thread}/runs/wait", {"assistant_id": "seq", "input": {"value": self.secret}})
        self.ids["run_id"] = made("GET", f"/threads/{thread}/runs", None)[0]["run_id"]
        self.ids["checkpoint_id"] = made("GET", f"/threads/{thread}/state", None)["checkpoint"]["checkpoint_id"]
        self.ids["assistant_id"] = made("POST", "/assistants", {"graph_id": "ctx", "metadata": {"mine": self.secret}})["assistant_id"]
        cron = {"assistant_id": "seq", "schedule": "0 3 * * *", "input": {"value": self.secret}}
        self.ids["cron_id"] = made("POST", "/runs/crons", cron)["cron_id"]
        made("PUT", "/store/items", {"namespace": ["alice", "box"], "key": "k", "value": {"v": self.secret}})
        self.before = self.look()

    def routes(self):
        paths = self.call("GET", "/openapi.json", self.alice)["body"]["paths"]
        listed = [(method.upper(), path) for path, operations in paths.items() for method in operations
                  if method in ("get", "post", "put", "patch", "delete")]
        every = sorted(set(listed + UNLISTED))
        # Deleting comes last: were it allowed, it would hide what else is.
        every.sort(key=lambda route: route[0] == "DELETE")
        return [route for route in every if route[1] not in PUBLIC and not route[1].startswith(NOT_SERVED)]

    def without_a_key(self, method, path):
        for who, key in (("nobody", None), ("a wrong key", "key-mallory"), ("an empty key", "")):
            status = self.send(method, path, key)["status"]
            self.report(f"{method} {path} with {who}", status in (401, 403), f"expected 401 or 403, got {status}")

    def as_bob(self, method, path):
        route = f"{method} {path}"
        answer = self.send(method, path, self.bob)
        if self.options.shared_assistants and path.startswith("/assistants"):
            return
        self.report(f"{route} as bob: the secret", self.secret not in json.dumps(answer), "it is in the answer")
        if route in BOBS_TOO or is_refused_in_its_own_way(answer):
            return
        # A thread or assistant cannot be made or copied over Alice's: the id is taken.
        allowed = TURNED_AWAY | ({409} if route in ("POST /threads", "POST /assistants", "POST /threads/{thread_id}/copy") else set())
        self.report(f"{route} as bob", answer["status"] in allowed, f"expected {sorted(allowed)}, got {answer['status']} {str(answer.get('body'))[:120]}")

    def smuggle(self):
        """Bob puts Alice's ids where only his own belong: into bodies of requests that he may make."""
        mine = self.call("POST", "/threads", self.bob, {"metadata": {"owner": "alice"}})["body"]
        thread, hers = mine["thread_id"], {"thread_id": self.ids["thread_id"], "checkpoint_id": self.ids["checkpoint_id"], "checkpoint_ns": ""}
        self.report("the owner of a new thread is its maker", mine["metadata"].get("owner") == "bob", str(mine["metadata"]))
        self.call("POST", f"/threads/{thread}/runs/wait", self.bob, RUN)
        configurable = {"configurable": {**hers, "langgraph_auth_user_id": "alice", "user_id": "alice"}}
        resume = {"assistant_id": "seq", "input": None}
        for method, path, body in [
            ("POST", f"/threads/{thread}/history", {"checkpoint": hers}),
            ("POST", f"/threads/{thread}/history", {"before": {"configurable": hers}}),
            ("POST", f"/threads/{thread}/state/checkpoint", {"checkpoint": hers}),
            ("GET", f"/threads/{thread}/state/{hers['checkpoint_id']}", None),
            ("POST", f"/threads/{thread}/state", {"values": {"value": "taken"}, "as_node": "a", "checkpoint": hers}),
            ("POST", f"/threads/{thread}/runs/wait", {**resume, "checkpoint": hers}),
            ("POST", f"/threads/{thread}/runs/wait", {**resume, "config": configurable}),
            ("POST", f"/threads/{thread}/runs/stream", {**RUN, "config": configurable}),
            ("POST", "/runs/wait", {**RUN, "config": configurable}),
            ("POST", "/runs/wait", {**resume, "config": configurable}),
            ("POST", "/runs/batch", [{**RUN, "thread_id": self.ids["thread_id"], "config": configurable}]),
            ("POST", f"/threads/{thread}/commands", {"id": 1, "method": "run.start", "params": {"assistant_id": "seq", "config": configurable}}),
            ("GET", f"/threads/{thread}/runs/{self.ids['run_id']}", None),
            ("GET", f"/threads/{thread}/runs/{self.ids['run_id']}/join", None),
            ("DELETE", f"/threads/{thread}/runs/{self.ids['run_id']}", None),
            ("POST", f"/threads/{thread}/runs/{self.ids['run_id']}/cancel?action=rollback", None),
            ("POST", "/runs/cancel?action=rollback", {"status": "all"}),
            ("POST", "/threads/search", {"metadata": {"owner": "alice"}}),
            ("POST", "/threads/search", {"ids": [self.ids["thread_id"]]}),
            ("POST", "/threads/search", {"values": {"value": self.secret + "abc"}}),
            ("POST", "/runs/crons/search", {"metadata": {"owner": "alice"}}),
            ("POST", "/store/items/search", {"namespace_prefix": []}),
            ("POST", "/store/namespaces", {}),
            ("POST", "/threads/prune", {"thread_ids": [self.ids["thread_id"]]}),
            ("PATCH", f"/threads/{thread}", {"metadata": {"owner": "alice"}}),
        ]:
            answer = self.call(method, path, self.bob, body)
            text = json.dumps(answer)
            shown = f"{method} {re.sub('[0-9a-f-]{36}', '{id}', path)} {json.dumps(body)[:60]}"
            self.report(f"smuggled: {shown}", self.secret not in text and answer["status"] < 500, f"{answer['status']} {text[:200]}")
        own = self.call("GET", f"/threads/{thread}", self.bob)
        self.report("a thread cannot be given away", own["status"] == 200, f"{own['status']}")

    def over_the_socket(self):
        path = f"/threads/{self.ids['thread_id']}/stream/events"
        for who, headers in (("nobody", {}), ("a wrong key", {"x-api-key": "key-mallory"})):
            result = upgrade(self.url, path, headers)
            self.report(f"WebSocket with {who}", result in ("401", "403"), f"expected 401 or 403, got {result}")
        result = upgrade(self.url, path, {"x-api-key": self.alice})
        self.report("WebSocket as alice", result == "accepted", result)

    def nothing_has_changed(self):
        after = self.look()
        for name, seen in self.before.items():
            self.report(f"alice's {name} is as she left it", after[name] == seen, f"{str(seen)[:150]} became {str(after[name])[:150]}")

    def look(self):
        ids = self.ids
        seen = {
            "thread": f"/threads/{ids['thread_id']}", "state": f"/threads/{ids['thread_id']}/state",
            "runs": f"/threads/{ids['thread_id']}/runs", "cron": f"/runs/crons/{ids['cron_id']}",
            "item": "/store/items?namespace=alice.box&key=k",
        }
        if not self.options.shared_assistants:
            seen["assistant"] = f"/assistants/{ids['assistant_id']}"
        return {name: self.call("GET", path, self.alice)["body"] for name, path in seen.items()}

    def send(self, method, path, key):
        route = f"{method} {path}"
        body = self.fill_in(BODIES.get(route, {} if method in ("POST", "PATCH", "PUT") else None))
        return self.call(method, self.fill_in(path) + QUERIES.get(route, ""), key, body)

    def fill_in(self, template):
        text = template if isinstance(template, str) else json.dumps(template)
        text = re.sub(r"\{(\w+)\}", lambda found: self.ids.get(found[1], "x"), text)
        return text if isinstance(template, str) else json.loads(text)

    def call(self, method, path, key, body=None):
        request = {"method": method, "path": path, "headers": {} if key is None else {"x-api-key": key}}
        exchange = Exchange(self.url, request if body is None else {**request, "body": body})
        if not exchange.is_stream:
            return exchange.whole()
        if exchange.status >= 300 or "/threads/" not in path or "/runs/" in path:
            return exchange.stream()
        return exchange.stream(leave_after=0, linger=1)  # these never end

    def report(self, name, good, wrong):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"{name}: {wrong}", flush=True)


def is_refused_in_its_own_way(answer):
    """Commands are refused inside the protocol; a stream may open and say nothing but an error."""
    if "sse" in answer:
        return all(event.get("event") == "error" for event in answer["sse"])
    body = answer.get("body")
    return answer["status"] == 200 and isinstance(body, dict) and body.get("type") == "error" and "404" in body["message"]


if __name__ == "__main__":
    sys.exit(main())
