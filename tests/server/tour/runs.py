"""client.runs: everything but streaming."""

import uuid

from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

from .check import check, collect, holds, raises, refused, same

SEQ = {"input": {"value": "x"}}
DONE = {"value": "xabc", "log": ["a", "b", "c"]}
LONG = {"input": {"ticks": 100, "delay": 0.1}}


@check
async def every_graph_gives_what_it_should(tour):
    async def result(graph, input, **options):
        return await tour.client.runs.wait(None, graph, input=input, **options)

    same(await result("seq", {"value": "x"}), DONE)
    same(await result("fanout", {"items": [3, 1, 2]}), {"items": [3, 1, 2], "squares": [9, 1, 4], "total": 14})
    same((await result("router", {"kind": "even"}))["path"], ["pick", "even"])
    same((await result("router", {"kind": "other"}))["path"], ["pick", "odd"])
    same((await result("loop", {"until": 4}))["count"], 4)
    same((await result("fail", {"value": "v", "boom": False}))["value"], "vok+survived")
    same((await result("slow", {"ticks": 2, "delay": 0.01}))["done"], ["work:2", "end"])
    messages = (await result("echo", {"messages": [{"role": "user", "content": "hey", "id": "m1"}]}))["messages"]
    same([(m["type"], m["content"], m["id"]) for m in messages], [("human", "hey", "m1"), ("ai", "echo: hey", "ai-1")])
    same((await result("chat", {"messages": ["hello"]}))["messages"][-1]["content"], "you said: hello")


@check
async def a_background_run_is_followed(tour):
    thread, runs = await tour.thread(), tour.client.runs
    created = []
    run = await runs.create(thread, "seq", **SEQ, metadata={"m": 1}, on_run_created=created.append)
    id = run["run_id"]
    same((run["status"], run["thread_id"], run["multitask_strategy"]), ("pending", thread, "enqueue"))
    same(run["metadata"]["m"], 1)
    same(created, [{"run_id": id, "thread_id": thread}])
    same(await runs.join(thread, id), DONE)
    same(await tour.status(thread, id), "success")
    same([row["run_id"] for row in await runs.list(thread)], [id])
    same(await runs.list(thread, status="success", limit=1, select=["run_id"]), [{"run_id": id}])
    same(await runs.list(thread, status="error"), [])
    same(await runs.join(thread, id), DONE)
    await runs.delete(thread, id)
    await raises(NotFoundError, runs.get(thread, id))


@check
async def a_thread_keeps_its_state_from_run_to_run(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    same((await tour.client.runs.wait(thread, "seq", input={"value": "y"}))["log"], ["a", "b", "c"] * 2)
    same((await tour.client.threads.get(thread))["metadata"]["graph_id"], "seq")


@check
async def wait_tells_the_run_that_was_created(tour):
    created, thread = [], await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ, on_run_created=created.append)
    same((await tour.client.runs.get(thread, created[0]["run_id"]))["status"], "success")


@check
async def stateless_runs_leave_nothing_unless_kept(tour):
    run = await tour.client.runs.create(None, "seq", **SEQ, metadata={"tag": tour.tag})
    async def gone():
        return not await tour.client.threads.search(ids=[run["thread_id"]])
    await tour.until(gone)
    same(await tour.client.runs.join(run["thread_id"], run["run_id"]), DONE)
    kept = await tour.client.runs.create(None, "seq", **SEQ, on_completion="keep")
    same(await tour.client.runs.join(kept["thread_id"], kept["run_id"]), DONE)
    same((await tour.client.threads.get(kept["thread_id"]))["values"], DONE)


@check
async def a_batch_is_created(tour):
    payloads = [{"assistant_id": "seq", "input": {"value": n}} for n in "12"]
    made = await tour.client.runs.create_batch(payloads)
    same([run["kwargs"]["input"]["value"] for run in made], ["1", "2"])


