// Events of the server, one stream per browser: the leading tab holds the stream and forwards events to the others.
import { computed, signal } from "@preact/signals";
import { loginNeeded, Problem } from "./client";
import { readStream, retryDelay, type ServerEvent } from "./sse";
import type { Entry, Run } from "./types";

export interface RunEvent
    extends Pick<
        Run,
        | "run_id"
        | "job"
        | "job_uid"
        | "tick"
        | "attempt"
        | "cause"
        | "state"
        | "reason"
        | "node"
        | "started_at"
        | "finished_at"
    > {}

export interface LiveEvents {
    run: RunEvent;
    entry: Omit<Entry, "detail">;
    job: { uid: string; job: string; revision: number; change: "put" | "deleted" | "purged" | "muted" | "unmuted" };
    node: { node: string; change: string };
    clock: { node: string; by_ms: number; at: string };
    calendar: { calendar: string };
    reset: null; // events were missed: reload
}

export type LiveState = "connecting" | "live" | "offline";

export const liveState = signal<LiveState>("connecting");

// Streams of outputs that are broken at present, though the one of events may not be.
export const brokenStreams = signal(0);

// What the corner shows: never "live" while an output on the screen is not.
export const shownState = computed<LiveState>(() =>
    liveState.value === "live" && brokenStreams.value > 0 ? "connecting" : liveState.value,
);

// The last time when the server was heard from; what is on the screen is of then.
export const heardAt = signal(Date.now());
export const isAway = computed(() => liveState.value === "offline");

type Message =
    | { kind: "event"; event: ServerEvent }
    | { kind: "state"; state: LiveState; lastId: string | null }
    | { kind: "ask" };

const listeners = new Map<keyof LiveEvents, Set<(data: never) => void>>();
let channel: BroadcastChannel | null = null;
let lastId: string | null = null;
let leads = false;

export function onLive<K extends keyof LiveEvents>(name: K, listener: (data: LiveEvents[K]) => void): () => void {
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set);
    set.add(listener as (data: never) => void);
    return () => set.delete(listener as (data: never) => void);
}

function tell<K extends keyof LiveEvents>(name: K, data: LiveEvents[K]): void {
    listeners.get(name)?.forEach((listener) => (listener as (data: LiveEvents[K]) => void)(data));
}

function isKnown(name: string): name is Exclude<keyof LiveEvents, "reset"> {
    return ["run", "entry", "job", "node", "clock", "calendar"].includes(name);
}

function take(event: ServerEvent): void {
    if (event.id !== null) lastId = event.id;
    if (event.event === "reset") tell("reset", null);
    else if (isKnown(event.event)) tell(event.event, JSON.parse(event.data) as never);
}

// Back after a while: events may have been missed, and requests have failed.
function enter(state: LiveState): void {
    const wasAway = isAway.value;
    if (state === "live" || liveState.value === "live") heardAt.value = Date.now();
    liveState.value = state;
    if (wasAway && state === "live") tell("reset", null);
}

function become(state: LiveState): void {
    enter(state);
    channel?.postMessage({ kind: "state", state, lastId } satisfies Message);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
        const done = (): void => {
            clearTimeout(timer);
            window.removeEventListener("online", done);
            signal.removeEventListener("abort", done);
            resolve();
        };
        const timer = setTimeout(done, ms);
        window.addEventListener("online", done);
        signal.addEventListener("abort", done);
    });
}

// Holds the stream until the signal; reconnects after every break, from the last event.
async function lead(signal: AbortSignal): Promise<void> {
    leads = true;
    for (let attempt = 0; !signal.aborted; attempt++) {
        try {
            await readStream("/events", {
                query: { topics: "jobs,runs,nodes,calendars" },
                lastId,
                signal,
                onOpen: () => {
                    attempt = 0;
                    become("live");
                },
                onEvent: (event) => {
                    channel?.postMessage({ kind: "event", event } satisfies Message);
                    take(event);
                },
            });
        } catch (error) {
            if (error instanceof Problem && error.status === 401) loginNeeded.value = true;
        }
        if (signal.aborted) break;
        become(attempt > 0 || !navigator.onLine ? "offline" : "connecting");
        await wait(retryDelay(attempt, Math.random()), signal);
    }
    leads = false;
}

function hear(message: Message): void {
    if (message.kind === "ask" && leads) become(liveState.value);
    if (message.kind === "state" && !leads) {
        enter(message.state);
        lastId = message.lastId ?? lastId;
    }
    if (message.kind === "event" && !leads) {
        if (liveState.value !== "live") enter("live");
        take(message.event);
    }
}

// Returns the function that ends the subscription.
export function startLive(): () => void {
    const stop = new AbortController();
    channel = new BroadcastChannel("peal-live");
    channel.onmessage = (event: MessageEvent<Message>) => hear(event.data);
    channel.postMessage({ kind: "ask" } satisfies Message);
    if (navigator.locks) {
        void navigator.locks
            .request("peal-live", { signal: stop.signal }, () => lead(stop.signal))
            .catch(() => undefined);
    } else {
        void lead(stop.signal);
    }
    return () => {
        stop.abort();
        channel?.close();
        channel = null;
    };
}
