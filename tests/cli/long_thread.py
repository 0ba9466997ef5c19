#!/usr/bin/env python3
"""long_thread.py FILE STEPS: a database with one thread, whose channel 'notes' grows by a note with each step."""

import json
import subprocess
import sys
import tempfile


def version(number):
    return f"{number:032}.0.5000000000000000"


def checkpoint(number):
    note = f"note {number}: " + "what is worth writing down " * 5
    return {"checkpoint_ns": "", "checkpoint_id": f"1f1e1d07-c231-60bf-8000-{number:012}",
            "parent_checkpoint_id": f"1f1e1d07-c231-60bf-8000-{number - 1:012}" if number else None, "v": 4,
            "ts": "2026-11-16T15:14:57.731605+00:00", "metadata": {"source": "loop", "step": number, "parents": {}},
            "channel_versions": {"notes": version(number)}, "versions_seen": {}, "updated_channels": ["notes"],
            "values": {"notes": {"base": version(number - 1), "append": [note]} if number else {"value": [note]}}, "without": [],
            "writes": [{"task_id": "t", "task_path": "", "node": "writer", "channel": "notes",
                        "value": [f"note {number + 1}: " + "what is worth writing down " * 5]}]}


def main(file, steps):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as export:
        print(json.dumps({"format": "clew-threads", "version": 1}), file=export)
        print(json.dumps({"thread": "notes", "checkpoints": int(steps)}), file=export)
        for number in range(int(steps)):
            print(json.dumps({"checkpoint": checkpoint(number)}), file=export)
        export.flush()
        subprocess.run(["clew", "import", export.name, "--db", file], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(*sys.argv[1:])
