// client.assistants, client.threads, client.store, client.crons
import { randomUUID } from "node:crypto";
import { check, holds, refused, same } from "../check.mjs";

const SEQ = { input: { value: "x" } };

check("an assistant is created, updated, versioned and deleted", async ({ client, tag }) => {
  const { assistants } = client;
  const made = await assistants.create({ graphId: "ctx", context: { tone: "one" }, metadata: { tag }, name: "n" });
  same([made.name, made.version, made.config], ["n", 1, { configurable: { tone: "one" } }]);
  const changed = await assistants.update(made.assistant_id, { context: { tone: "two" }, metadata: { more: 1 } });
  same([changed.version, changed.metadata], [2, { tag, more: 1 }]);
  same((await assistants.getVersions(made.assistant_id)).map((row) => row.version), [2, 1]);
  same((await assistants.setLatest(made.assistant_id, 1)).version, 1);
  same((await assistants.search({ metadata: { tag } })).map((row) => row.assistant_id), [made.assistant_id]);
  same((await assistants.get(made.assistant_id)).graph_id, "ctx");
  await assistants.delete(made.assistant_id);
  await refused(404, assistants.get(made.assistant_id));
});

check("assistants are counted and paged", async ({ client, tag }) => {
  const made = [];
  for (const name of ["p", "q", "r"]) made.push(await client.assistants.create({ graphId: "seq", name, metadata: { tag } }));
  same(await client.assistants.count({ metadata: { tag } }), 3);
  const page = await client.assistants.search({ metadata: { tag }, limit: 2, sortBy: "name", sortOrder: "asc", includePagination: true });
  same([page.assistants.map((row) => row.name), page.next], [["p", "q"], "2"]);
  for (const { assistant_id } of made) await client.assistants.delete(assistant_id);
}, (client) => client.assistants.count);

check("graphs and schemas are given", async ({ client }) => {
  const drawn = await client.assistants.getGraph("nested", { xray: true });
  holds(drawn.nodes.some((node) => node.id === "child:child_ask"), "the nodes of a subgraph");
  const [assistant] = await client.assistants.search({ graphId: "nested", limit: 1 });
  const schemas = await client.assistants.getSchemas(assistant.assistant_id);
  same(Object.keys(schemas.input_schema.properties).sort(), ["log", "name"]);
  same(Object.keys(await client.assistants.getSubgraphs(assistant.assistant_id)), ["child"]);
  same(Object.keys(await client.assistants.getSubgraphs(assistant.assistant_id, { namespace: "child", recurse: true })), ["child"]);
});

check("a thread is created, changed, copied and deleted", async ({ client }) => {
  const { threads } = client;
  const made = await threads.create({ metadata: { a: 1 } });
  same([made.status, made.metadata], ["idle", { a: 1 }]);
  same((await threads.update(made.thread_id, { metadata: { b: 2 } })).metadata, { a: 1, b: 2 });
  await client.runs.wait(made.thread_id, "seq", SEQ);
  const copied = await threads.copy(made.thread_id);
  same((await threads.getHistory(copied.thread_id)).length, 5);
  await threads.delete(made.thread_id);
  await refused(404, threads.get(made.thread_id));
});

check("a thread with a given id is made once", async ({ client }) => {
  const threadId = randomUUID();
  same((await client.threads.create({ threadId, graphId: "seq" })).metadata.graph_id, "seq");
  await refused(409, client.threads.create({ threadId }));
  same((await client.threads.create({ threadId, ifExists: "do_nothing" })).thread_id, threadId);
});

check("threads are searched", async (tour) => {
  const { client, tag } = tour;
  const one = await tour.thread({ metadata: { tag } });
  const two = await tour.thread({ metadata: { tag } });
  await client.runs.wait(two, "approval", { input: { text: "t" } });
  same((await client.threads.search({ metadata: { tag } })).length, 2);
  same((await client.threads.search({ metadata: { tag }, status: "interrupted" })).map((row) => row.thread_id), [two]);
  same((await client.threads.search({ metadata: { tag }, sortBy: "created_at", sortOrder: "asc", limit: 1 }))[0].thread_id, one);
});

