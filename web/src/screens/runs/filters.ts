// The filters in the address, and the parameters of the API call.
import type { Query } from "../../api/client";

export const spans = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const;
export type Span = keyof typeof spans | "all";
export const durations = ["10s", "1m", "10m", "1h"] as const;

export interface Filters {
    state: string;
    job: string;
    node: string;
    q: string;
    span: Span;
    longer: string;
    ledger: boolean;
}

export function readFilters(query: URLSearchParams): Filters {
    const span = query.get("time") ?? "24h";
    return {
        state: query.get("state") ?? "",
        job: query.get("job") ?? "",
        node: query.get("node") ?? "",
        q: query.get("q") ?? "",
        span: span === "all" || span in spans ? (span as Span) : "24h",
        longer: query.get("longer") ?? "",
        ledger: query.get("ledger") === "yes",
    };
}

// The start is rounded to the minute, so that asking again is asking the same.
export function askFor(filters: Filters, now: number): Query {
    const since = filters.span === "all" ? null : Math.floor((now - spans[filters.span]) / 60_000) * 60_000;
    return {
        state: filters.state,
        job: filters.job,
        node: filters.node,
        q: filters.q,
        since: since === null ? null : new Date(since).toISOString(),
        min_duration: filters.longer,
        ledger: filters.ledger || ["skipped", "missed"].includes(filters.state) ? true : null,
    };
}
