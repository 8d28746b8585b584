// The same as app.py.
import { Client, PealError, type Run } from "peal-client";
import { unixFetch } from "peal-client/node";

declare const process: { argv: string[]; env: Record<string, string>; exit(code: number): never };

const [url, token, socket, what] = process.argv.slice(2) as [string, string, string, string?];
const trace = process.env["TRACE"]!;

async function refused(call: Promise<unknown>): Promise<PealError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof PealError) return error;
    throw error;
  }
  throw new Error("not refused");
}

const peal = new Client({ url: "http://peal", fetch: unixFetch(socket) });

async function watch(): Promise<void> {
  for await (const event of peal.events({ topics: ["runs"] })) {
    const run = event.data as Run;
    if (event.event === "hello" || event.event === "reset") console.log("listening");
    if (event.event !== "run" || run.state !== "ok") continue;
    console.log("event", run.job, "ok");
    if (run.job === "last") return;
  }
}

if (what === "watch") {
  await watch();
  process.exit(0);
}

const remote = new Client({ url, token });
console.log("me", (await remote.me()).name, (await peal.me()).kind);
console.log("without", (await refused(new Client({ url }).me())).status);

const job = await peal.putJob("team/one", { schedule: "@manual", command: ["echo", "eins", "zwei"] });
console.log("made", job.name, job.revision, job.status.next_at === null ? "None" : job.status.next_at);
const ifMatch = job.revision;
await peal.patchJob("team/one", { notes: "ä\n" }, {}, { ifMatch });
console.log("late", (await refused(peal.patchJob("team/one", { notes: "x" }, {}, { ifMatch }))).status);
const wrong = await refused(peal.putJob("team/bad", { schedule: "0 25 * * *", command: ["true"] }));
console.log("wrong", wrong.status, wrong.errors[0]!.pointer, wrong.errors[0]!.column, wrong.requestId ? "True" : "False");
console.log("unknown", (await refused(peal.getJob("no/such"))).status);

const numbers = [...Array(7).keys()];
for (const number of numbers) await peal.putJob(`page/${number}`, { schedule: "@manual", command: ["true"] });
const names: string[] = [];
for await (const each of peal.eachJob({ folder: "page", limit: 3 })) names.push(each.name);
console.log("pages", names.join(" "));

const request = { idempotencyKey: "key-1", headers: { traceparent: trace } };
const first = await peal.runJob("team/one", {}, request);
const again = await peal.runJob("team/one", {}, request);
console.log("once", first.run_id === again.run_id ? "True" : "False");
for await (const event of peal.followLog(first.run_id)) {
  const chunk = event.data as { stream: string; text: string };
  if (event.event === "chunk") console.log("chunk", chunk.stream, chunk.text.trim());
}
const run = await peal.getRun(first.run_id);
console.log("run", run.state, run.exit_code, run.traceparent === trace ? "True" : "False");
console.log("raw", (await peal.rawLog(first.run_id)).length);

await peal.putJob("slow", { schedule: "@manual", command: ["sleep", "600"] });
const slow = (await peal.runJob("slow")).run_id;
while ((await peal.getRun(slow)).state !== "running");
await peal.killRun(slow);
for await (const event of peal.followLog(slow)) void event;
console.log("killed", (await peal.getRun(slow)).state);
console.log("metrics", (await peal.metrics()).includes("peal_build_info") ? "True" : "False");
const batch = await peal.batchJobs({ delete: numbers.map((number) => `page/${number}`) });
const left: string[] = [];
for await (const each of peal.eachJob({ folder: "page" })) left.push(each.name);
console.log("batch", JSON.stringify(left), "results" in batch || "items" in batch ? "True" : "False");
process.exit(0);
