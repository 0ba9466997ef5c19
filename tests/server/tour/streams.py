"""client.runs.stream and its relatives: every mode, ids, reconnecting."""

import asyncio

from .check import check, check_once, collect, holds, named, same

SEQ = {"input": {"value": "x"}}
SLOW = {"input": {"ticks": 4, "delay": 0.05}}


@check
async def values(tour):
    parts = await collect(tour.client.runs.stream(await tour.thread(), "seq", **SEQ))
    same([part.event for part in parts], ["metadata"] + ["values"] * 4)
    same([v["value"] for v in named(parts, "values")], ["x", "xa", "xab", "xabc"])


@check
async def updates(tour):
    parts = await collect(tour.client.runs.stream(None, "fanout", input={"items": [1, 2]}, stream_mode="updates"))
    same(named(parts, "updates"), [{"plan": {"total": 0}}, {"square": {"squares": [1]}}, {"square": {"squares": [4]}},
                                   {"gather": {"total": 5}}])


@check
async def several_modes(tour):
    parts = await collect(tour.client.runs.stream(None, "seq", **SEQ, stream_mode=["values", "updates"]))
    same([part.event for part in parts[1:]], ["values"] + ["updates", "values"] * 3)


@check
async def tasks_checkpoints_and_debug(tour):
    parts = await collect(tour.client.runs.stream(await tour.thread(), "seq", **SEQ, stream_mode=["tasks", "checkpoints", "debug"]))
    tasks = named(parts, "tasks")
    same([task["name"] for task in tasks], ["a", "a", "b", "b", "c", "c"])
    same([task["id"] for task in tasks[::2]], [task["id"] for task in tasks[1::2]])
    same([c["metadata"]["step"] for c in named(parts, "checkpoints")], [-1, 0, 1, 2, 3])
    same([d["type"] for d in named(parts, "debug")], ["checkpoint"] * 2 + ["task", "task_result", "checkpoint"] * 3)


@check
async def custom(tour):
    parts = await collect(tour.client.runs.stream(None, "slow", **SLOW, stream_mode="custom"))
    same(named(parts, "custom"), [{"tick": n} for n in range(4)])


@check
async def events(tour):
    parts = await collect(tour.client.runs.stream(None, "echo", input={"messages": ["yo"]}, stream_mode="events"))
    same([e["event"] for e in named(parts, "events")],
         ["on_chain_start", "on_chain_start", "on_chain_stream", "on_chain_end", "on_chain_end"])


@check
async def messages_as_tuples(tour):
    parts = await collect(tour.client.runs.stream(None, "chat", input={"messages": ["hello world"]}, stream_mode="messages-tuple"))
    chunks = named(parts, "messages")
    same("".join(chunk["content"] for chunk, _ in chunks), "you said: hello world")
    same(len({chunk["id"] for chunk, _ in chunks}), 1)
    same({meta["langgraph_node"] for _, meta in chunks}, {"model"})


@check
async def messages_accumulated(tour):
    parts = await collect(tour.client.runs.stream(None, "chat", input={"messages": ["hello"]}, stream_mode="messages"))
    same(len(named(parts, "messages/metadata")), 1)
    partial = [data[0]["content"] for data in named(parts, "messages/partial")]
    same((partial[0], partial[-1]), ("you ", "you said: hello"))


@check
async def the_second_stream_format(tour):
    parts = await collect(tour.client.runs.stream(None, "seq", **SEQ, stream_mode="updates", version="v2"))
    updates = [part["data"] for part in parts if part["type"] == "updates"]
    same([list(update) for update in updates], [["a"], ["b"], ["c"]])


@check
async def subgraphs(tour):
    thread = await tour.thread()
    parts = await collect(tour.client.runs.stream(
        thread, "nested", input={"name": "bob"}, stream_mode=["updates", "values"], stream_subgraphs=True))
    inner = [part for part in parts if part.event.startswith("updates|child:")]
    same(inner[0].data, {"child_greet": {"log": ["child_greet:bob"]}})
    same(parts[-1].data["__interrupt__"][0]["value"], "color for bob?")
    outer = await collect(tour.client.runs.stream(thread, "nested", command={"resume": "red"}, stream_mode="updates"))
    same(named(outer, "updates"), [{"child": {"name": "bob-red", "log": ["child_greet:bob", "child_ask"]}},
                                   {"after": {"name": "bob-red!"}}])


@check
async def an_interrupt_is_seen_in_values_and_updates(tour):
    thread = await tour.thread()
    parts = await collect(tour.client.runs.stream(thread, "approval", input={"text": "t"}, stream_mode=["values", "updates"]))
    same(named(parts, "updates")[-1]["__interrupt__"][0]["value"], {"question": "approve T?"})
    same(named(parts, "values")[-1]["__interrupt__"][0]["value"], {"question": "approve T?"})
    resumed = await collect(tour.client.runs.stream(thread, "approval", command={"resume": "ok"}, stream_mode="updates"))
    same([list(update) for update in named(resumed, "updates")], [["ask"], ["finish"]])


@check
async def an_error_ends_the_stream(tour):
    parts = []
    try:
        async for part in tour.client.runs.stream(None, "fail", input={"value": "z"}, stream_mode="updates"):
            parts.append(part)
    except Exception as error:  # whether the client raises is up to its version
        holds("boom" in str(error), f"an error of the graph, not {error!r}")
    same(named(parts, "updates"), [{"ok_step": {"value": "zok"}}])
    for data in named(parts, "error"):
        same(data, {"error": "ValueError", "message": "boom at maybe_boom"})


