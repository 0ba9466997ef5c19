#!/usr/bin/env python3
"""Starts a server on fresh data, runs a command against it, and ends the server.

  with_server.py --server-command 'build/bin/clew dev --config tests/data/server/clew.json --host 127.0.0.1 \
                                   --port {port} --data {data}' -- python3 tests/server/replay.py --url {url}

Fails when the command fails, or when the server does not end cleanly when asked to.
"""

import argparse
import subprocess
import sys
import tempfile

from serving import Server


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as data:
        server = Server(options.server_command, data, log=sys.stderr if options.verbose else None)
        server.start()
        try:
            status = subprocess.run([part.replace("{url}", server.url) for part in options.command]).returncode
        finally:
            ended = server.stop()
    if ended and not options.any_end:
        print(f"asked to end, the server ended with {ended}")
        return 1
    return status


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-command", required=True, help="with {port} and {data} in it")
    parser.add_argument("--any-end", action="store_true", help="let the server end as it likes")
    parser.add_argument("--verbose", action="store_true", help="show what the server prints")
    parser.add_argument("command", nargs="+", help="with {url} in it")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
