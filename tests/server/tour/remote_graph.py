"""langgraph's RemoteGraph: a graph on a server used like one in the program."""

import asyncio

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command

from .check import check_once, holds, raises, same


def remote(tour, graph):
    return RemoteGraph(graph, url=tour.url)


@check_once
async def invoke(tour):
    same(await remote(tour, "seq").ainvoke({"value": "x"}), {"value": "xabc", "log": ["a", "b", "c"]})
    same(await asyncio.to_thread(remote(tour, "fanout").invoke, {"items": [2, 3]}),
         {"items": [2, 3], "squares": [4, 9], "total": 13})


@check_once
async def stream_in_every_mode(tour):
    graph = remote(tour, "seq")
    same([list(update) async for update in graph.astream({"value": "x"}, stream_mode="updates")], [["a"], ["b"], ["c"]])
    both = [item async for item in graph.astream({"value": "x"}, stream_mode=["values", "updates"])]
    same([part[0] for part in both], ["values"] + ["updates", "values"] * 3)
    synchronous = await asyncio.to_thread(lambda: list(graph.stream({"value": "x"}, stream_mode="values")))
    same([values["value"] for values in synchronous], ["x", "xa", "xab", "xabc"])
    ticks = [tick async for tick in remote(tour, "slow").astream({"ticks": 2, "delay": 0.01}, stream_mode="custom")]
    same(ticks, [{"tick": 0}, {"tick": 1}])
    words = [chunk["content"] async for chunk, _ in remote(tour, "chat").astream(
        {"messages": [("user", "hey")]}, stream_mode="messages")]
    same("".join(words), "you said: hey")


@check_once
async def state_history_and_update(tour):
    graph, config = remote(tour, "seq"), {"configurable": {"thread_id": await tour.thread()}}
    await graph.ainvoke({"value": "x"}, config)
    state = await graph.aget_state(config)
    same((state.values["value"], state.next), ("xabc", ()))
    history = [s async for s in graph.aget_state_history(config)]
    same([s.metadata["step"] for s in history], [3, 2, 1, 0, -1])
    same((await graph.aget_state(history[2].config)).values["value"], "xa")
    same((await asyncio.to_thread(graph.get_state, history[3].config)).values["value"], "x")
    forked = await graph.aupdate_state(history[2].config, {"value": "F"}, as_node="a")
    same((await graph.ainvoke(None, forked))["value"], "Fbc")
    same(len(await asyncio.to_thread(lambda: list(graph.get_state_history(config, limit=3)))), 3)


@check_once
async def interrupt_and_resume(tour):
    graph, config = remote(tour, "approval"), {"configurable": {"thread_id": await tour.thread()}}
    paused = [update async for update in graph.astream({"text": "hi"}, config, stream_mode="updates")]
    holds("__interrupt__" in paused[-1], "the interrupt is streamed")
    state = await graph.aget_state(config)
    same(state.next, ("ask",))
    same(state.tasks[0].interrupts[0].value, {"question": "approve HI?"})
    same((await graph.ainvoke(Command(resume="yes"), config))["text"], "HI:yes")


@check_once
async def errors_are_raised(tour):
    error = await raises(Exception, remote(tour, "fail").ainvoke({"value": "v"}))
    holds("boom" in str(error), f"the error of the graph, not {error!r}")


@check_once
async def the_drawing_and_subgraph_streams(tour):
    drawn = await remote(tour, "nested").aget_graph(xray=True)
    holds("child:child_ask" in drawn.nodes, "the nodes of the subgraph")
    config = {"configurable": {"thread_id": await tour.thread()}}
    parts = [part async for part in remote(tour, "nested").astream({"name": "bob"}, config, stream_mode="updates", subgraphs=True)]
    same({len(namespace) for namespace, _ in parts}, {0, 1})


@check_once
async def events_of_the_third_version(tour):
    async with await remote(tour, "seq").astream_events({"value": "x"}, version="v3") as run:
        same((await asyncio.wait_for(run.output(), 30))["value"], "xabc")
