"""client.crons"""

from datetime import datetime, timedelta, timezone

from langgraph_sdk.errors import BadRequestError, NotFoundError, UnprocessableEntityError

from .check import check, holds, on_demand, raises, same


@check
async def a_cron_is_created_changed_and_deleted(tour):
    crons = tour.client.crons
    made = await crons.create("seq", schedule="0 3 * * *", input={"value": "c"}, metadata={"tag": tour.tag})
    same((made["schedule"], made["enabled"], made["on_run_completed"], made["thread_id"]), ("0 3 * * *", True, "delete", None))
    same(made["payload"]["input"], {"value": "c"})
    next_run = datetime.fromisoformat(made["next_run_date"])
    same((next_run.hour, next_run.minute), (3, 0))
    holds(timedelta() < next_run - datetime.now(timezone.utc) <= timedelta(days=1), "the next run is within a day")
    changed = await crons.update(made["cron_id"], schedule="30 4 * * *", enabled=False)
    same((changed["schedule"], changed["enabled"]), ("30 4 * * *", False))
    await raises(BadRequestError, crons.update(made["cron_id"]))
    await crons.delete(made["cron_id"])
    await raises(NotFoundError, crons.delete(made["cron_id"]))


@check
async def a_cron_of_a_thread_has_a_time_zone_and_an_end(tour):
    thread, crons = await tour.thread(), tour.client.crons
    end = datetime.now(timezone.utc) + timedelta(days=9)
    made = await crons.create_for_thread(thread, "seq", schedule="0 12 * * *", input={"value": "c"}, timezone="Europe/Paris",
                                         end_time=end, multitask_strategy="reject")
    same((made["thread_id"], made["timezone"]), (thread, "Europe/Paris"))
    holds(datetime.fromisoformat(made["next_run_date"]).astimezone(timezone.utc).hour in (10, 11), "noon in Paris")
    same((await crons.update(made["cron_id"], end_time=None))["end_time"], None)
    await crons.delete(made["cron_id"])


@check
async def crons_are_searched_and_counted(tour):
    thread, crons = await tour.thread(), tour.client.crons
    ids = [(await crons.create_for_thread(thread, "seq", schedule=f"{n} 5 * * *", enabled=bool(n)))["cron_id"] for n in range(3)]
    same({row["cron_id"] for row in await crons.search(thread_id=thread)}, set(ids))
    same([row["cron_id"] for row in await crons.search(thread_id=thread, enabled=False)], ids[:1])
    same([row["cron_id"] for row in await crons.search(thread_id=thread, sort_by="created_at", sort_order="asc", limit=2)], ids[:2])
    same(await crons.search(thread_id=thread, select=["cron_id"], limit=1, offset=2, sort_by="created_at", sort_order="asc"),
         [{"cron_id": ids[2]}])
    same(await crons.count(thread_id=thread), 3)
    for id in ids:
        await crons.delete(id)


@check
async def refused_crons(tour):
    crons = tour.client.crons
    await raises(UnprocessableEntityError, crons.create("seq", schedule="nonsense"))
    await raises(UnprocessableEntityError, crons.create("seq", schedule="* * * * *", timezone="Mars/Base"))
    await raises(NotFoundError, crons.create("no such graph", schedule="* * * * *"))


@on_demand
async def a_cron_fires(tour):
    thread = await tour.thread()
    cron = await tour.client.crons.create_for_thread(thread, "seq", schedule="* * * * *", input={"value": "c"})

    async def fired():
        return [run for run in await tour.client.runs.list(thread) if run["status"] == "success"]

    await tour.until(fired, seconds=75)
    same((await tour.client.threads.get(thread))["values"]["value"], "cabc")
    await tour.client.crons.delete(cron["cron_id"])
