// The jobs of the pictures: a small company's, with a past of some days.
const day = 86_400_000;

// Fails now and then, in a way that depends on its tick alone.
function mostly(command, every) {
    return `t=$(date -d "$PEAL_TICK" +%s); if [ $((t / 60 % ${every})) -eq 0 ]; then echo "${command}: connection refused" >&2; exit 1; fi; echo "${command}: done"`;
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
    { name: "db/backup", schedule: "15 2 * * *", timezone: "Europe/Berlin", shell: "sleep 0.1; echo dumped", owner: "dba@example.org", labels: { team: "data", tier: "1" }, timeout: "3h" },
    { name: "db/vacuum", schedule: "0 4 * * SUN", timezone: "Europe/Berlin", command: ["/bin/true"], owner: "dba@example.org", labels: { team: "data" }, paused: true },
    { name: "flaky", schedule: "@every 5s", timezone: "UTC", shell: "if [ $(( $(date +%s) / 5 % 3 )) -eq 0 ]; then echo 'no luck this time' >&2; exit 3; fi; echo all is well", labels: { team: "demo" } },
    { name: "long", schedule: "@manual", shell: "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo \"step $i of 3000\"; sleep 0.05; done", overlap: "allow", grace: "2s", labels: { team: "demo" } },
    { name: "mail/digest", schedule: "0 7 * * *", timezone: "Asia/Shanghai", command: ["/bin/true"], owner: "growth@example.org", labels: { team: "growth" } },
    { name: "metrics/rollup", schedule: "*/20 * * * *", timezone: "UTC", shell: mostly("rollup", 7), owner: "platform@example.org", labels: { team: "platform", tier: "2" } },
    { name: "reports/weekly", schedule: "0 8 * * MON", timezone: "Europe/Berlin", shell: "echo 'no space left on device' >&2; exit 1", owner: "growth@example.org", labels: { team: "growth" } },
    { name: "search/index", schedule: "0 * * * *", timezone: "UTC", shell: mostly("index", 11), owner: "search@example.org", labels: { team: "search" } },
    { name: "web/sitemap", schedule: "0 * * * *", timezone: "UTC", command: ["/bin/true"], labels: { team: "web" } },
    { name: "web/warm-cache", schedule: "0 * * * *", timezone: "UTC", command: ["/bin/true"], labels: { team: "web" } },
];

// Runs what would have run, and waits until it has.
export async function makePast(world) {
    const now = Date.now();
    const iso = (ms) => new Date(ms).toISOString();
    const past = { "metrics/rollup": 1, "search/index": 2, "web/sitemap": 1, "billing/close-day": 60, "db/backup": 20 };
    for (const [name, days] of Object.entries(past)) {
        const { agent } = world;
        const answer = await agent.api("POST", `/jobs/${encodeURIComponent(name)}/backfill`, { from: iso(now - days * day), to: iso(now - 60_000) });
        if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
    }
    await world.until("the past", async () => {
        const open = await world.agent.api("GET", "/runs?state=queued,due,claimed,begun&limit=1");
        return open.body.items.length === 0;
    });
}
