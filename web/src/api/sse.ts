// Server-sent events over fetch: unlike EventSource it reports the cause of a failure, and lets the
// caller choose the id to resume from.
import { BASE, Problem, withQuery, type Query } from "./client";

export interface ServerEvent {
    id: string | null;
    event: string;
    data: string;
}

// Takes text in any pieces, and reports complete events.
export class EventParser {
    private rest = "";
    private id: string | null = null;
    private event = "";
    private data: string[] = [];

    feed(text: string): ServerEvent[] {
        const events: ServerEvent[] = [];
        const lines = (this.rest + text).split("\n");
        this.rest = lines.pop() ?? "";
        for (const raw of lines) {
            const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
            if (line === "") {
                if (this.data.length || this.event)
                    events.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
                this.event = "";
                this.data = [];
            } else {
                this.take(line);
            }
        }
        return events;
    }

    private take(line: string): void {
        const colon = line.indexOf(":");
        if (colon === 0) return;
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "id") this.id = value;
        else if (field === "event") this.event = value;
        else if (field === "data") this.data.push(value);
    }
}

export interface StreamOptions {
    query?: Query;
    lastId?: string | null;
    signal: AbortSignal;
    onOpen?: () => void;
    onEvent: (event: ServerEvent) => void;
}

// Without a sign of life for this long (the server sends one every 15 to 30 s) the connection is dead.
const SILENCE_MS = 45_000;

// Resolves when the server ends the stream; rejects when it breaks.
export async function readStream(path: string, options: StreamOptions): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const signal = AbortSignal.any([options.signal, silence.signal]);
    try {
        const response = await fetch(withQuery(BASE + path, options.query), {
            headers: {
                Accept: "text/event-stream",
                ...(options.lastId ? { "Last-Event-ID": options.lastId } : {}),
            },
            credentials: "same-origin",
            cache: "no-store",
            signal,
        });
        if (!response.ok || !response.body) throw new Problem(response.status, response.statusText);
        options.onOpen?.();
        const parser = new EventParser();
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            clearTimeout(timer);
            timer = setTimeout(() => silence.abort(), SILENCE_MS);
            for (const event of parser.feed(value)) options.onEvent(event);
        }
    } finally {
        clearTimeout(timer);
    }
}

// How long to wait before the n-th attempt, with a part that is random so that browsers do not come
// back all at once; never so long that the screen stays old for more than two seconds after the agent is
// back.
export function retryDelay(attempt: number, random: number): number {
    const ceiling = Math.min(1800, 500 * 2 ** Math.min(attempt, 5));
    return Math.round(ceiling * (0.5 + random / 2));
}
