"""Compares what a server answered with what was recorded.

Every difference is collected rather than only the first, so that labels further on are bound all the
same and the exchanges that follow can be replayed.
"""

from labels import LABEL

# Headers that a client reads. The others (date, server, vary, ...) are each server's own.
HEADERS = [
    "content-type", "location", "content-location", "x-pagination-total", "x-pagination-next", "allow",
    "cache-control", "x-accel-buffering", "access-control-allow-origin", "access-control-max-age",
    "access-control-expose-headers",
]

# Names and versions of the product that answers: any text will do.
PRODUCT = {"version", "langgraph_py_version", "langgraph_version", "langgraph_api_version", "langgraph_plan",
           "langgraph_host", "langgraph_api_url", "lc_versions"}

# What the recorded product notes down for its own operation. No client reads it, so another server may
# leave it out; what it says under these names is its own affair.
INTERNAL = PRODUCT - {"version"} | {
    "langgraph_request_id", "langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions",
    "__request_start_time_ms__", "__after_seconds__", "__pregel_node_finished", "ls_integration",
}

# The recorded server shows these of a thread only once something has set them. Shown empty they say the same.
EMPTY_IN_THREAD = {"error": None, "interrupts": {}}

# An error of this type comes out of a demo graph, so its text is fixed; the texts of a server's own
# errors are free.
RAISED_BY_GRAPHS = {"ValueError"}


