// Answers of the API, as far as the console reads them (docs/API.md).

export type RunState =
    | "queued"
    | "due"
    | "claimed"
    | "begun"
    | "running"
    | "ok"
    | "failed"
    | "timed_out"
    | "killed"
    | "lost"
    | "skipped"
    | "missed";

export const openStates: readonly RunState[] = ["queued", "due", "claimed", "begun", "running"];
export const endStates: readonly RunState[] = ["ok", "failed", "timed_out", "killed", "lost", "skipped", "missed"];

export function isOpen(state: RunState): boolean {
    return openStates.includes(state);
}

export interface Run {
    run_id: string;
    job: string;
    job_uid: string;
    tick: string | null;
    attempt: number;
    attempts: number | null;
    part: number | null;
    parts: number | null;
    retried: boolean | null;
    pinned: string | null;
    instance?: string | null; // of a workflow: the run id of its instance
    step?: string | null; // null: the instance itself, or not of a workflow
    cause: "tick" | "catch_up" | "manual" | "backfill" | "reboot" | "after" | "webhook" | "step";
    state: RunState;
    reason: string | null;
    detail: string | null;
    node: string | null;
    fence: number | null;
    job_revision?: number; // of the definition that ran
    claimed_at: string | null;
    started_at: string | null;
    finished_at: string | null;
    exit_code: number | null;
    signal: number | null;
    user_ms: number | null;
    system_ms: number | null;
    max_rss_kb: number | null;
    output_bytes: number | null;
    output_truncated: boolean;
    by: string | null;
    params?: Record<string, string> | null; // of one run; a page of runs does not have them
    env?: Record<string, string> | null; // likewise
    timeout?: string | null; // likewise
    input?: { size: number; type: string | null; event: string | null } | null; // likewise
    progress?: { percent: number; text: string | null }; // of a function's call, if it tells
    // a slot of this group; that of a namespace ends with a slash
    waits_for?: { group: string; on_node: boolean; limit: "cluster" | "node" | "label"; label: string | null; most: number; place: number; of: number };
    spooled?: boolean; // on its node's disk, and not in the history's database yet
}

// A URL that runs a job; without its secret.
export interface Webhook {
    job: string;
    uid: string;
    kind: "github" | "gitlab" | "generic";
    rate: string;
    path: string;
    url: string | null;
    last_at: string | null;
}

// Ticks that did not run.
export interface Entry {
    entry_id: string;
    job: string;
    job_uid: string;
    from: string;
    to: string;
    count: number;
    state: RunState;
    reason: string | null;
    detail: string | null;
    pending?: boolean; // not in the store yet
}

export function isEntry(row: Run | Entry): row is Entry {
    return "entry_id" in row;
}

// No messages of a job: until a time, or until it succeeds.
export interface Mute {
    kind: "mute" | "ack";
    active: boolean;
    since: string;
    until: string | null;
    by: string;
    reason: string | null;
}

// What keeps a job from running for the moment; `clock` is that of the only node.
export interface JobWarning {
    reason: "no_node" | "calendar" | "clock";
    detail: string;
    since: string | null;
}

export interface JobStatus {
    next_at: string | null;
    running: number;
    queued: number;
    retrying: number;
    last: { run_id: string; state: RunState; started_at: string | null; finished_at: string | null } | null;
    paused: boolean;
    problem: string | null;
    warning?: JobWarning | null; // an older agent calls it a problem
    mute?: Mute | null; // an older agent knows of none
}

// A value that a request for a run may choose.
export interface JobParam {
    type?: "string" | "integer" | "number" | "boolean";
    default?: string | number | boolean;
    allowed?: (string | number | boolean)[];
    help?: string;
}

export interface Job {
    name: string;
    uid: string;
    revision: number;
    created_at: string;
    updated_at: string;
    applied_at?: string;
    deleted_at?: string;
    status: JobStatus;
    schedule?: string;
    schedules?: string[];
    after?: { job: string; on?: string }[];
    timezone?: string;
    dst?: string;
    calendars?: string[];
    command?: (string | number)[];
    shell?: string;
    http?: string | { url: string; method?: string; body?: string };
    function?: string | { program: string; name?: string; digest?: string; version?: number };
    params?: Record<string, JobParam>;
    labels?: Record<string, string | number>;
    owner?: string;
    notes?: string;
    paused?: boolean;
    kind?: string;
    steps?: StepDefinition[];
    finally?: StepDefinition[];
    [field: string]: unknown;
}

