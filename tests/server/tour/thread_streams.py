"""client.threads.stream: the thread-scoped protocol."""

import asyncio

from langgraph_sdk import get_client, get_sync_client

from .check import check_once, holds, same

TRANSPORTS = ("sse", "websocket")


async def finished(awaitable):
    return await asyncio.wait_for(awaitable, 30)


@check_once
async def a_run_is_started_and_its_output_awaited(tour):
    for transport in TRANSPORTS:
        async with tour.client.threads.stream(assistant_id="seq", transport=transport) as thread:
            started = await thread.run.start(input={"value": "x"}, metadata={"m": 1})
            holds(started["run_id"], "the id of the run")
            same(await finished(thread.output), {"value": "xabc", "log": ["a", "b", "c"]})
        same((await tour.client.threads.get(thread.thread_id))["status"], "idle")


@check_once
async def snapshots_of_the_state_arrive(tour):
    for transport in TRANSPORTS:
        async with tour.client.threads.stream(assistant_id="seq", transport=transport) as thread:
            await thread.run.start(input={"value": "x"})
            seen = []

            async def read():
                async for values in thread.values:
                    seen.append(values.get("value"))
            await finished(read())
            same(seen[1:], ["x", "xa", "xab", "xabc"])  # the first is what the thread was when asked


@check_once
async def messages_arrive_in_pieces(tour):
    async with tour.client.threads.stream(assistant_id="chat") as thread:
        await thread.run.start(input={"messages": [{"role": "user", "content": "hello world", "id": "m1"}]})

        async def read():
            return [message async for message in thread.messages]
        message, = await finished(read())
        same(await message.text, "you said: hello world")
        same([piece async for piece in message.text], ["you ", "said: ", "hello ", "world"])


@check_once
async def an_interrupt_is_answered_over_the_stream(tour):
    for transport in TRANSPORTS:
        async with tour.client.threads.stream(assistant_id="approval", transport=transport) as thread:
            await thread.run.start(input={"text": "ok"})

            async def asked():
                return thread.interrupted and thread.interrupts
            interrupts = await tour.until(asked)
            same(len(interrupts), 1)
            await thread.run.respond("sure")
            same((await finished(thread.output))["text"], "OK:sure")


@check_once
async def subscriptions_are_filtered_by_channel(tour):
    async with tour.client.threads.stream(assistant_id="seq") as thread:
        await thread.run.start(input={"value": "x"})
        seen = []

        async def read():
            async for event in thread.subscribe(["lifecycle"]):
                seen.append(event["params"]["data"]["event"])
                if seen[-1] == "completed":
                    return
        await finished(read())
        same(seen, ["running", "completed"])


@check_once
async def a_new_connection_replays_the_thread(tour):
    async with tour.client.threads.stream(assistant_id="seq") as thread:
        await thread.run.start(input={"value": "x"})
        await finished(thread.output)
    async with tour.client.threads.stream(thread.thread_id, assistant_id="seq") as again:
        sequence = []

        async def read():
            async for event in again.events:
                sequence.append((event["seq"], event["method"]))
                if event["method"] == "lifecycle" and event["params"]["data"]["event"] == "completed":
                    return
        await finished(read())
        same([number for number, _ in sequence], list(range(1, 7)))
        same((await finished(again.output))["value"], "xabc")


@check_once
async def a_failed_run_raises(tour):
    async with tour.client.threads.stream(assistant_id="fail") as thread:
        await thread.run.start(input={"value": "z"})
        try:
            await finished(thread.output)
        except Exception as error:
            holds("boom" in str(error), f"the error of the graph, not {error!r}")
        else:
            raise AssertionError("the output of a failed run")


@check_once
async def the_graph_of_a_thread_stream_is_drawn(tour):
    async with tour.client.threads.stream(assistant_id="seq") as thread:
        tree = await thread.agent.get_tree()
        same([node["id"] for node in tree["nodes"]], ["__start__", "a", "b", "c", "__end__"])


@check_once
async def subgraphs_are_discovered(tour):
    async with tour.client.threads.stream(assistant_id="nested") as thread:
        await thread.run.start(input={"name": "bob"})

        async def read():
            async for child in thread.subgraphs:
                return child.path
        same((await finished(read()))[0].split(":")[0], "child")


@check_once
async def the_synchronous_client_streams_threads(tour):
    def follow(transport):
        client = get_sync_client(url=tour.url)
        with client.threads.stream(assistant_id="seq", transport=transport) as thread:
            thread.run.start(input={"value": "x"})
            values = [snapshot.get("value") for snapshot in thread.values]
            return values, thread.output
    for transport in TRANSPORTS:
        values, output = await finished(asyncio.to_thread(follow, transport))
        same(values[1:], ["x", "xa", "xab", "xabc"])
        same(output["value"], "xabc")


@check_once
async def a_second_program_watches_the_first(tour):
    async with tour.client.threads.stream(assistant_id="slow") as first:
        await first.run.start(input={"ticks": 5, "delay": 0.3})
        await tour.until_in_first_node(first.thread_id)
        async with get_client(url=tour.url).threads.stream(first.thread_id, assistant_id="slow") as second:
            same((await finished(second.output))["done"], ["work:5", "end"])