@check
async def a_failing_run_raises(tour):
    await raises(Exception, tour.client.runs.wait(None, "fail", input={"value": "v"}))
    thread = await tour.thread()
    answer = await tour.client.runs.wait(thread, "fail", input={"value": "v"}, raise_error=False)
    same(answer, {"__error__": {"error": "ValueError", "message": "boom at maybe_boom"}})
    kept = await tour.client.threads.get(thread)
    same((kept["status"], kept["error"]["error"]), ("error", "ValueError"))
    same((await tour.client.runs.list(thread))[0]["status"], "error")
    same((await tour.client.threads.get_state(thread))["next"], ["maybe_boom"])
    await tour.client.threads.update_state(thread, {"boom": False}, as_node="ok_step")
    same((await tour.client.runs.wait(thread, "fail"))["value"], "vok+survived")


@check
async def limits_and_empty_inputs_are_errors_of_the_run(tour):
    async def error(graph, **options):
        return (await tour.client.runs.wait(None, graph, **options, raise_error=False))["__error__"]["error"]
    same(await error("loop", input={"until": 50}, config={"recursion_limit": 5}), "GraphRecursionError")
    same(await error("seq"), "EmptyInputError")


@check
async def context_and_configurable_reach_the_graph(tour):
    async def text(**options):
        return (await tour.client.runs.wait(None, "ctx", input={"text": "hi"}, **options))["text"]
    same(await text(), "plain:hi")
    same(await text(context={"tone": "warm", "times": 2, "unknown": 1}), "warm:hi warm:hi")
    same(await text(config={"configurable": {"tone": "cold"}}), "cold:hi")
    await refused(400, text(context={"tone": "a"}, config={"configurable": {"tone": "b"}}))


@check
async def a_graph_uses_the_store(tour):
    user = {"user": tour.tag}
    await tour.client.runs.wait(None, "remember", input={**user, "fact": "likes tea"})
    known = (await tour.client.runs.wait(None, "remember", input={**user, "fact": "is tall"}))["known"]
    same(known, ["is tall", "likes tea"])
    same((await tour.client.store.get_item(["facts", tour.tag], "is tall"))["value"], {"text": "is tall"})


@check
async def a_missing_thread_is_created_on_request(tour):
    id = str(uuid.uuid4())
    await refused(404, tour.client.runs.wait(id, "seq", **SEQ))
    same(await tour.client.runs.wait(id, "seq", **SEQ, if_not_exists="create"), DONE)
    same((await tour.client.threads.get(id))["status"], "idle")


@check
async def durability_decides_how_many_checkpoints_stay(tour):
    for durability, checkpoints in (("sync", 5), ("async", 5), ("exit", 1)):
        thread = await tour.thread()
        same(await tour.client.runs.wait(thread, "seq", **SEQ, durability=durability), DONE)
        same(len(await tour.client.threads.get_history(thread)), checkpoints, durability)


@check
async def a_run_may_start_later(tour):
    thread = await tour.thread()
    run = await tour.client.runs.create(thread, "seq", **SEQ, after_seconds=1)
    same(await tour.status(thread, run["run_id"]), "pending")
    same((await tour.client.threads.get(thread))["status"], "busy")
    same(await tour.client.runs.join(thread, run["run_id"]), DONE)


@check
async def refused_runs(tour):
    thread, runs, nobody = await tour.thread(), tour.client.runs, str(uuid.uuid4())
    await raises(UnprocessableEntityError, runs.create(thread, "no such graph"))
    await raises(NotFoundError, runs.create(thread, nobody))
    await raises(NotFoundError, runs.create(nobody, "seq"))
    await raises(NotFoundError, runs.get(thread, nobody))
    await raises(NotFoundError, runs.delete(thread, nobody))
    await raises(NotFoundError, runs.cancel(thread, nobody))
    await raises(NotFoundError, runs.list(nobody))
    await raises(UnprocessableEntityError, runs.create(thread, "seq", durability="never"))
    await refused(422, runs.wait(thread, "seq", input={}, webhook="ftp://x"))


# Concurrency

