// client.runs
import { randomUUID } from "node:crypto";
import { check, collect, holds, named, refused, same, within } from "../check.mjs";

const SEQ = { input: { value: "x" } };
const DONE = { value: "xabc", log: ["a", "b", "c"] };
const LONG = { input: { ticks: 100, delay: 0.1 } };

check("a background run is followed", async (tour) => {
  const { runs } = tour.client;
  const thread = await tour.thread();
  const { run_id, status } = await runs.create(thread, "seq", { ...SEQ, metadata: { m: 1 } });
  same(status, "pending");
  same(await runs.join(thread, run_id), DONE);
  same((await runs.get(thread, run_id)).status, "success");
  same((await runs.list(thread, { limit: 5 })).map((run) => run.run_id), [run_id]);
  await runs.delete(thread, run_id);
  await refused(404, runs.get(thread, run_id));
});

check("stateless and batch runs", async ({ client }) => {
  same(await client.runs.wait(null, "seq", SEQ), DONE);
  same((await client.runs.createBatch([{ assistantId: "seq", ...SEQ }, { assistantId: "seq", ...SEQ }])).length, 2);
  const run = await client.runs.create(null, "seq", SEQ);
  same(await client.runs.join(run.thread_id, run.run_id), DONE);
});

check("a failing run is an error", async ({ client }) => {
  const error = await client.runs.wait(null, "fail", { input: { value: "v" } }).then(() => null, (reason) => reason);
  holds(String(error).includes("boom at maybe_boom"), `the error of the graph, not ${error}`);
  const answer = await client.runs.wait(null, "fail", { input: { value: "v" }, raiseError: false });
  same(answer.__error__.error, "ValueError");
});

check("runs that cannot be", async (tour) => {
  const thread = await tour.thread();
  await refused(422, tour.client.runs.create(thread, "no such graph", {}));
  await refused(404, tour.client.runs.create(randomUUID(), "seq", SEQ));
  await refused(404, tour.client.runs.get(thread, randomUUID()));
});

check("context, configuration and a missing thread", async ({ client }) => {
  same((await client.runs.wait(null, "ctx", { input: { text: "hi" }, context: { tone: "warm" } })).text, "warm:hi");
  same((await client.runs.wait(null, "ctx", { input: { text: "hi" }, config: { configurable: { tone: "cold" } } })).text, "cold:hi");
  same(await client.runs.wait(randomUUID(), "seq", { ...SEQ, ifNotExists: "create" }), DONE);
});

check("an interrupt is answered", async (tour) => {
  const { runs, threads } = tour.client;
  const thread = await tour.thread();
  const paused = await runs.wait(thread, "approval", { input: { text: "hi" } });
  same(paused.__interrupt__[0].value, { question: "approve HI?" });
  same((await threads.get(thread)).status, "interrupted");
  same((await runs.wait(thread, "approval", { command: { resume: "yes" } })).text, "HI:yes");
});

check("runs stop before a node and go on", async (tour) => {
  const thread = await tour.thread();
  same((await tour.client.runs.wait(thread, "seq", { ...SEQ, interruptBefore: ["b"] })).value, "xa");
  same((await tour.client.runs.wait(thread, "seq", { input: null })).value, "xabc");
  const jumped = await tour.client.runs.wait(thread, "seq", { command: { update: { value: "j" }, goto: "c" } });
  same(jumped.value, "jc");
});

check("multitask strategies", async (tour) => {
  const { runs } = tour.client;
  const thread = await tour.thread();
  const first = await runs.create(thread, "slow", LONG);
  await refused(409, runs.create(thread, "seq", { ...SEQ, multitaskStrategy: "reject" }));
  await tour.untilInFirstNode(thread);
  const quick = { input: { ticks: 1, delay: 0.01 } };
  same((await runs.wait(thread, "slow", { ...quick, multitaskStrategy: "interrupt" })).done, ["work:1", "end"]);
  same((await runs.get(thread, first.run_id)).status, "interrupted");
  const second = await runs.create(thread, "slow", LONG);
  await tour.untilInFirstNode(thread);
  same((await runs.wait(thread, "slow", { ...quick, multitaskStrategy: "rollback" })).done, ["work:1", "end", "work:1", "end"]);
  await refused(404, runs.get(thread, second.run_id));
});

check("a run is cancelled", async (tour) => {
  const { runs } = tour.client;
  const thread = await tour.thread();
  const { run_id } = await runs.create(thread, "slow", LONG);
  await tour.untilInFirstNode(thread);
  await runs.cancel(thread, run_id, true);
  same((await runs.get(thread, run_id)).status, "interrupted");
  await refused(404, runs.cancel(thread, run_id));
});

check("many runs are cancelled", async (tour) => {
  const { runs } = tour.client;
  const thread = await tour.thread();
  const { run_id } = await runs.create(thread, "slow", { ...LONG, afterSeconds: 60 });
  await runs.cancelMany({ threadId: thread, runIds: [run_id] });
  same((await runs.get(thread, run_id)).status, "interrupted");
}, (client) => client.runs.cancelMany);

// Streams

