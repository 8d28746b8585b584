// Jobs to look around with, in a folder of their own, and gone with one click.
import { api } from "../../api/client";

const FOLDER = "demo";
const common = { timezone: "UTC", labels: { demo: "true" }, notify: [], retention: { runs: 200 } };

const jobs = [
    { name: `${FOLDER}/heartbeat`, schedule: "* * * * *", shell: "echo \"beat at $(date)\"", notes: "Runs every minute." },
    { name: `${FOLDER}/flaky`, schedule: "*/2 * * * *", shell: "echo 'reading the feed'\nif [ $(( $(date +%M) / 2 % 3 )) -eq 0 ]; then\n    echo 'feed: connection refused' >&2\n    exit 1\nfi\necho 'read 120 entries'\n", notes: "Fails every third time." },
    { name: `${FOLDER}/slow`, schedule: "*/3 * * * *", shell: "for n in 1 2 3 4 5 6 7 8 9 10; do echo \"part $n of 10\"; sleep 4; done\n", timeout: "2m", notes: "Takes 40 seconds: watch its output while it runs." },
    { name: `${FOLDER}/report`, after: [{ job: `${FOLDER}/slow` }], shell: "echo 'all parts are done'", notes: "Runs when demo/slow has succeeded." },
].map((job) => ({ ...job, ...common, ...("after" in job ? { timezone: undefined } : {}) }));

interface Result {
    result: string;
    error: string | null;
}

async function batch(body: unknown): Promise<void> {
    const { results } = await api.post<{ results: Result[] }>("/jobs:batch", body);
    const failed = results.find((row) => row.result === "failed");
    if (failed) throw new Error(failed.error ?? "");
}

export const isDemo = (name: string): boolean => jobs.some((job) => job.name === name);
export const addDemo = (): Promise<void> => batch({ put: jobs });
export const removeDemo = (names: string[]): Promise<void> => batch({ delete: names });
