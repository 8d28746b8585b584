// The runs of a job before and after one of its runs.
import { api, jobPath } from "../../api/client";
import { isEntry, type Dependencies, type Entry, type Page, type Run } from "../../api/types";

export interface Neighbours {
    previous: Run | null;
    next: Run | null;
    attempts: Run[]; // all of the same tick, oldest first
}

type Rows = Page<Run | Entry>;

function runsOf(page: Rows): Run[] {
    return page.items.filter((row): row is Run => !isEntry(row));
}

// Lists are newest first; what comes right after a moment is looked for in spans that grow.
async function findNext(run: Run, tick: number, signal: AbortSignal): Promise<Run | null> {
    const since = new Date(tick + 1).toISOString();
    for (let span = 60_000, from = tick; from < Date.now(); from = tick + span, span *= 16) {
        const until = new Date(tick + span).toISOString();
        const page = await api.get<Rows>("/runs", { job: run.job, since, until, limit: 1000 }, signal);
        const found = runsOf(page);
        if (found.length) return found[found.length - 1] ?? null;
    }
    return null;
}

export async function findNeighbours(run: Run, signal: AbortSignal): Promise<Neighbours> {
    if (!run.tick) return { previous: null, next: null, attempts: [] };
    const tick = Date.parse(run.tick);
    const [before, same, next] = await Promise.all([
        api.get<Rows>("/runs", { job: run.job, until: run.tick, limit: 1 }, signal),
        api.get<Rows>(
            "/runs",
            { job: run.job, since: run.tick, until: new Date(tick + 1).toISOString(), limit: 100 },
            signal,
        ),
        findNext(run, tick, signal),
    ]);
    const attempts = runsOf(same).sort((a, b) => a.attempt - b.attempt);
    return { previous: runsOf(before)[0] ?? null, next, attempts };
}

const DOWNSTREAM = 5; // jobs that are looked at

// The runs of downstream jobs that this one has made run.
export async function findAfter(run: Run, signal: AbortSignal): Promise<Run[]> {
    if (run.instance || !run.finished_at) return [];
    const found = await api.optional<Dependencies>(jobPath(run.job, "/dependencies"), {}, signal);
    const since = new Date(Date.parse(run.finished_at) - 1000).toISOString();
    const pages = await Promise.all(
        (found?.before ?? []).slice(0, DOWNSTREAM).map(({ job }) => api.get<Rows>("/runs", { job, since, limit: 100 }, signal)),
    );
    return pages.flatMap((page) => runsOf(page).filter((other) => other.cause === "after" && other.by === run.run_id));
}