class Comparison:
    def __init__(self, labels, strict):
        self.labels = labels
        self.strict = strict
        self.differences = []

    def response(self, recorded, actual):
        self.equal("status", recorded["status"], actual["status"])
        self.headers(recorded["headers"], actual["headers"])
        if "sse" in recorded:
            self.stream(recorded, actual)
        elif "body" in recorded:
            self.body(recorded, actual)

    def headers(self, recorded, actual):
        for name in HEADERS:
            if name in recorded and name not in actual:
                self.differ(f"header {name}", f"missing, expected {recorded[name]!r}")
            elif name in recorded:
                self.text(f"header {name}", plain(name, recorded[name]), plain(name, actual[name]))

    def body(self, recorded, actual):
        if recorded["status"] >= 400 and set(recorded["body"]) == {"detail"}:
            self.detail(actual["body"])
        else:
            self.value("body", recorded["body"], actual["body"])

    def detail(self, body):
        if not isinstance(body, dict) or not isinstance(body.get("detail"), str) or not body["detail"]:
            self.differ("body", f"expected an object with a text 'detail', got {shorten(body)}")

    def stream(self, recorded, actual):
        if "sse" not in actual:
            return self.differ("body", f"expected an event stream, got {shorten(actual.get('body'))}")
        expected, seen = events(recorded["sse"]), events(actual["sse"])
        for index, (one, other) in enumerate(zip(expected, seen)):
            self.value(f"event {index}", one, other)
        if len(expected) != len(seen):
            self.differ("events", f"expected {names(expected)}, got {names(seen)}")
        if len(expected) != len(recorded["sse"]) and len(seen) == len(actual["sse"]):
            self.differ("events", "expected a comment as heartbeat, got none")
        self.equal("closed by", recorded["closed_by"], actual["closed_by"])
        self.framing(recorded["first_event_raw"], actual["first_event_raw"])

    def framing(self, recorded, actual):
        """The fields of an event come in the recorded order, each on one line."""
        if recorded and actual:
            self.equal("fields of the first event", fields(recorded), fields(actual))

    def suffix(self, recorded, actual):
        """Of a stream that was joined late each side may have seen less of the beginning."""
        expected, seen = events(recorded["sse"]), events(actual["sse"])
        self.equal("closed by", recorded["closed_by"], actual["closed_by"])
        common = min(len(expected), len(seen))
        if common < 2:
            return self.differ("events", f"expected the end of {names(expected)}, got {names(seen)}")
        for index in range(-common, 0):
            self.value(f"event {index}", expected[index], seen[index])

    def value(self, path, recorded, actual):
        if isinstance(recorded, dict) and isinstance(actual, dict):
            self.object(path, recorded, actual)
        elif isinstance(recorded, list) and isinstance(actual, list):
            self.list(path, recorded, actual)
        elif isinstance(recorded, str) and LABEL.search(recorded):
            self.text(path, recorded, str(actual) if recorded == "<ms>" else actual)
        elif type(recorded) in (int, float) and type(actual) in (int, float):
            self.equal(path, recorded, actual)
        elif type(recorded) is not type(actual) or recorded != actual:
            self.differ(path, f"expected {shorten(recorded)}, got {shorten(actual)}")

    def object(self, path, recorded, actual):
        pairs, missing, extra = self.pair_up(recorded, actual)
        own_error = is_error(recorded) and recorded["error"] not in RAISED_BY_GRAPHS
        for one, other in pairs:
            if one in PRODUCT or (own_error and one == "message"):
                self.equal(f"type of {path}.{other}", type(recorded[one]), type(actual[other]))
            elif self.strict or one not in INTERNAL:
                self.value(f"{path}.{other}", recorded[one], actual[other])
        for key in missing:
            if not self.may_lack(recorded, key):
                self.differ(f"{path}.{key}", f"missing, expected {shorten(recorded[key])}")
        for key in extra:
            if not self.may_lack(actual, key):
                self.differ(f"{path}.{key}", f"not expected, got {shorten(actual[key])}")

    def may_lack(self, holder, key):
        """Whether one side may leave out what the other one, `holder`, has under this key."""
        if self.strict:
            return False
        is_thread = "thread_id" in holder and "config" in holder
        is_empty = is_thread and key in EMPTY_IN_THREAD and holder[key] == EMPTY_IN_THREAD[key]
        # Clients read what an interrupt asks under different names; both may be there.
        is_question = key == "value" and "interrupt_id" in holder and holder.get("payload") == holder[key]
        return key in INTERNAL or is_empty or is_question

    def pair_up(self, recorded, actual):
        """Keys that belong together. Keys may be labels too: unknown ones go with what is left, in order."""
        pairs = [(key, key) for key in recorded if key in actual]
        left = [key for key in actual if key not in recorded]
        missing = []
        for key in recorded:
            if key in actual:
                continue
            fitting = next((other for other in left if LABEL.search(key) and not self.labels.match(key, other)), None)
            if fitting is None:
                missing.append(key)
            else:
                left.remove(fitting)
                pairs.append((key, fitting))
        return pairs, missing, left

    def list(self, path, recorded, actual):
        if len(recorded) != len(actual):
            self.differ(path, f"expected {len(recorded)} elements, got {len(actual)}: {shorten(actual)}")
        for index, (one, other) in enumerate(zip(recorded, actual)):
            self.value(f"{path}[{index}]", one, other)

    def text(self, path, recorded, actual):
        wrong = self.labels.match(recorded, actual) if isinstance(actual, str) else f"expected text, got {shorten(actual)}"
        if wrong:
            self.differ(path, wrong)

    def equal(self, path, recorded, actual):
        if recorded != actual:
            self.differ(path, f"expected {recorded!r}, got {actual!r}")

    def differ(self, path, text):
        self.differences.append(f"{path}: {text}")


def plain(name, value):
    """A header without what varies freely: spaces and letter case of a content type."""
    return value.replace(" ", "").lower() if name == "content-type" else value


def is_error(value):
    return isinstance(value.get("error"), str) and isinstance(value.get("message"), str)


def events(items):
    return [item for item in items if "comment" not in item]


def names(items):
    return [item["event"] for item in items]


def fields(raw):
    return [line.split(":", 1)[0] for line in raw.replace("\r\n", "\n").strip("\n").split("\n")]


def shorten(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."
