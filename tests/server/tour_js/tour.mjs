// A tour of the official JavaScript client against a server with the demo graphs.
//
//   node tour.mjs --url http://127.0.0.1:2024 --modules build/tour_js
//   node tour.mjs ... --sdk 1            only the client of this major version (default: 1 and 2)
//   node tour.mjs ... --only resumable   only the checks whose names contain a text
//
// `modules` is a folder in which `npm ci` has been run with the package.json and lock file beside this file.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CHECKS, Tour, within } from "./check.mjs";
import "./checks/resources.mjs";
import "./checks/runs.mjs";
import "./checks/thread_streams.mjs";

const { values: options } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:2024" },
    modules: { type: "string", default: "build/tour_js" },
    sdk: { type: "string", default: "1,2" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "6" },
  },
});

const require = createRequire(resolve(options.modules, "package.json"));
globalThis.WebSocket ??= require("ws"); // Node has one of its own only since version 22
let passed = 0;
let failed = 0;

for (const version of options.sdk.split(",")) {
  const sdk = await import(pathToFileURL(resolve(options.modules, "node_modules", `langgraph-sdk-${version}`, "dist", "index.js")));
  const { client } = new Tour(sdk, options.url);
  const waiting = CHECKS.filter(({ name, needs }) => name.includes(options.only) && needs(client));
  const workers = Array.from({ length: Number(options.jobs) }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await runOne(next, version, sdk);
  });
  await Promise.all(workers);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

async function runOne({ name, run }, version, sdk) {
  try {
    await within(run(new Tour(sdk, options.url)), 90);
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`${name} (sdk ${version}): ${String(error.message ?? error).replace(/\s+/g, " ").slice(0, 400)}`);
  }
}
