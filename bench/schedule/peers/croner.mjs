// Nanoseconds per parse and per next of croner, for the same cases and in the same way as
// schedule_bench.c. Runs with TZ=UTC: croner is faster in the process's own zone than in one that is
// named, even where they are the same.
import { readFileSync } from "node:fs";
import { Cron } from "croner";

const ROUNDS = 9;
const ROUND_NS = 10e6;
const INSTANTS = 1024;

// Keeps the compiler from dropping a call.
let sink;

// A round is long enough for the clock, and the shortest round counts.
function measure(run) {
  let best = Infinity;
  for (let round = 0, calls = 1; round < ROUNDS; ) {
    const start = process.hrtime.bigint();
    run(calls);
    const took = Number(process.hrtime.bigint() - start);
    if (took < ROUND_NS) {
      calls *= 2;
      continue;
    }
    best = Math.min(best, took / calls);
    round++;
  }
  return best;
}

function drawInstants(from, to) {
  const list = [];
  for (let i = 0, state = 1; i < INSTANTS; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const span = (to.getTime() - from.getTime()) / 1000;
    list.push(new Date(from.getTime() + Math.floor((state / 4294967296) * span) * 1000));
  }
  return list;
}

function runCase(line) {
  const [zone, fromYear, toYear, text] = line.split("\t");
  const from = new Date(Date.UTC(fromYear, 0, 1));
  const to = new Date(Date.UTC(toYear, 0, 1));
  const list = drawInstants(from, to);
  const options = zone === "UTC" ? { paused: true } : { paused: true, timezone: zone };
  const parse = () => new Cron(text, options);
  const cron = parse();
  const parsing = measure((calls) => {
    for (let i = 0; i < calls; i++) sink = parse();
  });
  const sequential = measure((calls) => {
    let at = from;
    for (let i = 0; i < calls; i++) {
      at = cron.nextRun(at);
      if (!at || at >= to) at = from;
    }
    sink = at;
  });
  const random = measure((calls) => {
    for (let i = 0; i < calls; i++) sink = cron.nextRun(list[i % INSTANTS]);
  });
  const answer = cron.nextRun(from);
  const figures = [parsing, sequential, random].map((ns) => ns.toFixed(1));
  return [...figures, answer ? answer.getTime() / 1000 : -1].join("\t");
}

for (const line of readFileSync(process.argv[2], "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  let result;
  try {
    result = runCase(line);
  } catch {
    result = "unsupported";
  }
  console.log(result);
}
