#!/usr/bin/env python3
"""many_threads.py FILE THREAD COUNT NEW_FILE: a database of COUNT copies of a thread of FILE, in the native layout."""

import shutil
import sqlite3
import sys

TABLES = {
    "checkpoints": "checkpoint_ns, checkpoint_ns_hash, checkpoint_id, parent_checkpoint_id, base_checkpoint_id, place, replaced, "
                   "type, checkpoint, metadata_type, metadata, gmt_create, gmt_modified",
    "checkpoint_blobs": "checkpoint_ns, checkpoint_ns_hash, channel, version, base_version, place, type, blob_data",
    "checkpoint_writes": "checkpoint_ns, checkpoint_ns_hash, checkpoint_id, task_id, task_path, node, idx, channel, type, blob_data, "
                         "gmt_create",
    "threads": "checkpoints, writes, bytes, status, checkpoint_id, updated_at, metadata_type, metadata, gmt_create, gmt_modified",
}


def main(file, thread, count, new_file):
    shutil.copy(file, new_file)
    database = sqlite3.connect(new_file)
    for table, columns in TABLES.items():
        database.execute(f"DELETE FROM {table} WHERE thread_id <> ?", (thread,))
        for number in range(int(count)):
            database.execute(f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                             (f"thread-{number:05}", thread))
        database.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread,))
    database.commit()


if __name__ == "__main__":
    main(*sys.argv[1:])
