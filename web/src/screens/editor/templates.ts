// Jobs that many have, to start from.
import type { Draft } from "./draft";

export const templates = [
    {
        name: "backup",
        draft: {
            schedule: "30 2 * * *",
            shell: "set -eu\npg_dump --format=custom app > /var/backups/app.dump.new\nmv /var/backups/app.dump.new /var/backups/app.dump\n",
            timeout: "1h",
            retries: { count: 2, wait: "5m" },
        },
    },
    { name: "check", draft: { schedule: "* * * * *", http: { url: "https://example.org/health", status: "200" }, timeout: "20s" } },
    { name: "report", draft: { schedule: "0 9 * * MON-FRI", command: ["/usr/local/bin/report", "--yesterday"], calendars: ["holidays"], timeout: "30m" } },
    { name: "cleanup", draft: { schedule: "H * * * *", shell: "find /tmp/app -type f -mtime +7 -delete\n", overlap: "skip", timeout: "10m" } },
    { name: "chain", draft: { after: [{ job: "" }], command: [] } },
] as const satisfies readonly { name: string; draft: Draft }[];

// As it would be for somebody in that zone; a template names only calendars that there are.
export function fromTemplate(draft: Draft, name: string, zone: string, calendars: readonly string[]): Draft {
    const { calendars: named, ...rest } = draft;
    const known = (named as string[] | undefined)?.filter((calendar) => calendars.includes(calendar)) ?? [];
    return { name, ...rest, ...("after" in rest ? {} : { timezone: zone }), ...(known.length ? { calendars: known } : {}) };
}
