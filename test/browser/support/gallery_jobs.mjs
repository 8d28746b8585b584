// The jobs of the pictures: a small company's, with a past of some days. By day there is more to do
// than by night; some hours ago a database was away, and what needs it failed for a while.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const hour = 3_600_000;
const day = 24 * hour;
const outage = { from: Math.floor((Date.now() - 9 * hour) / 1000), to: Math.floor((Date.now() - 6.6 * hour) / 1000) };

// Fails while the database is away, takes longer when it has come back, and fails now and then, in a
// way that depends on its tick alone.
function mostly(command, every) {
    return (
        `t=$(date -d "$PEAL_TICK" +%s); if [ $t -ge ${outage.from} ] && [ $t -lt ${outage.to} ]; then echo "${command}: connection refused" >&2; exit 1; fi; ` +
        `if [ $t -lt ${outage.to + 7200} ] && [ $t -ge ${outage.to} ]; then sleep 0.1; fi; ` +
        `sleep 0.0$((t / 60 % 7)); if [ $((t / 60 % ${every})) -eq 0 ]; then echo "${command}: timed out" >&2; exit 1; fi; echo "${command}: done"`
    );
}

export const galleryJobs = [
    {
        name: "billing/close-day",
        schedule: "0 0 * * *",
        timezone: "America/New_York",
        shell: "sleep 0.0$((RANDOM % 9)); echo 'closed the books of the day'",
        owner: "billing@example.org",
        labels: { team: "billing", tier: "1" },
        timeout: "2h",
        notes: "Closes the books of the day.\n\nSafe to run twice: the second run finds nothing to do.",
    },
    { name: "billing/invoices", schedule: "30 6 * * MON-FRI", timezone: "America/New_York", command: ["/bin/true"], owner: "billing@example.org", labels: { team: "billing" } },
    { name: "certs/renew", schedule: "@daily", timezone: "UTC", command: ["/bin/true"], jitter: "30m", labels: { team: "platform" } },
    {
        name: "colours",
        schedule: "@manual",
        shell:
            "echo 'Collecting packages'; printf '  \\033[32m✓\\033[0m 214 packages resolved\\n'; printf '\\033[1mBuilding\\033[0m release 2026.11\\n'; " +
            "for n in 1 2 3 4 5 6 7 8; do printf '  [%d/8] compiling module-%d\\n' $n $n; done; " +
            "printf '\\033[33mwarning: disk is at 91%%\\n  clean up /var/cache soon\\033[0m\\n'; " +
            "printf '\\033[38;5;208mslow test\\033[0m: import took 4.1 s\\n'; echo 'could not reach mirror-2, going on without it' >&2; " +
            "printf '\\033[1;31m1 failed\\033[0m, \\033[1;32m631 passed\\033[0m\\n'",
        owner: "platform@example.org",
        labels: { team: "platform" },
    },
    { name: "crm/sync", schedule: "*/30 8-18 * * *", timezone: "Europe/Berlin", shell: mostly("sync", 330), owner: "growth@example.org", labels: { team: "growth" } },
    { name: "db/backup", schedule: "15 2 * * *", timezone: "Europe/Berlin", shell: "sleep 0.1; echo dumped", owner: "dba@example.org", labels: { team: "data", tier: "1" }, timeout: "3h" },
    { name: "db/vacuum", schedule: "0 4 * * SUN", timezone: "Europe/Berlin", command: ["/bin/true"], owner: "dba@example.org", labels: { team: "data" }, paused: true },
    { name: "long", schedule: "@manual", shell: "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo \"step $i of 3000\"; sleep 0.05; done", overlap: "allow", grace: "2s", labels: { team: "demo" } },
    { name: "mail/digest", schedule: "0 7 * * *", timezone: "Asia/Shanghai", command: ["/bin/true"], owner: "growth@example.org", labels: { team: "growth" } },
    { name: "mail/queue", schedule: "*/10 7-19 * * *", timezone: "Europe/Berlin", shell: mostly("queue", 170), owner: "growth@example.org", labels: { team: "growth" } },
    { name: "metrics/rollup", schedule: "*/20 * * * *", timezone: "UTC", shell: mostly("rollup", 220), owner: "platform@example.org", labels: { team: "platform", tier: "2" } },
    { name: "reports/sales", after: ["crm/sync", "billing/close-day"], shell: "sleep 0.05; echo 'sales of the day: done'", owner: "growth@example.org", labels: { team: "growth" } },
    { name: "reports/weekly", schedule: "0 8 * * MON", timezone: "Europe/Berlin", shell: "echo 'no space left on device' >&2; exit 1", owner: "growth@example.org", labels: { team: "growth" } },
    { name: "search/index", schedule: "0 * * * *", timezone: "UTC", shell: mostly("index", 660), owner: "search@example.org", labels: { team: "search" } },
    { name: "web/sitemap", schedule: "0 * * * *", timezone: "UTC", command: ["/bin/true"], labels: { team: "web" } },
    { name: "web/warm-cache", schedule: "0 * * * *", timezone: "UTC", command: ["/bin/true"], labels: { team: "web" } },
];

