"""client.assistants"""

import uuid

from langgraph_sdk.errors import BadRequestError, ConflictError, NotFoundError, UnprocessableEntityError

from .check import check, holds, raises, same

NAMESPACE = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")


def system_assistant(graph):
    return str(uuid.uuid5(NAMESPACE, graph))


@check
async def every_graph_has_a_system_assistant(tour):
    for graph in ("echo", "seq", "fanout", "approval", "nested", "two_asks", "fail", "slow", "remember", "ctx", "loop",
                  "router", "chat"):
        assistant = await tour.client.assistants.get(system_assistant(graph))
        same((assistant["graph_id"], assistant["name"], assistant["version"]), (graph, graph, 1))
        same(assistant["metadata"], {"created_by": "system"})


@check
async def an_assistant_is_created_updated_and_deleted(tour):
    assistants = tour.client.assistants
    made = await assistants.create("ctx", context={"tone": "loud"}, metadata={"tag": tour.tag}, name="n", description="d")
    id = made["assistant_id"]
    same((made["name"], made["description"], made["version"]), ("n", "d", 1))
    same(made["config"], {"configurable": {"tone": "loud"}})
    changed = await assistants.update(id, metadata={"more": 1}, name="m", context={"tone": "low"})
    same((changed["version"], changed["name"], changed["description"]), (2, "m", "d"))
    same(changed["metadata"], {"tag": tour.tag, "more": 1})
    same((await assistants.get(id))["context"], {"tone": "low"})
    await assistants.delete(id)
    await raises(NotFoundError, assistants.get(id))


@check
async def an_assistant_with_a_given_id_is_made_once(tour):
    id = str(uuid.uuid4())
    await tour.client.assistants.create("seq", assistant_id=id)
    await raises(ConflictError, tour.client.assistants.create("seq", assistant_id=id))
    again = await tour.client.assistants.create("seq", assistant_id=id, if_exists="do_nothing", name="other")
    same(again["name"], "Untitled")
    await tour.client.assistants.delete(id)


@check
async def refused_assistants(tour):
    assistants = tour.client.assistants
    await raises(NotFoundError, assistants.create("no such graph"))
    await raises(BadRequestError, assistants.create("ctx", config={"configurable": {"tone": "a"}}, context={"tone": "b"}))
    await raises(UnprocessableEntityError, assistants.get("seq"))
    await raises(NotFoundError, assistants.update(str(uuid.uuid4()), name="x"))
    await raises(NotFoundError, assistants.delete(str(uuid.uuid4())))
    await raises(UnprocessableEntityError, assistants.search(limit=1001))


@check
async def versions_are_listed_and_restored(tour):
    assistants = tour.client.assistants
    id = (await assistants.create("ctx", context={"tone": "one"}, metadata={"v": 1}))["assistant_id"]
    await assistants.update(id, context={"tone": "two"}, metadata={"v": 2})
    same([row["version"] for row in await assistants.get_versions(id)], [2, 1])
    same([row["version"] for row in await assistants.get_versions(id, metadata={"v": 1})], [1])
    same([row["version"] for row in await assistants.get_versions(id, limit=1, offset=1)], [1])
    restored = await assistants.set_latest(id, 1)
    same((restored["version"], restored["config"]), (1, {"configurable": {"tone": "one"}}))
    holds(restored["context"] in ({"tone": "one"}, {"tone": "two"}), "the context of a version")
    await raises(NotFoundError, assistants.set_latest(id, 9))
    await assistants.delete(id)


@check
async def assistants_are_searched_and_counted(tour):
    assistants = tour.client.assistants
    ids = [(await assistants.create("ctx", name=f"name {n}", metadata={"tag": tour.tag, "n": n}))["assistant_id"] for n in range(3)]
    mine = {"metadata": {"tag": tour.tag}}
    same([row["assistant_id"] for row in await assistants.search(**mine)], ids[::-1])
    ascending = await assistants.search(**mine, sort_by="name", sort_order="asc", limit=2, select=["name"])
    same(ascending, [{"name": "name 0"}, {"name": "name 1"}])
    page = await assistants.search(**mine, limit=2, response_format="object")
    same((len(page["assistants"]), page["next"]), (2, "2"))
    last = await assistants.search(**mine, limit=2, offset=2, response_format="object")
    same((len(last["assistants"]), last["next"]), (1, None))
    same(await assistants.search(**mine, graph_id="seq"), [])
    same(len(await assistants.search(**mine, name="name 1")), 1)
    same(await assistants.count(**mine), 3)
    for id in ids:
        await assistants.delete(id)


@check
async def graphs_are_drawn(tour):
    assistants = tour.client.assistants
    drawn = await assistants.get_graph(system_assistant("router"))
    same([node["id"] for node in drawn["nodes"]], ["__start__", "pick", "even", "odd", "__end__"])
    holds({"source": "pick", "target": "odd", "conditional": True} in drawn["edges"], "a conditional edge")
    inside = await assistants.get_graph("nested", xray=True)
    holds("child:child_ask" in [node["id"] for node in inside["nodes"]], "the nodes of a subgraph")


@check
async def schemas_are_given(tour):
    schemas = await tour.client.assistants.get_schemas(system_assistant("ctx"))
    same(schemas["graph_id"], "ctx")
    same(schemas["input_schema"]["properties"]["text"]["type"], "string")
    same(set(schemas["context_schema"]["properties"]), {"tone", "times"})
    children = await tour.client.assistants.get_subgraphs(system_assistant("nested"))
    same(list(children), ["child"])
    one = await tour.client.assistants.get_subgraphs(system_assistant("nested"), namespace="child", recurse=True)
    same(set(one["child"]["input_schema"]["properties"]), {"name", "log"})


@check
async def a_run_uses_the_context_of_its_assistant(tour):
    id = (await tour.client.assistants.create("ctx", context={"tone": "warm", "times": 2}))["assistant_id"]
    same((await tour.client.runs.wait(None, id, input={"text": "hi"}))["text"], "warm:hi warm:hi")
    same((await tour.client.runs.wait(None, id, input={"text": "hi"}, context={"tone": "cold"}))["text"], "cold:hi cold:hi")
    await tour.client.assistants.delete(id)
