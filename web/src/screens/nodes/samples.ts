// What is drawn of nodes. Pure.

export type Values = readonly (number | null)[]; // null: not known

// The path of a line through the values, 0 to `most` from the bottom of a box up; gaps where one is unknown.
export function lineOf(values: Values, most: number, width: number, height: number): string {
    let isDrawn = false;
    return values
        .map((value, i) => {
            if (value === null) {
                isDrawn = false;
                return "";
            }
            const x = values.length > 1 ? (i / (values.length - 1)) * width : width;
            const text = `${isDrawn ? "L" : "M"}${x.toFixed(1)} ${(height - (Math.min(value, most) / most) * height).toFixed(1)}`;
            isDrawn = true;
            return text;
        })
        .join("");
}

// ---- latencies, from the histograms of /metrics ----

export interface Histogram {
    count: number;
    buckets: { le: number; count: number }[]; // counts of all up to there
}

export function histogramOf(text: string, name: string): Histogram {
    const buckets: Histogram["buckets"] = [];
    const pattern = new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)`, "gm");
    for (const [, le = "", count = ""] of text.matchAll(pattern)) buckets.push({ le: le === "+Inf" ? Infinity : Number(le), count: Number(count) });
    return { count: buckets.at(-1)?.count ?? 0, buckets };
}

// The least bound that `part` of them are under, in seconds; null: there are none, or it has no bound.
export function boundOf({ count, buckets }: Histogram, part: number): number | null {
    const found = buckets.find((bucket) => bucket.count >= count * part);
    return !count || !found || !Number.isFinite(found.le) ? null : found.le;
}

// ---- runs by node and hour ----

export interface NodeHours {
    node: string;
    total: number;
    failed: number;
    hours: { ok: number; bad: number }[]; // the oldest first
}

interface RunOfNode {
    node?: string | null;
    state: string;
    started_at?: string | null;
}

export function hoursOf(runs: RunOfNode[], now: number, hours: number): NodeHours[] {
    const nodes = new Map<string, NodeHours>();
    for (const run of runs) {
        if (!run.node || !run.started_at) continue;
        const hour = hours - 1 - Math.floor((now - Date.parse(run.started_at)) / 3_600_000);
        if (hour < 0 || hour >= hours) continue;
        const found = nodes.get(run.node) ?? { node: run.node, total: 0, failed: 0, hours: Array.from({ length: hours }, () => ({ ok: 0, bad: 0 })) };
        nodes.set(run.node, found);
        const isBad = ["failed", "timed_out", "killed", "lost"].includes(run.state);
        found.total++;
        found.hours[hour]![isBad ? "bad" : "ok"]++;
        if (isBad) found.failed++;
    }
    return [...nodes.values()].sort((a, b) => (a.node < b.node ? -1 : 1));
}