@check
async def a_second_run_is_rejected(tour):
    thread = await tour.thread()
    run = await tour.client.runs.create(thread, "slow", **LONG)
    await raises(ConflictError, tour.client.runs.create(thread, "seq", **SEQ, multitask_strategy="reject"))
    same(len(await tour.client.runs.list(thread)), 1)
    await tour.client.runs.cancel(thread, run["run_id"], wait=True)


@check
async def queued_runs_keep_their_order(tour):
    thread = await tour.thread()
    made = [await tour.client.runs.create(thread, "slow", input={"ticks": n, "delay": 0.01}) for n in (3, 2, 1)]
    done = (await tour.client.runs.join(thread, made[-1]["run_id"]))["done"]
    same(done, ["work:3", "end", "work:2", "end", "work:1", "end"])


@check
async def a_run_interrupts_the_one_before(tour):
    thread = await tour.thread()
    old = await tour.client.runs.create(thread, "slow", **LONG)
    await tour.until_in_first_node(thread)
    done = await tour.client.runs.wait(thread, "slow", input={"ticks": 1, "delay": 0.01}, multitask_strategy="interrupt")
    same(done["done"], ["work:1", "end"])
    same(await tour.status(thread, old["run_id"]), "interrupted")


@check
async def a_run_rolls_back_the_one_before(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "slow", input={"ticks": 1, "delay": 0.01})
    old = await tour.client.runs.create(thread, "slow", **LONG)
    await tour.until_in_first_node(thread)
    done = await tour.client.runs.wait(thread, "slow", input={"ticks": 2, "delay": 0.01}, multitask_strategy="rollback")
    same(done["done"], ["work:1", "end", "work:2", "end"])
    await raises(NotFoundError, tour.client.runs.get(thread, old["run_id"]))
    same(len(await tour.client.threads.get_history(thread, limit=50)), 8)


# Cancelling

@check
async def a_cancelled_run_can_be_continued(tour):
    thread = await tour.thread()
    run = (await tour.client.runs.create(thread, "slow", input={"ticks": 3, "delay": 0.7}))["run_id"]
    await tour.until_in_first_node(thread)
    await tour.client.runs.cancel(thread, run, wait=True)
    same(await tour.status(thread, run), "interrupted")
    state = await tour.client.threads.get_state(thread)
    same((state["next"], state["values"]["done"]), (["work"], []))
    same((await tour.client.threads.get(thread))["status"], "interrupted")
    await raises(NotFoundError, tour.client.runs.cancel(thread, run))
    same((await tour.client.runs.wait(thread, "slow", input=None))["done"], ["work:3", "end"])


@check
async def a_cancelled_run_can_be_rolled_back(tour):
    thread = await tour.thread()
    run = (await tour.client.runs.create(thread, "slow", **LONG))["run_id"]
    await tour.until_in_first_node(thread)
    await tour.client.runs.cancel(thread, run, wait=True, action="rollback")
    await raises(NotFoundError, tour.client.runs.get(thread, run))
    same((await tour.client.threads.get_state(thread))["values"], {})
    same((await tour.client.threads.get(thread))["status"], "idle")


@check
async def a_waiting_run_is_cancelled(tour):
    thread = await tour.thread()
    run = (await tour.client.runs.create(thread, "slow", **LONG, after_seconds=60))["run_id"]
    await tour.client.runs.cancel(thread, run)
    await tour.until_status(thread, run, "interrupted")
    same((await tour.client.threads.get(thread))["status"], "idle")


@check
async def many_runs_are_cancelled(tour):
    thread = await tour.thread()
    made = [(await tour.client.runs.create(thread, "slow", **LONG, after_seconds=60))["run_id"] for _ in range(3)]
    await tour.client.runs.cancel_many(thread_id=thread, run_ids=made)
    same({row["status"] for row in await tour.client.runs.list(thread)}, {"interrupted"})
    await raises(NotFoundError, tour.client.runs.cancel_many(thread_id=thread, run_ids=made))


