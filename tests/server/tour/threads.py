"""client.threads: threads, their states and their history."""

import uuid

from langgraph_sdk.errors import BadRequestError, ConflictError, NotFoundError, UnprocessableEntityError

from .check import check, holds, raises, same

SEQ = {"input": {"value": "x"}}


@check
async def a_thread_is_created_changed_and_deleted(tour):
    threads = tour.client.threads
    made = await threads.create(metadata={"a": 1})
    id = made["thread_id"]
    same((made["status"], made["metadata"], made["values"]), ("idle", {"a": 1}, None))
    same((await threads.get(id))["thread_id"], id)
    same((await threads.update(id, metadata={"b": 2}))["metadata"], {"a": 1, "b": 2})
    same(await threads.update(id, metadata={"c": 3}, return_minimal=True), None)
    same((await threads.get(id))["metadata"], {"a": 1, "b": 2, "c": 3})
    await threads.delete(id)
    await raises(NotFoundError, threads.get(id))
    await raises(NotFoundError, threads.delete(id))


@check
async def a_thread_with_a_given_id_is_made_once(tour):
    id = str(uuid.uuid4())
    same((await tour.client.threads.create(thread_id=id, metadata={"n": 1}, graph_id="seq"))["thread_id"], id)
    await raises(ConflictError, tour.client.threads.create(thread_id=id))
    again = await tour.client.threads.create(thread_id=id, if_exists="do_nothing", metadata={"n": 2})
    same(again["metadata"], {"n": 1, "graph_id": "seq"})


@check
async def refused_threads(tour):
    await raises(UnprocessableEntityError, tour.client.threads.get("abc"))
    await raises(UnprocessableEntityError, tour.client.threads.create(thread_id="abc"))
    await raises(UnprocessableEntityError, tour.client.threads.search(limit=0))
    await raises(NotFoundError, tour.client.threads.get_state(str(uuid.uuid4())))
    await raises(NotFoundError, tour.client.threads.get_history(str(uuid.uuid4())))
    await raises(ConflictError, tour.client.threads.copy(str(uuid.uuid4())))


@check
async def threads_are_searched_and_counted(tour):
    threads, mine = tour.client.threads, {"tag": tour.tag}
    one, two = [await tour.thread(metadata={**mine, "n": n}) for n in range(2)]
    await tour.client.runs.wait(one, "seq", **SEQ)
    await tour.client.runs.wait(two, "approval", input={"text": "t"})
    same({row["thread_id"] for row in await threads.search(metadata=mine)}, {one, two})
    same([row["thread_id"] for row in await threads.search(metadata=mine, status="interrupted")], [two])
    same([row["thread_id"] for row in await threads.search(metadata=mine, values={"value": "xabc"})], [one])
    same([row["thread_id"] for row in await threads.search(ids=[one, two], sort_by="created_at", sort_order="asc")], [one, two])
    picked = await threads.search(ids=[one], select=["thread_id"], extract={"last": "values.log[-1]"})
    same(picked, [{"thread_id": one, "extracted": {"last": "c"}}])
    same(len(await threads.search(metadata=mine, limit=1, offset=1)), 1)
    same((await threads.count(metadata=mine), await threads.count(metadata=mine, status="idle")), (2, 1))


@check
async def a_copy_has_its_own_history(tour):
    source = await tour.thread(metadata={"tag": tour.tag})
    await tour.client.runs.wait(source, "seq", **SEQ)
    copied = await tour.client.threads.copy(source)
    holds(copied["thread_id"] != source, "a new id")
    same(copied["metadata"]["tag"], tour.tag)
    await tour.client.runs.wait(copied["thread_id"], "seq", input={"value": "y"})
    same(len(await tour.client.threads.get_history(copied["thread_id"], limit=50)), 10)
    same(len(await tour.client.threads.get_history(source, limit=50)), 5)


@check
async def threads_are_pruned(tour):
    id = await tour.thread()
    same((await tour.client.threads.prune([id, str(uuid.uuid4())]))["pruned_count"], 1)
    await raises(NotFoundError, tour.client.threads.get(id))


@check
async def a_thread_may_have_a_time_to_live(tour):
    id = await tour.thread(ttl={"strategy": "delete", "ttl": 60})
    same((await tour.client.threads.get(id, include=["ttl"]))["thread_id"], id)