const MODES = {
  values: ["seq", SEQ, ["values", "values", "values", "values"]],
  updates: ["seq", SEQ, ["updates", "updates", "updates"]],
  tasks: ["seq", SEQ, Array(6).fill("tasks")],
  checkpoints: ["seq", SEQ, Array(5).fill("checkpoints")],
  debug: ["seq", SEQ, Array(11).fill("debug")],
  custom: ["slow", { input: { ticks: 3, delay: 0.01 } }, ["custom", "custom", "custom"]],
  events: ["echo", { input: { messages: ["yo"] } }, Array(5).fill("events")],
};

for (const [mode, [graph, payload, events]] of Object.entries(MODES)) {
  check(`stream mode ${mode}`, async (tour) => {
    const parts = await collect(tour.client.runs.stream(await tour.thread(), graph, { ...payload, streamMode: mode }));
    same(parts.map((part) => part.event), ["metadata", ...events]);
  });
}

check("stream modes for messages", async ({ client }) => {
  const payload = { input: { messages: [{ role: "user", content: "hello" }] } };
  const tuples = named(await collect(client.runs.stream(null, "chat", { ...payload, streamMode: "messages-tuple" })), "messages");
  same(tuples.map(([chunk]) => chunk.content).join(""), "you said: hello");
  const whole = named(await collect(client.runs.stream(null, "chat", { ...payload, streamMode: "messages" })), "messages/partial");
  same(whole.at(-1)[0].content, "you said: hello");
});

check("several modes and subgraphs", async (tour) => {
  const thread = await tour.thread();
  const both = await collect(tour.client.runs.stream(null, "seq", { ...SEQ, streamMode: ["values", "updates"] }));
  same(both.slice(1, 4).map((part) => part.event), ["values", "updates", "values"]);
  const payload = { input: { name: "bob" }, streamMode: ["updates"], streamSubgraphs: true };
  const parts = await collect(tour.client.runs.stream(thread, "nested", payload));
  holds(parts.some((part) => part.event.startsWith("updates|child:")), "events of the subgraph");
});

check("the run is known from the head of the answer", async (tour) => {
  const thread = await tour.thread();
  let created;
  const parts = await collect(tour.client.runs.stream(thread, "seq", { ...SEQ, onRunCreated: (run) => { created = run; } }));
  same([created.run_id, created.thread_id], [parts[0].data.run_id, thread]);
});

check("an error ends the stream", async ({ client }) => {
  const parts = [];
  try {
    for await (const part of client.runs.stream(null, "fail", { input: { value: "z" }, streamMode: "updates" })) parts.push(part);
  } catch (error) {
    holds(String(error).includes("boom"), `the error of the graph, not ${error}`);
  }
  same(named(parts, "updates"), [{ ok_step: { value: "zok" } }]);
});

check("a resumable stream is joined anywhere", async (tour) => {
  const thread = await tour.thread();
  const payload = { input: { ticks: 4, delay: 0.05 }, streamMode: ["custom", "values"], streamResumable: true };
  const parts = await collect(tour.client.runs.stream(thread, "slow", payload));
  const run = parts[0].data.run_id;
  same(new Set(parts.map((part) => part.id)).size, parts.length);
  for (const [position, part] of parts.entries()) {
    same(await collect(tour.client.runs.joinStream(thread, run, { lastEventId: part.id })), parts.slice(position + 1));
  }
  same(await collect(tour.client.runs.joinStream(thread, run, { lastEventId: "-1" })), parts);
  const custom = await collect(tour.client.runs.joinStream(thread, run, { lastEventId: "-1", streamMode: "custom" }));
  same(named(custom, "custom"), named(parts, "custom"));
});

check("a resumable stream survives leaving it", async (tour) => {
  const thread = await tour.thread();
  const payload = { input: { ticks: 8, delay: 0.1 }, streamMode: ["custom"], streamResumable: true };
  const seen = [];
  for await (const part of tour.client.runs.stream(thread, "slow", payload)) {
    seen.push(part);
    if (seen.length === 4) break;
  }
  const run = seen[0].data.run_id;
  seen.push(...await collect(tour.client.runs.joinStream(thread, run, { lastEventId: seen.at(-1).id })));
  const ticks = named(seen, "custom").map((data) => data.tick);
  same(ticks, [0, 1, 2, 3, 4, 5, 6, 7]);
});

check("leaving a stream can cancel the run", async (tour) => {
  const thread = await tour.thread();
  const left = new AbortController();
  const payload = { input: { ticks: 200, delay: 0.1 }, streamMode: ["custom"], onDisconnect: "cancel", signal: left.signal };
  try {
    for await (const part of tour.client.runs.stream(thread, "slow", payload)) if (part.event === "custom") left.abort();
  } catch (error) {
    holds(left.signal.aborted, `an abort, not ${error}`);
  }
  const [{ run_id }] = await tour.client.runs.list(thread);
  await tour.untilStatus(thread, run_id, "interrupted");
});

check("a thread stream shows every run", async (tour) => {
  const thread = await tour.thread();
  const seen = [];
  const read = async () => {
    for await (const part of tour.client.threads.joinStream(thread)) {
      seen.push(part);
      if (part.data?.status === "run_done") return;
    }
  };
  const reader = read();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await collect(tour.client.runs.stream(thread, "seq", { ...SEQ, streamMode: "updates" }));
  await within(reader);
  same(named(seen, "updates").map((update) => Object.keys(update)[0]), ["a", "b", "c"]);
}, (client) => client.threads.joinStream);
