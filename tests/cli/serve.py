#!/usr/bin/env python3
"""serve.py FOLDER THREAD [COMMAND]: runs a graph on a thread of an Agent Server that keeps its data in FOLDER.

COMMAND, if it is given, is run by bash while the server is there.
"""

import json
import os
import subprocess
import sys
import urllib.request


def main(folder, thread_id, command=None):
    server = subprocess.Popen(["clew", "serve", "--config", os.environ["GRAPHS"] + "/clew.json", "--data", folder, "--port", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        post(address, "/threads", {"thread_id": thread_id})
        post(address, f"/threads/{thread_id}/runs/wait", {"assistant_id": "echo", "input": {"messages": [{"role": "user", "content": "hi"}]}})
        if command:
            subprocess.run(["bash", "-c", command])
    finally:
        server.terminate()
        server.wait()


def post(address, path, body):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


if __name__ == "__main__":
    main(*sys.argv[1:])
