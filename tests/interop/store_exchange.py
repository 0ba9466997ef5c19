#!/usr/bin/env python3
"""LangGraph's SqliteStore and Clew's read, search and continue each other's files.

usage: store_exchange.py --interop PATH

Run with a Python that has the packages of requirements.txt.
"""

import argparse
import json
import math
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from langgraph.store.sqlite import SqliteStore

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors" / "store.json"
DIMS = 16
QUERIES = ["apple", "second", "coffee in the morning", "winter"]


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--interop", required=True)
    interop = parser.parse_args(arguments).interop
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        run(interop, "store", str(VECTORS), "--backend", "sqlite", "--keep", folder)
        for sequence in json.loads(VECTORS.read_text())["sequences"]:
            file = Path(folder) / f"{sequence['name']}.db"
            if not file.exists():
                continue
            try:
                check(interop, file, sequence)
            except AssertionError as error:
                failed += 1
                print(f"FAIL {sequence['name']}: {error}")
    print(f"{failed} failed" if failed else "LangGraph and Clew agree on all files")
    return 1 if failed else 0


def check(interop, file, sequence):
    """LangGraph sees what Clew stored, adds to it, and Clew sees that."""
    fields = (sequence.get("index") or {}).get("fields", ["$"])
    fields = (sequence.get("index") or {}).get("text_fields", fields)
    index = {"dims": DIMS, "embed": embed_all, "text_fields": fields} if "index" in sequence else None
    connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection, index=index)
    store.setup()
    expect_rows(connection, store)
    if index:
        expect_ranking(connection, store)
    store.put(("from", "python"), "new", {"text": "written in the morning", "w": ["by", "langgraph"]})
    expected = describe(connection, store, index)
    connection.close()
    expected_file = file.with_suffix(".json")
    expected_file.write_text(json.dumps(expected))
    run(interop, "storedb", str(file), str(expected_file))


def expect_rows(connection, store):
    rows = connection.execute("SELECT prefix, key, value FROM store").fetchall()
    items = store.search((), limit=10_000)
    found = {(".".join(item.namespace), item.key): item.value for item in items}
    assert found == {(prefix, key): json.loads(value) for prefix, key, value in rows}, found
    for item in items:
        got = store.get(item.namespace, item.key)
        assert got is not None and got.created_at == item.created_at, item


def expect_ranking(connection, store):
    """LangGraph's own vector functions make of Clew's vectors what arithmetic says."""
    for query in QUERIES:
        best = {}
        for prefix, key, embedding in connection.execute("SELECT prefix, key, embedding FROM store_vectors"):
            vector = struct.unpack(f"<{len(embedding) // 4}f", embedding)
            best[prefix, key] = max(cosine(vector, embed(query)), best.get((prefix, key), -2))
        for item in store.search((), query=query, limit=1000):
            wanted = best[".".join(item.namespace), item.key]
            assert abs(item.score - wanted) < 1e-5, (query, item, wanted)


def describe(connection, store, index):
    """What `clew-interop storedb` compares with."""
    items = [
        {"ns": list(item.namespace), "key": item.key, "value": item.value,
         "created_at": item.created_at.isoformat(), "updated_at": item.updated_at.isoformat()}
        for item in store.search((), limit=10_000)
    ]
    rows = [[prefix, key, text(value)] for prefix, key, value in connection.execute("SELECT prefix, key, value FROM store")]
    queries = []
    for query in QUERIES if index else []:
        results = [
            {"ns": list(item.namespace), "key": item.key, "value": item.value, "score": round(item.score, 6)}
            for item in store.search(("from",), query=query, limit=1000)
        ]
        queries.append({"prefix": ["from"], "query": query, "limit": 1000, "results": results})
    namespaces = [list(namespace) for namespace in sorted(store.list_namespaces(limit=1000))]
    described = {"dims": DIMS, "text_fields": index["text_fields"]} if index else None
    return {"format": "store-db-expected/1", "index": described, "items": items, "namespaces": namespaces,
            "queries": queries, "store_rows": rows}


def text(value):
    return value if isinstance(value, str) else value.decode()


def embed_all(texts):
    return [embed(text) for text in texts]


def embed(words):
    """The embedder of the recorded scripts: words counted in 16 places by their hash."""
    vector = [0.0625] * DIMS
    word = b""
    for byte in words.encode().lower() + b" ":
        if chr(byte).isascii() and chr(byte).isalnum():
            word += bytes([byte])
        elif word:
            vector[fnv1a(word) % DIMS] += 1.0
            word = b""
    return vector


def fnv1a(data):
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-500:]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