check("threads are counted and pruned", async (tour) => {
  const id = await tour.thread({ metadata: { tag: tour.tag } });
  same(await tour.client.threads.count({ metadata: { tag: tour.tag } }), 1);
  same((await tour.client.threads.prune([id])).pruned_count, 1);
}, (client) => client.threads.count && client.threads.prune);

check("a state is read, updated and travelled", async (tour) => {
  const { threads, runs } = tour.client;
  const id = await tour.thread();
  await runs.wait(id, "seq", SEQ);
  const history = await threads.getHistory(id);
  same(history.map((state) => state.metadata.step), [3, 2, 1, 0, -1]);
  same((await threads.getHistory(id, { limit: 1 })).length, 1);
  same((await threads.getHistory(id, { metadata: { step: 1 } })).length, 1);
  const afterA = history[2].checkpoint;
  same((await threads.getState(id, afterA.checkpoint_id)).values.value, "xa");
  same((await threads.getState(id, afterA)).values.value, "xa");
  const fork = await threads.updateState(id, { values: { value: "F" }, asNode: "a", checkpoint: afterA });
  same((await threads.getState(id)).next, ["b"]);
  const config = fork.checkpoint ?? fork.configurable;
  same((await runs.wait(id, "seq", { input: null, checkpoint: config })).value, "Fbc");
  same((await runs.wait(id, "seq", { input: null, checkpointId: afterA.checkpoint_id })).value, "xabc");
});

check("a subgraph state is seen", async (tour) => {
  const id = await tour.thread();
  await tour.client.runs.wait(id, "nested", { input: { name: "bob" } });
  const state = await tour.client.threads.getState(id, undefined, { subgraphs: true });
  same(state.tasks[0].state.values, { name: "bob", log: ["child_greet:bob"] });
});

check("a thread starts with given steps", async ({ client }) => {
  const supersteps = [
    { updates: [{ values: { value: "one" }, asNode: "__input__" }] },
    { updates: [{ values: { value: "onea", log: ["a"] }, asNode: "a" }] },
  ];
  const { thread_id } = await client.threads.create({ graphId: "seq", supersteps });
  same((await client.runs.wait(thread_id, "seq", { input: null })).value, "oneabc");
});

check("store items are put, read, searched and deleted", async ({ client, tag }) => {
  const { store } = client;
  for (const n of [1, 2, 3]) await store.putItem([tag, "ab"[n % 2]], `k${n}`, { n });
  same((await store.getItem([tag, "b"], "k1")).value, { n: 1 });
  same(await store.getItem([tag, "b"], "none"), null);
  const keys = async (options) => (await store.searchItems([tag], options)).items.map((item) => item.key).sort();
  same(await keys(), ["k1", "k2", "k3"]);
  same(await keys({ filter: { n: 2 } }), ["k2"]);
  same((await keys({ limit: 1, offset: 1 })).length, 1);
  same((await store.listNamespaces({ prefix: [tag] })).namespaces.sort(), [[tag, "a"], [tag, "b"]]);
  await store.deleteItem([tag, "b"], "k1");
  same(await store.getItem([tag, "b"], "k1"), null);
});

check("crons are created, searched and deleted", async (tour) => {
  const { crons } = tour.client;
  const thread = await tour.thread();
  const made = await crons.createForThread(thread, "seq", { schedule: "0 3 * * *", input: { value: "c" } });
  same((await crons.search({ threadId: thread })).map((cron) => cron.cron_id), [made.cron_id]);
  await crons.delete(made.cron_id);
  const alone = await crons.create("seq", { schedule: "0 3 * * *", input: { value: "c" } });
  holds(alone.cron_id, "an id");
  await crons.delete(alone.cron_id);
  await refused(404, crons.delete(alone.cron_id));
  await refused(422, crons.create("seq", { schedule: "nonsense" }));
});

check("crons are changed and counted", async (tour) => {
  const { crons } = tour.client;
  const thread = await tour.thread();
  const { cron_id } = await crons.createForThread(thread, "seq", { schedule: "0 3 * * *" });
  same((await crons.update(cron_id, { schedule: "5 4 * * *", enabled: false })).enabled, false);
  same(await crons.count({ threadId: thread }), 1);
  await crons.delete(cron_id);
}, (client) => client.crons.update && client.crons.count);
