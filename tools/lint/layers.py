#!/usr/bin/env python3
"""Who may include whom.

The layers point one way, each library stays where it belongs, and public headers include only the
standard library and each other. The tables below are the rule; a new folder or public header is
added to them on purpose.
"""

import re
from fnmatch import fnmatch
from pathlib import PurePosixPath

import repository

# Folder of src/ -> the folders it builds on, besides itself.
USES = {
    "value": [],
    "serde": ["value"],
    "checkpoint": ["value", "serde"],
    "channels": ["value", "serde", "checkpoint"],
    "store": ["value", "serde", "checkpoint"],  # of checkpoint only a backend's connections
    "pregel": ["value", "serde", "checkpoint", "channels", "store"],
    "graph": ["value", "serde", "checkpoint", "channels", "store", "pregel"],
    "agent": ["value", "serde", "checkpoint", "channels", "store", "pregel", "graph"],
    "server": ["value", "serde", "checkpoint", "channels", "store", "pregel", "graph"],
    "cli": ["value", "serde", "checkpoint", "channels", "store", "pregel", "graph", "server"],
}

# Folder of src/ -> the public headers that declare what it implements.
PUBLIC_HEADERS = {
    "value": ["add_messages", "canonical", "containers", "convert", "error", "errors", "extension",
              "fields", "json", "messages", "msgpack", "nlohmann", "python_types", "reducers", "schema",
              "state", "task", "time", "types", "uuid", "value"],
    "serde": ["cipher", "dialect", "encrypted", "serde"],
    "checkpoint": ["checkpointer", "ids", "memory_saver", "sqlite_saver",
                   "thread_care"],
    "channels": ["channels"],
    "store": ["embeddings", "sqlite_store", "store", "store_index", "store_namespace"],
    "pregel": ["cache", "compiled_graph", "config", "drawing", "functional", "graph",
               "graph_factory", "plugin", "runtime", "snapshot", "stream"],
    "server": ["server"],
}
UMBRELLA = "clew"  # <clew/clew.hpp> includes all of core and is included by no part of it.

BACKENDS = ["memory", "sqlite", "postgres", "mysql", "redis", "mongodb"]

# What an include begins with -> the files that may have it.
LIBRARIES = {
    "boost/": ["src/server/http*"],
    "curl/": ["src/*/http_client*", "src/server/webhook_sender.cpp"],
    "sqlite3": ["src/*/sqlite/*", "tests/*", "bench/*"],
    "libpq": ["src/*/postgres/*"],
    "mysql": ["src/*/mysql/*"],
    "mariadb": ["src/*/mysql/*"],
    "hiredis": ["src/*/redis/*"],
    "mongoc": ["src/*/mongodb/*"],
    "bson": ["src/*/mongodb/*"],
    "CLI/": ["src/cli/*"],
    "prometheus/": ["src/server/*"],
    "nlohmann/": ["include/clew/nlohmann.hpp", "tests/*"],
    "simdjson": ["src/*", "bench/*"],
    "hnswlib/": ["src/store/neighbour_graph.cpp"],
    "fmt/": ["src/*", "tests/*", "bench/*"],
    "openssl/": ["src/*", "tests/*", "bench/*"],
    "xxhash": ["src/*", "tests/*", "bench/*"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD_HEADER = re.compile(r"[a-z_0-9]+")
LAYER_OF_HEADER = {header: layer for layer, headers in PUBLIC_HEADERS.items() for header in headers}


def check(root):
    findings = []
    for path in repository.code_files(root):
        for number, line in enumerate((root / path).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and find_problem(path, match[1], match[2])
            if problem:
                findings.append(f"{path}:{number}: {problem}")
        if is_public(path) and path.stem not in LAYER_OF_HEADER and path.stem != UMBRELLA:
            findings.append(f"{path}:1: belongs to no layer; add it to PUBLIC_HEADERS in tools/lint/layers.py")
    return findings


def find_problem(path, bracket, included):
    return (misplaced_library(path, included)
            or (is_public(path) and foreign_in_public_header(path, bracket, included))
            or arrow_against_layers(path, included)
            or foreign_backend(path, included))


def misplaced_library(path, included):
    for prefix, places in LIBRARIES.items():
        if included.startswith(prefix) and not any(fnmatch(path.as_posix(), place) for place in places):
            return f"<{included}> may be included only from {', '.join(places)}"
    return None


def foreign_in_public_header(path, bracket, included):
    if path.stem == "nlohmann" and included.startswith("nlohmann/"):
        return None
    if bracket == "<" and (included.startswith("clew/") or STANDARD_HEADER.fullmatch(included)):
        return None
    return f"a public header includes only the standard library and <clew/...>, not {included}"


def arrow_against_layers(path, included):
    layer = layer_of(path)
    if layer is None:
        return None
    if layer not in USES:
        return f"src/{layer} is not a layer; add it to USES in tools/lint/layers.py"
    used = layer_of_include(included)
    if used is None or used == layer or used in USES[layer]:
        return None
    return f"{layer} may use {', '.join(USES[layer]) or 'nothing'}, but not {used} ({included})"


def foreign_backend(path, included):
    """A backend's private headers are its own: only the same backend of another layer may use them."""
    parts = PurePosixPath(included).parts
    if path.parts[0] != "src" or len(parts) != 3 or parts[0] not in USES or parts[1] not in BACKENDS:
        return None
    if parts[1] in path.parts:
        return None
    return f"{included} is private to the {parts[1]} backend; use its public header"


def is_public(path):
    return path.parts[:2] == ("include", "clew")


def layer_of(path):
    """The layer a file belongs to; None where every layer may be used."""
    if path.parts[0] == "src" and len(path.parts) > 2:
        return path.parts[1]
    if is_public(path):
        return LAYER_OF_HEADER.get(path.stem)
    return None


def layer_of_include(included):
    parts = PurePosixPath(included).parts
    if parts[0] == "clew" and len(parts) > 1:
        name = PurePosixPath(parts[1]).stem
        return "everything" if name == UMBRELLA else LAYER_OF_HEADER.get(name)
    return parts[0] if len(parts) > 1 and parts[0] in USES else None


if __name__ == "__main__":
    repository.run(check)
