#!/usr/bin/env python3
"""Queries what `clew export --by-day` wrote as a data warehouse would, and compares it with what LangGraph reads.

The query takes the newest value of one channel for many threads from the blobs alone: versions grow, so the newest is
the greatest.
"""

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from langgraph.checkpoint.sqlite import SqliteSaver

DATABASE = Path(__file__).resolve().parents[1] / "data" / "databases" / "sqlite_checkpoints.db"

NEWEST = """
SELECT thread_id, version, blob_data
FROM (
  SELECT thread_id, version, blob_data,
         ROW_NUMBER() OVER (PARTITION BY thread_id ORDER BY version DESC) AS rn
  FROM checkpoint_blobs
  WHERE thread_id IN (SELECT unnest($threads))
    AND checkpoint_ns = ''
    AND channel = $channel
    AND dt >= '2026-01-01'
    AND dt <= '2026-12-31'
) t
WHERE rn = 1
ORDER BY thread_id;
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clew", required=True)
    clew = parser.parse_args().clew
    with tempfile.TemporaryDirectory() as folder:
        database = Path(shutil.copy(DATABASE, folder))
        threads = plain_threads(database)
        days = Path(folder) / "days"
        subprocess.run([clew, "export", *threads, "--db", database, "--output", days, "--by-day"], check=True)
        warehouse = duckdb.connect()
        warehouse.execute(f"CREATE VIEW checkpoint_blobs AS SELECT * FROM read_json('{days}/dt=*/checkpoint_blobs.jsonl', "
                          "hive_partitioning = true)")
        compared = {channel: compare(warehouse, database, threads, channel) for channel in ("log", "n")}
    print(compared)
    if sum(compared.values()) < 10:
        sys.exit("too few values were compared to prove anything")


def plain_threads(database):
    with sqlite3.connect(database) as connection:
        encrypted = {row[0] for row in connection.execute("SELECT thread_id FROM checkpoints WHERE type LIKE '%+%'")}
        return sorted({row[0] for row in connection.execute("SELECT thread_id FROM checkpoints")} - encrypted)


def compare(warehouse, database, threads, channel):
    """How many threads were compared."""
    found = {row[0]: (row[1], row[2]) for row in
             warehouse.execute(NEWEST, {"threads": threads, "channel": channel}).fetchall()}
    count = 0
    for thread, (version, value) in newest_values(database, threads, channel).items():
        if thread not in found or found[thread][0] < version:
            sys.exit(f"thread {thread}: the newest value of {channel} is missing")
        if found[thread][0] > version:
            continue  # a fork made a newer version
        if json.loads(found[thread][1]) != value:
            sys.exit(f"thread {thread}: {channel} is {found[thread][1]}, not {value}")
        count += 1
    return count


def newest_values(database, threads, channel):
    """Of threads whose newest checkpoint has a value that is plain JSON: its version and the value."""
    values = {}
    with SqliteSaver.from_conn_string(str(database)) as saver:
        for thread in threads:
            checkpoint = saver.get_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}}).checkpoint
            value = checkpoint["channel_values"].get(channel)
            if is_json(value):
                values[thread] = (checkpoint["channel_versions"][channel], value)
    return values


def is_json(value):
    try:
        return value is not None and json.loads(json.dumps(value)) == value
    except TypeError:
        return False


if __name__ == "__main__":
    main()