@check
async def a_thread_with_waiting_runs_is_deleted(tour):
    thread = await tour.thread()
    await tour.client.runs.create(thread, "slow", **LONG, after_seconds=60)
    await tour.client.threads.delete(thread)
    await raises(NotFoundError, tour.client.threads.get(thread))


# Interrupts

@check
async def an_interrupt_is_answered(tour):
    thread = await tour.thread()
    paused = await tour.client.runs.wait(thread, "approval", input={"text": "hi"})
    same(paused["__interrupt__"][0]["value"], {"question": "approve HI?"})
    seen = await tour.client.threads.get(thread)
    same(seen["status"], "interrupted")
    same([i["value"] for i in next(iter(seen["interrupts"].values()))], [{"question": "approve HI?"}])
    state = await tour.client.threads.get_state(thread)
    same((state["next"], state["tasks"][0]["interrupts"][0]["id"]), (["ask"], paused["__interrupt__"][0]["id"]))
    same((await tour.client.runs.list(thread))[0]["status"], "success")
    done = await tour.client.runs.wait(thread, "approval", command={"resume": "yes"})
    same(done, {"text": "HI:yes", "answer": "yes", "log": ["draft", "ask", "finish"]})
    same((await tour.client.threads.get(thread))["interrupts"], {})


@check
async def an_answer_may_be_any_json(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "approval", input={"text": "a"})
    same((await tour.client.runs.wait(thread, "approval", command={"resume": {"b": 1, "a": [2]}}))["answer"], '{"a":[2],"b":1}')


@check
async def two_interrupts_are_answered_together_or_one_by_one(tour):
    for one_by_one in (False, True):
        thread = await tour.thread()
        asked = (await tour.client.runs.wait(thread, "two_asks", input={}))["__interrupt__"]
        answers = {i["id"]: i["value"]["who"][0].upper() for i in asked}
        steps = [{id: answer} for id, answer in answers.items()] if one_by_one else [answers]
        for step in steps:
            done = await tour.client.runs.wait(thread, "two_asks", command={"resume": step})
        same(done, {"got": ["left=L", "right=R"]})


@check
async def runs_stop_before_and_after_nodes(tour):
    thread, wait = await tour.thread(), tour.client.runs.wait
    same(await wait(thread, "seq", **SEQ, interrupt_before=["b"]), {"value": "xa", "log": ["a"]})
    same((await tour.client.threads.get(thread))["status"], "interrupted")
    same(await wait(thread, "seq", input=None, interrupt_after="*"), {"value": "xab", "log": ["a", "b"]})
    same(await wait(thread, "seq", input=None), DONE)


@check
async def commands_update_and_jump(tour):
    thread = await tour.thread()
    await tour.client.runs.wait(thread, "seq", **SEQ)
    done = await tour.client.runs.wait(thread, "seq", command={"update": {"value": "jump"}, "goto": "c"})
    same(done, {"value": "jumpc", "log": ["a", "b", "c", "c"]})
    await refused(400, tour.client.runs.wait(None, "approval", command={"resume": 1}))


@check
async def a_join_of_an_interrupted_run_shows_the_interrupt(tour):
    thread = await tour.thread()
    run = await tour.client.runs.create(thread, "approval", input={"text": "j"})
    await tour.until_status(thread, run["run_id"], "success")
    joined = await tour.client.runs.join(thread, run["run_id"])
    same(joined["__interrupt__"][0]["value"], {"question": "approve J?"})


@check
async def a_run_that_nobody_reads_goes_on(tour):
    thread = await tour.thread()
    parts = tour.client.runs.stream(thread, "slow", input={"ticks": 4, "delay": 0.1}, stream_mode="custom")
    async for part in parts:
        if part.event == "custom":
            break
    run = (await tour.client.runs.list(thread))[0]["run_id"]
    same((await tour.client.runs.join(thread, run))["done"], ["work:4", "end"])
    holds(not await collect(tour.client.runs.join_stream(thread, run)), "a finished run has nothing more to say")
