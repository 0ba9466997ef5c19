#!/usr/bin/env python3
"""Reads what `clew export` wrote as docs/format/export.md says, and compares it with what LangGraph reads of the database."""

import argparse
import base64
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

DATABASE = Path(__file__).resolve().parents[1] / "data" / "databases" / "sqlite_checkpoints.db"
SERDE = JsonPlusSerializer()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clew", required=True)
    clew = parser.parse_args().clew
    with tempfile.TemporaryDirectory() as folder:
        database = shutil.copy(DATABASE, folder)
        threads = plain_threads(database)
        text = subprocess.run([clew, "export", *threads, "--db", database], check=True, capture_output=True, text=True).stdout
        with SqliteSaver.from_conn_string(database) as saver:
            count = sum(compare(saver, thread, checkpoint) for thread, checkpoint in checkpoints(text))
    print(f"{count} checkpoints of {len(threads)} threads are the same")
    if count < 100:
        sys.exit("too few checkpoints were compared to prove anything")


def plain_threads(database):
    with sqlite3.connect(database) as connection:
        encrypted = {row[0] for row in connection.execute("SELECT thread_id FROM checkpoints WHERE type LIKE '%+%'")}
        return sorted({row[0] for row in connection.execute("SELECT thread_id FROM checkpoints")} - encrypted)


def checkpoints(text):
    """(thread, checkpoint) of all lines; "channel_values" of a checkpoint are complete."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0] == {"format": "clew-threads", "version": 1}
    for line in lines[1:]:
        if "thread" in line:
            thread, known = line["thread"], {}
            continue
        checkpoint = line["checkpoint"]
        yield thread, checkpoint | {"channel_values": channel_values(checkpoint, known)}


def channel_values(checkpoint, known):
    """`known` has the value of each (namespace, channel, version) so far."""
    ns = checkpoint["checkpoint_ns"]
    for channel, entry in checkpoint["values"].items():
        version = checkpoint["channel_versions"].get(channel)
        if "base" in entry:
            known[ns, channel, version] = known[ns, channel, entry["base"]] + typed(entry["append"])
        else:
            known[ns, channel, version] = typed(entry["value"])
    return {channel: known[ns, channel, version] for channel, version in checkpoint["channel_versions"].items()
            if (ns, channel, version) in known and channel not in checkpoint["without"]}


def typed(value):
    if isinstance(value, list):
        return [typed(element) for element in value]
    if isinstance(value, dict):
        if "$type" in value:
            return SERDE.loads_typed((value["$type"], base64.b64decode(value["base64"])))
        return {key: typed(entry) for key, entry in value.items()}
    return value


def compare(saver, thread, read):
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": read["checkpoint_ns"], "checkpoint_id": read["checkpoint_id"]}}
    stored = saver.get_tuple(config)
    parent = stored.parent_config["configurable"]["checkpoint_id"] if stored.parent_config else None
    expect(thread, "parent", parent, read["parent_checkpoint_id"])
    expect(thread, "metadata", stored.metadata, typed(read["metadata"]))
    for key in ("v", "ts", "channel_versions", "versions_seen", "updated_channels"):
        expect(thread, key, stored.checkpoint.get(key), typed(read[key]))
    expect(thread, "values", stored.checkpoint["channel_values"], read["channel_values"])
    expect(thread, "writes", [tuple(write) for write in stored.pending_writes],
           [(write["task_id"], write["channel"], typed(write["value"])) for write in read["writes"]])
    return 1


def expect(thread, what, stored, read):
    # Errors and objects of classes that are not here have no equality of their own.
    if stored != read and repr(stored) != repr(read):
        sys.exit(f"thread {thread}: {what} is {read!r}, not {stored!r}")


if __name__ == "__main__":
    main()