// What ran a moment ago for ticks of the past is moved to where those are, with its output: as if it
// had run then. The last run of each job stays, since the job knows it.
async function moveToTicks(history) {
    const sqlite = async (text) => {
        const running = promisify(execFile)("sqlite3", ["-json", "-cmd", ".timeout 10000", history], { maxBuffer: 1 << 26 });
        running.child.stdin.end(text);
        return (await running).stdout;
    };
    const rows = JSON.parse(
        await sqlite("SELECT hex(id) AS id, tick_ms, claimed_ms, started_ms FROM runs WHERE cause = 3 AND id NOT IN (SELECT max(id) FROM runs GROUP BY job);"),
    );
    const changes = rows.flatMap(({ id, tick_ms, claimed_ms, started_ms }) => {
        const start = tick_ms + started_ms - claimed_ms;
        const [by, to] = [started_ms - start, tick_ms.toString(16).padStart(12, "0") + id.slice(12)];
        return [
            `UPDATE runs SET id = X'${to}', cause = 0, stray = 0, ended_ms = ended_ms - ${by}, not_before_ms = ${tick_ms}, claimed_ms = ${tick_ms}, ` +
                `started_ms = ${start}, finished_ms = finished_ms - ${by} WHERE id = X'${id}';`,
            `UPDATE output SET run_id = X'${to}', at_ms = at_ms - ${by} WHERE run_id = X'${id}';`,
        ];
    });
    // Without how long they took: the pictures do not show that of an hour.
    const count = (uid) =>
        `INSERT INTO stats SELECT ${uid}, iif(cause = 0, tick_ms, started_ms) / 3600000, state, -1, count(*), 0, 9223372036854775807, -9223372036854775807, ` +
        "sum(cause = 0), sum(iif(cause = 0, started_ms - tick_ms, 0)) FROM runs JOIN jobs ON key = job GROUP BY 1, 2, 3;";
    await sqlite(`BEGIN; ${changes.join(" ")} DELETE FROM stats; ${count("uid")} ${count("zeroblob(16)")} COMMIT;`);
}

// Runs what would have run, and waits until it has.
export async function makePast(world) {
    const now = Date.now();
    const iso = (ms) => new Date(ms).toISOString();
    const past = {
        "metrics/rollup": 2,
        "mail/queue": 1,
        "crm/sync": 3,
        "search/index": 2,
        "web/sitemap": 1,
        "web/warm-cache": 1,
        "billing/close-day": 60,
        "billing/invoices": 30,
        "certs/renew": 30,
        "mail/digest": 20,
        "db/backup": 20,
    };
    for (const [name, days] of Object.entries(past)) {
        const { agent } = world;
        const answer = await agent.api("POST", `/jobs/${encodeURIComponent(name)}/backfill`, { from: iso(now - days * day), to: iso(now - 60_000) });
        if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
    }
    await world.until("the past", async () => {
        const open = await world.agent.api("GET", "/runs?state=queued,due,claimed,begun&limit=1");
        return open.body.items.length === 0;
    }, 200);
    await moveToTicks(join(world.agent.data, "history.db"));
}
