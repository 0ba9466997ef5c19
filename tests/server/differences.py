"""Where Clew answers otherwise than the recorded server, on purpose.

Each entry names an exchange (a file and its title; several exchanges of a file may share one) and says
why, and what the answer must be instead. The recorded answer passes as well: so the same table holds
for the server that was recorded. `replay.py --strict` leaves the table out.
"""

import copy
from dataclasses import dataclass
from typing import Callable


@dataclass
class Difference:
    file: str
    titles: list
    reason: str
    # Makes the answer that is expected out of the recorded one and the others of its file, by title.
    instead: Callable


def changed(**changes):
    """The recorded answer with some keys of its body replaced."""
    def instead(response, _):
        response = copy.deepcopy(response)
        rows = response["body"] if isinstance(response["body"], list) else [response["body"]]
        for row in rows:
            row.update(changes)
        return response
    return instead


def answer(status, body):
    return lambda response, _: {"status": status, "headers": {"content-type": "application/json"}, "body": body}


def answer_of(title):
    return lambda _, responses: copy.deepcopy(responses[title])


def first_row_only(response, _):
    """The newest state, whose parent is gone."""
    return {**response, "body": [{**row, "parent_checkpoint": None, "parent_checkpoint_id": None}
                                 for row in copy.deepcopy(response["body"][:1])]}


def text_content(response, _):
    """The message as its node made it."""
    response = copy.deepcopy(response)
    message = response["sse"][10]["data"]["params"]["data"]["messages"][1]
    message["content"] = message["content"][0]["text"]
    del message["response_metadata"]
    return response


def without_headers(*names):
    return lambda response, _: {**response, "headers": {
        name: value for name, value in response["headers"].items() if name not in names}}


REFUSED = {"detail": "free text"}

DIFFERENCES = [
    Difference("01_meta.json", ["CORS preflight"],
               "Cross-origin calls are off unless the configuration names origins; then no route takes OPTIONS.",
               lambda response, _: {"status": 405, "headers": {"content-type": "application/json"}, "body": REFUSED}),
    Difference("01_meta.json", ["CORS simple"],
               "Cross-origin calls are off unless the configuration names origins.",
               without_headers("access-control-allow-origin", "access-control-expose-headers")),
    Difference("02_assistants.json", ["set latest to 1", "get after set latest", "search by metadata"],
               "An older version comes back whole: its context too, not only its config.",
               changed(context={"tone": "loud"})),
    Difference("02_assistants.json", ["run with assistant context"],
               "The run sees the context of the version that is the latest.",
               changed(text="loud:hi")),
    Difference("03_threads.json", ["copy"],
               "A copied thread has its values at once, as a later read of it would show.",
               changed(values={"value": "qabc", "log": ["a", "b", "c"]}, error=None, interrupts={})),
    Difference("03_threads.json", ["get with include ttl"],
               "A time to live is kept, and shown when asked for.",
               changed(ttl={"strategy": "delete", "ttl_minutes": 60, "expires_at": "<ts>"})),
    Difference("03_threads.json", ["prune keep_latest"],
               "Pruning to the latest checkpoint works.",
               answer(200, {"pruned_count": 1})),
    Difference("03_threads.json", ["history after keep_latest"],
               "Only the latest checkpoint is left after that.",
               first_row_only),
    Difference("04_state.json", ["history before (plain checkpoint object)"],
               "The documented form of `before` works, where the recorded server fails.",
               answer_of("history before (config form)")),
    Difference("07_interrupts.json", ["resume nothing"],
               "Resuming a thread that has no checkpoint is an empty input, not an internal error.",
               changed(__error__={"error": "EmptyInputError", "message": "free text"})),
    Difference("09_store.json", ["get"],
               "A namespace may be given as repeated parameters, as the clients' documentation has it.",
               answer_of("get dotted")),
    Difference("09_store.json", ["get without key"],
               "Every error has the same shape.",
               answer(400, REFUSED)),
    Difference("09_store.json", ["dot in label"],
               "Every error has the same shape.",
               answer(422, REFUSED)),
    Difference("12_protocol_v2.json", ["events chat"],
               "A message in the state is as its node made it; the recorded chat model rewrites it as blocks.",
               text_content),
    Difference("11_errors.json", ["join unknown run"],
               "What is not there is 404, not a 200 that carries a 404.",
               answer(404, REFUSED)),
]


def difference_for(file, title):
    return next((entry for entry in DIFFERENCES if entry.file == file and title in entry.titles), None)
