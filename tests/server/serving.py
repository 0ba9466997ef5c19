"""Starts a server under test, waits until it answers, stops or kills it."""

import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.request


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A command with `{port}` and `{data}` in it, run in a process group of its own.

    Started again it is given the same port and the same data, so clients find what they left.
    """

    def __init__(self, command, data, port=None, log=None, directory=None):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [part.format(port=self.port, data=data) for part in shlex.split(command)]
        self._log = log or subprocess.DEVNULL
        self._directory = directory
        self._process = None

    @property
    def pid(self):
        return self._process.pid

    def start(self, seconds=60):
        """Starts the process. Returns how many seconds passed until it answered."""
        started = time.monotonic()
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log,
                                         cwd=self._directory, start_new_session=True)
        while time.monotonic() - started < seconds:
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with {self._process.returncode}: {shlex.join(self._command)}")
            if self.is_ready():
                return time.monotonic() - started
            time.sleep(0.002)
        raise RuntimeError(f"no answer from {self.url}/ok within {seconds} s")

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/ok", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def kill(self):
        self._end(signal.SIGKILL)

    def stop(self, seconds=30):
        """Asks the server to end. Returns its exit code."""
        self._end(signal.SIGTERM, seconds)
        return self._process.returncode

    def _end(self, how, seconds=30):
        if self._process.poll() is None:
            os.killpg(self._process.pid, how)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise
