// Small named checks of a server through the official JavaScript client.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

export const CHECKS = [];

// `needs` names a part of the client without which the check is left out: older versions lack some.
export function check(name, run, needs = () => true) {
  CHECKS.push({ name, run, needs });
}

export const same = (actual, expected, what) => assert.deepEqual(actual, expected, what);
export const holds = (condition, what) => assert.ok(condition, what);

// What a check needs: a client, and threads of its own.
export class Tour {
  constructor(sdk, url) {
    this.url = url;
    this.client = new sdk.Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } });
    this.tag = randomUUID(); // in metadata, so that a search finds only what this check has made
  }

  async thread(options) {
    return (await this.client.threads.create(options)).thread_id;
  }

  async until(condition, seconds = 20) {
    const deadline = Date.now() + seconds * 1000;
    while (Date.now() < deadline) {
      const result = await condition();
      if (result) return result;
      await sleep(50);
    }
    throw new Error(`not within ${seconds} s`);
  }

  // A run on the thread has started, and its first checkpoint can be seen.
  untilInFirstNode(thread) {
    return this.until(async () => (await this.client.threads.getState(thread)).next.length > 0);
  }

  untilStatus(thread, run, status) {
    return this.until(async () => (await this.client.runs.get(thread, run)).status === status);
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function collect(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

export const named = (parts, event) => parts.filter((part) => part.event === event).map((part) => part.data);

// The server answers with an error of this status.
export async function refused(status, promise) {
  const error = await promise.then(() => null, (reason) => reason);
  assert.ok(error, `expected status ${status}, got an answer`);
  assert.equal(error.status, status, `expected status ${status}, got ${error}`);
}

export function within(promise, seconds = 30) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