@check
async def the_run_is_known_before_the_first_event(tour):
    created, thread = [], await tour.thread()
    parts = await collect(tour.client.runs.stream(thread, "seq", **SEQ, on_run_created=created.append))
    same(created, [{"run_id": parts[0].data["run_id"], "thread_id": thread}])


@check
async def the_status_is_final_when_the_stream_ends(tour):
    thread = await tour.thread()
    parts = await collect(tour.client.runs.stream(thread, "seq", **SEQ))
    same(await tour.status(thread, parts[0].data["run_id"]), "success")
    same((await tour.client.threads.get(thread))["status"], "idle")


@check
async def a_resumable_stream_is_joined_anywhere(tour):
    thread = await tour.thread()
    parts = await collect(tour.client.runs.stream(thread, "slow", **SLOW, stream_mode=["custom", "values"], stream_resumable=True))
    run = parts[0].data["run_id"]
    same(len({part.id for part in parts}), len(parts))
    join = tour.client.runs.join_stream
    same(await collect(join(thread, run, last_event_id="-1")), parts)
    for position in range(len(parts)):
        same(await collect(join(thread, run, last_event_id=parts[position].id)), parts[position + 1:])
    same(await collect(join(thread, run)), [])
    same(named(await collect(join(thread, run, stream_mode="custom", last_event_id="-1")), "custom"), named(parts, "custom"))


@check
async def a_resumable_stream_is_joined_while_it_runs(tour):
    thread = await tour.thread()
    run = await tour.client.runs.create(thread, "slow", input={"ticks": 10, "delay": 0.1}, stream_mode="custom", stream_resumable=True)
    seen = []
    async for part in tour.client.runs.join_stream(thread, run["run_id"], last_event_id="-1"):
        seen.append(part)
        if len(seen) == 4:
            break
    seen += await collect(tour.client.runs.join_stream(thread, run["run_id"], last_event_id=seen[-1].id))
    same(named(seen, "custom"), [{"tick": n} for n in range(10)])


@check
async def several_readers_see_the_same(tour):
    thread = await tour.thread()
    run = await tour.client.runs.create(thread, "slow", input={"ticks": 8, "delay": 0.05}, stream_mode="custom", stream_resumable=True)
    readers = [collect(tour.client.runs.join_stream(thread, run["run_id"], last_event_id="-1")) for _ in range(5)]
    all_seen = await asyncio.gather(*readers)
    for seen in all_seen:
        same(seen, all_seen[0])
    same(named(all_seen[0], "custom"), [{"tick": n} for n in range(8)])


@check
async def a_reader_that_leaves_can_cancel(tour):
    thread = await tour.thread()
    async for part in tour.client.runs.stream(thread, "slow", input={"ticks": 200, "delay": 0.1}, stream_mode="custom",
                                              on_disconnect="cancel"):
        if part.event == "custom":
            break
    run = (await tour.client.runs.list(thread))[0]["run_id"]
    await tour.until_status(thread, run, "interrupted")


@check
async def a_joined_reader_that_leaves_can_cancel(tour):
    thread = await tour.thread()
    run = (await tour.client.runs.create(thread, "slow", input={"ticks": 200, "delay": 0.1}, stream_mode="custom",
                                         stream_resumable=True))["run_id"]
    async for part in tour.client.runs.join_stream(thread, run, cancel_on_disconnect=True, last_event_id="-1"):
        if part.event == "custom":
            break
    await tour.until_status(thread, run, "interrupted")


@check
async def a_cancelled_run_closes_its_stream(tour):
    thread = await tour.thread()
    run = (await tour.client.runs.create(thread, "slow", input={"ticks": 200, "delay": 0.1}, stream_mode="custom",
                                         stream_resumable=True))["run_id"]
    reader = asyncio.create_task(collect(tour.client.runs.join_stream(thread, run, last_event_id="-1")))
    await tour.until_in_first_node(thread)
    await tour.client.runs.cancel(thread, run, wait=True)
    parts = await asyncio.wait_for(reader, 20)
    same([part.event for part in parts if part.event == "error"], [])


async def within(seconds, *awaitables):
    """Lets some streams that never end run for a while, and the others to their end."""
    tasks = [asyncio.create_task(awaitable) for awaitable in awaitables]
    if tasks[1:]:
        await asyncio.wait(tasks[1:])
    await asyncio.wait(tasks[:1], timeout=seconds)
    tasks[0].cancel()


async def joined(tour, thread, **options):
    """Only the asynchronous client has its thread stream awaited first."""
    stream = tour.client.threads.join_stream(thread, **options)
    return await stream if asyncio.iscoroutine(stream) else stream


@check
async def a_thread_stream_shows_every_run(tour):
    thread, seen = await tour.thread(), []

    async def read():
        async for part in await joined(tour, thread):
            seen.append(part)
            if len([1 for p in seen if p.event == "metadata" and p.data.get("status") == "run_done"]) == 2:
                return

    reader = asyncio.create_task(read())
    await asyncio.sleep(0.3)
    for _ in range(2):
        await collect(tour.client.runs.stream(thread, "seq", **SEQ, stream_mode="updates"))
    await asyncio.wait_for(reader, 20)
    same([list(data) for data in named(seen, "updates")], [["a"], ["b"], ["c"]] * 2)
    holds(all(part.id for part in seen), "every event of a thread stream has an id")

@check_once
async def a_thread_stream_goes_on_after_an_id(tour):
    thread, seen, again = await tour.thread(), [], []

    async def read(into, **options):
        async for part in await joined(tour, thread, **options):
            into.append(part)

    await within(1.5, read(seen), collect(tour.client.runs.stream(thread, "seq", **SEQ)))
    await within(1.5, read(again, last_event_id=seen[2].id))
    holds(again in (seen[3:], []), f"what follows the third event, or nothing where it is not kept: {again}")