// A step as a definition has it.
export interface StepDefinition {
    name: string;
    after?: string | (string | { step: string; on?: string })[];
    [field: string]: unknown;
}

// A node whose history could not be read: the answer lacks its records.
export interface Absence {
    node: string | null; // null: the history's database
    why: string;
}

export interface Page<T> {
    items: T[];
    next: string | null;
    incomplete?: Absence[];
}

export interface Fire {
    at: string;
    local: string;
    note?: string;
    starts_at?: string;
}

export interface LeftOut {
    at: string;
    local: string;
    calendar: string;
    window?: string;
}

export interface Calendar {
    name: string;
    revision: number;
    dates: string[];
    weekdays: string[];
    windows?: string[];
    timezone?: string;
    notes?: string;
    job_count: number;
    jobs: string[];
}

// A step of an instance of a workflow, with its last attempt.
export interface Step {
    name: string;
    after: { step: string; on: "success" | "failure" | "always" }[];
    join: number | null;
    when: string | null;
    each: unknown;
    final: boolean;
    state: RunState | "waiting" | null; // null: the instance has ended without it
    earlier: boolean; // it was left out: it ended well in an earlier instance
    reason: string | null;
    detail: string | null;
    run_id: string | null;
    node: string | null;
    started_at: string | null;
    finished_at: string | null;
    exit_code: number | null;
    attempt: number | null;
    attempts: number | null;
    items: Record<string, number> | null; // of a fan-out: how many of them are in which state
    why: string | null; // what it waits for, in words
}

export interface InstanceSteps {
    instance: Run;
    steps: Step[];
    counts: Record<string, number>;
    has_plan: boolean;
    incomplete?: Absence[];
}

// All jobs that are connected by `after` with one of them.
export interface JobGraph {
    jobs: {
        job: string;
        exists: boolean;
        paused: boolean;
        open: number;
        state: RunState | null;
        ended_at: string | null;
        took_ms: number | null;
    }[];
    edges: { from: string; to: string; on: "success" | "failure" | "always"; met: boolean }[];
    cut: boolean; // there are more
}

export interface Dependencies {
    after: { job: string; on: "success" | "failure" | "always"; exists: boolean; state: RunState | null; ended_at: string | null; met: boolean }[];
    before: { job: string; on: string }[];
    step_of?: string[]; // workflows that run it as a step
}

export interface WaitingInstance {
    run_id: string;
    tick: string | null;
    state: RunState;
    counts: Record<string, number>;
    steps: { name: string; state: string; run_id: string | null; text: string }[];
    more: number;
}

export interface Why {
    tick: string | null;
    state: string;
    reason: string | null;
    text: string;
    run: Run | null;
    entry: Entry | null;
    instances?: WaitingInstance[]; // of a workflow: those that are under way
    next?: Why | null;
}

export interface Explanation {
    spec: string;
    canonical: string;
    text: string;
    timezone: string;
    warnings: { name: string; text: string }[];
}

export interface Me {
    name: string;
    role: string;
    kind: "socket" | "user" | "link" | "token";
    rights: string[]; // everywhere
    namespaces: { namespace: string; role: string; rights: string[] }[];
}

export interface Agent {
    node: string;
    version: string;
    timezone: string;
    state: string;
    jobs: number;
    maintenance?: Maintenance[]; // what is active
}

export interface Maintenance {
    id: string;
    kind: "pause" | "maintenance";
    state: "coming" | "active" | "over";
    namespace: string | null; // null: the cluster
    from: string;
    to: string | null; // null: until it is ended
    reason: string | null;
    set_by: string;
}

// One span of GET /stats.
export interface Stat {
    from: string;
    ok: number;
    failed: number;
    [state: string]: number | string | null;
}

export interface Recent {
    name: string;
    recent: { run_id: string; state: RunState; tick: string | null }[];
    p50_ms: number | null;
}

// Why a job fails.
export interface Cause {
    name: string;
    run: Run; // the last one that failed
    line: string | null; // the last one of its output
    failures: number; // in a row
    since: string | null;
    more: boolean; // even longer
}