@check
async def a_thread_starts_with_given_steps(tour):
    steps = [{"updates": [{"values": {"value": "one"}, "as_node": "__input__"}]},
             {"updates": [{"values": {"value": "onea", "log": ["a"]}, "as_node": "a"}]}]
    made = await tour.client.threads.create(supersteps=steps, graph_id="seq")
    same((made["status"], made["values"]), ("interrupted", {"value": "onea", "log": ["a"]}))
    same((await tour.client.runs.wait(made["thread_id"], "seq"))["value"], "oneabc")


@check
async def the_state_of_a_thread_that_never_ran(tour):
    state = await tour.client.threads.get_state(await tour.thread())
    same((state["values"], state["next"], state["checkpoint"], state["metadata"]), ({}, [], None, None))


@check
async def a_state_is_read_at_every_checkpoint(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    history = await tour.client.threads.get_history(thread)
    same([state["metadata"]["step"] for state in history], [3, 2, 1, 0, -1])
    same([state["next"] for state in history], [[], ["c"], ["b"], ["a"], ["__start__"]])
    for state in history:
        by_id = await tour.client.threads.get_state(thread, checkpoint_id=state["checkpoint"]["checkpoint_id"])
        by_checkpoint = await tour.client.threads.get_state(thread, checkpoint=state["checkpoint"])
        same(by_id["values"], state["values"])
        same(by_checkpoint["values"], state["values"])
    same((await tour.client.threads.get_state(thread))["values"], history[0]["values"])
    same(history[0]["parent_checkpoint"], history[1]["checkpoint"])


@check
async def history_is_filtered(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    threads = tour.client.threads
    same(len(await threads.get_history(thread, limit=2)), 2)
    same([s["metadata"]["step"] for s in await threads.get_history(thread, metadata={"step": 1})], [1])
    middle = (await threads.get_history(thread))[2]["checkpoint"]
    same(len(await threads.get_history(thread, before={"configurable": middle})), 2)


@check
async def a_state_is_updated(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    threads = tour.client.threads
    made = await threads.update_state(thread, {"value": "P", "log": ["p"]}, as_node="a")
    state = await threads.get_state(thread)
    same(state["checkpoint"]["checkpoint_id"], made["checkpoint"]["checkpoint_id"])
    same((state["values"], state["next"]), ({"value": "P", "log": ["a", "b", "c", "p"]}, ["b"]))
    same((await threads.get(thread))["status"], "interrupted")
    await threads.update_state(thread, None, as_node="b")
    same((await threads.get_state(thread))["next"], ["c"])
    await raises(BadRequestError, threads.update_state(thread, {"value": "z"}, as_node="zz"))
    await raises(BadRequestError, threads.update_state(await tour.thread(), {"value": "z"}))


@check
async def time_travel_forks_and_replays(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    after_a = (await tour.client.threads.get_history(thread))[2]["checkpoint"]
    fork = await tour.client.threads.update_state(thread, {"value": "FORK"}, as_node="a", checkpoint=after_a)
    same(await tour.client.runs.wait(thread, "seq", checkpoint=fork["checkpoint"]), {"value": "FORKbc", "log": ["a", "b", "c"]})
    again = await tour.client.runs.wait(thread, "seq", checkpoint_id=after_a["checkpoint_id"])
    same(again, {"value": "xabc", "log": ["a", "b", "c"]})


@check
async def a_subgraph_state_is_seen_and_edited(tour):
    thread, threads = await tour.thread(), tour.client.threads
    await tour.client.runs.wait(thread, "nested", input={"name": "bob"})
    outer = await threads.get_state(thread)
    same(list(outer["tasks"][0]["checkpoint"]), ["thread_id", "checkpoint_ns"])
    inner = (await threads.get_state(thread, subgraphs=True))["tasks"][0]["state"]
    same((inner["values"], inner["next"]), ({"name": "bob", "log": ["child_greet:bob"]}, ["child_ask"]))
    await threads.update_state(thread, {"name": "eve"}, checkpoint=inner["checkpoint"])
    namespace = {"checkpoint_ns": inner["checkpoint"]["checkpoint_ns"]}
    same((await threads.get_history(thread, checkpoint=namespace))[0]["values"]["name"], "eve")
    same((await tour.client.runs.wait(thread, "nested", command={"resume": "blue"}))["name"], "eve-blue!")
