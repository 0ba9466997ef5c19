"""client.store"""

from langgraph_sdk.errors import APIStatusError, BadRequestError, UnprocessableEntityError

from .check import check, raises, same


@check
async def an_item_is_put_read_and_deleted(tour):
    store, namespace = tour.client.store, [tour.tag, "a"]
    await store.put_item(namespace, "k", {"n": 1})
    item = await store.get_item(namespace, "k")
    same((item["namespace"], item["key"], item["value"]), (namespace, "k", {"n": 1}))
    await store.put_item(namespace, "k", {"n": 2})
    same((await store.get_item(namespace, "k"))["value"], {"n": 2})
    await store.delete_item(namespace, "k")
    same(await store.get_item(namespace, "k"), None)
    await store.delete_item(namespace, "k")


@check
async def items_are_searched(tour):
    store = tour.client.store
    for n in range(4):
        await store.put_item([tour.tag, "ab"[n % 2]], f"k{n}", {"n": n, "even": n % 2 == 0}, index=False, ttl=60)

    async def found(prefix, **options):
        return sorted(item["key"] for item in (await store.search_items(prefix, **options))["items"])

    same(await found([tour.tag]), ["k0", "k1", "k2", "k3"])
    same(await found([tour.tag, "b"]), ["k1", "k3"])
    same(await found([tour.tag], filter={"even": True}), ["k0", "k2"])
    same(await found([tour.tag], filter={"n": {"$gte": 2}}), ["k2", "k3"])
    same(await found([tour.tag], filter={"n": {"$ne": 2}}), ["k0", "k1", "k3"])
    same(len(await found([tour.tag], limit=1, offset=1)), 1)
    same(await found([tour.tag + "x"]), [])


@check
async def namespaces_are_listed(tour):
    store = tour.client.store
    for path in (["a"], ["a", "x"], ["b", "x"]):
        await store.put_item([tour.tag, *path], "k", {})

    async def listed(**options):
        return sorted(namespace[1:] for namespace in (await store.list_namespaces(**options))["namespaces"])

    same(await listed(prefix=[tour.tag]), [["a"], ["a", "x"], ["b", "x"]])
    same(await listed(prefix=[tour.tag], suffix=["x"]), [["a", "x"], ["b", "x"]])
    same(await listed(prefix=[tour.tag], max_depth=2), [["a"], ["b"]])
    same(len(await listed(prefix=[tour.tag], limit=1, offset=1)), 1)


@check
async def refused_items(tour):
    store = tour.client.store
    await raises(BadRequestError, store.put_item([], "k", {}))
    await raises(BadRequestError, store.put_item(["langgraph"], "k", {}))
    await raises(APIStatusError, store.put_item([tour.tag, ""], "k", {}))
    await raises(UnprocessableEntityError, store.put_item([tour.tag], "k", "text"))
    await raises(ValueError, store.put_item(["a.b"], "k", {}))
