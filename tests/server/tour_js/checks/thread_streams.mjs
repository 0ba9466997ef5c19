// client.threads.stream: the thread-scoped protocol, in the clients that have it.
import { check, holds, same, within } from "../check.mjs";

const offered = (client) => client.threads.stream;

for (const transport of ["sse", "websocket"]) {
  const open = (tour, assistantId, threadId) =>
    threadId ? tour.client.threads.stream(threadId, { assistantId, transport })
      : tour.client.threads.stream({ assistantId, transport });

  check(`${transport}: a run is started and its output awaited`, async (tour) => {
    const thread = open(tour, "seq");
    const { run_id } = await thread.run.start({ input: { value: "x" } });
    holds(run_id, "the id of the run");
    same(await within(thread.output), { value: "xabc", log: ["a", "b", "c"] });
    await thread.close();
  }, offered);

  check(`${transport}: snapshots arrive`, async (tour) => {
    const thread = open(tour, "seq");
    const seen = [];
    const read = (async () => {
      for await (const values of thread.values) {
        seen.push(values.value);
        if (values.value === "xabc") return;
      }
    })();
    await thread.run.start({ input: { value: "x" } });
    await within(read);
    holds("x,xa,xab,xabc".endsWith(seen.join(",")), `snapshots in order: ${seen}`);
    await thread.close();
  }, offered);

  check(`${transport}: messages arrive in pieces`, async (tour) => {
    const thread = open(tour, "chat");
    const read = (async () => {
      for await (const message of thread.messages) return await message.text;
    })();
    await thread.run.start({ input: { messages: [{ role: "user", content: "hello world" }] } });
    same(await within(read), "you said: hello world");
    await thread.close();
  }, offered);

  check(`${transport}: an interrupt is answered`, async (tour) => {
    const thread = open(tour, "approval");
    await thread.run.start({ input: { text: "ok" } });
    thread.startLifecycleWatcher();
    await tour.until(() => thread.interrupted && thread.interrupts.length > 0);
    const [{ interruptId, namespace }] = thread.interrupts;
    await thread.input.respond({ interrupt_id: interruptId, namespace, response: "sure" });
    await tour.until(async () => (await tour.client.threads.getState(thread.threadId)).values.text === "OK:sure");
    await thread.close();
  }, offered);

  check(`${transport}: subscriptions are filtered and replayed`, async (tour) => {
    const first = open(tour, "seq");
    await first.run.start({ input: { value: "x" } });
    await within(first.output);
    await first.close();
    const again = open(tour, "seq", first.threadId);
    const events = await again.subscribe({ channels: ["lifecycle"] });
    const seen = [];
    await within((async () => {
      for await (const event of events) {
        seen.push(event.params.data.event);
        if (seen.at(-1) === "completed") return;
      }
    })());
    same(seen, ["running", "completed"]);
    await again.close();
  }, offered);
}
