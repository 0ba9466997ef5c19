"""Small named checks of a server through the official Python clients."""

import asyncio
import inspect
import uuid

import httpx
from langgraph_sdk import get_client, get_sync_client

CHECKS = []


def check(function):
    """A check runs twice: with the asynchronous client and with the synchronous one."""
    CHECKS.append((function, ("async", "sync")))
    return function


def check_once(function):
    """A check that chooses its clients itself."""
    CHECKS.append((function, ("async",)))
    return function


def on_demand(function):
    """A check that takes long: it runs only when it is named."""
    function.on_demand = True
    return check_once(function)


class Tour:
    """What a check needs: a server, a client, and threads of its own."""

    def __init__(self, url, kind):
        self.url = url
        self.kind = kind
        self.client = get_client(url=url) if kind == "async" else Synchronous(get_sync_client(url=url))
        self.tag = str(uuid.uuid4())  # in metadata, so that a search finds only what this check has made

    async def thread(self, **options):
        return (await self.client.threads.create(**options))["thread_id"]

    async def status(self, thread, run):
        return (await self.client.runs.get(thread, run))["status"]

    async def until(self, condition, seconds=20):
        """Waits until what the condition answers is true, and returns it."""
        for _ in range(int(seconds / 0.05)):
            if result := await condition():
                return result
            await asyncio.sleep(0.05)
        raise AssertionError(f"not within {seconds} s")

    async def until_status(self, thread, run, *statuses):
        async def reached():
            return await self.status(thread, run) in statuses
        await self.until(reached)

    async def until_in_first_node(self, thread):
        """A run on the thread has started, and its first checkpoint can be seen."""
        async def started():
            return (await self.client.threads.get_state(thread))["next"]
        await self.until(started)


class Synchronous:
    """Lets a check written for the asynchronous client use the synchronous one."""

    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        attribute = getattr(self._target, name)
        if inspect.ismethod(attribute):
            return lambda *arguments, **options: Call(attribute, arguments, options)
        return Synchronous(attribute)


class Call:
    """A synchronous call that can be awaited or iterated over."""

    def __init__(self, function, arguments, options):
        self._call = lambda: function(*arguments, **options)

    def __await__(self):
        return asyncio.to_thread(self._call).__await__()

    async def __aiter__(self):
        items, end = await asyncio.to_thread(self._call), object()
        try:
            while (item := await asyncio.to_thread(next, items, end)) is not end:
                yield item
        finally:
            items.close()


def same(actual, expected, what="value"):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


async def raises(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}")


async def refused(status, awaitable):
    """The server answers with an error. The clients raise different classes for it, all with the response."""
    error = await raises(httpx.HTTPStatusError, awaitable)
    same(error.response.status_code, status, "status")


async def collect(stream):
    return [part async for part in stream]


def named(parts, event):
    return [part.data for part in parts if part.event == event]
