// What became of messages, by channel and by job. Pure.

export interface Message {
    id: string;
    node: string;
    channel: string;
    job: string | null;
    run: string | null;
    event: string;
    state: "waiting" | "held" | "sent" | "given_up" | "muted";
    tries: number;
    answer: string | null;
    made_at: string;
    ended_at: string | null;
    next_try_at: string | null;
}

// How a channel does on one node.
export interface ChannelState {
    channel: string;
    node: string;
    state: string;
    sent: number;
    failed: number;
    given_up: number;
    muted?: number;
    waiting: number;
    held: number;
    error: string | null;
    last_sent_at: string | null;
    last_failed_at: string | null;
}

interface Delivery extends Omit<ChannelState, "channel" | "state" | "error"> {
    last_error: string | null;
}

// An older agent tells only how its own node does, with each channel.
export function statesOf(channels: { name: string; delivery?: Delivery }[]): ChannelState[] {
    return channels.flatMap(({ name, delivery }) => {
        if (!delivery) return [];
        const { last_sent_at: sent, last_failed_at: failed, last_error: error } = delivery;
        const state = failed && failed > (sent ?? "") ? "failing" : sent ? "ok" : "idle";
        return [{ ...delivery, channel: name, state, error }];
    });
}

export interface JobCount {
    job: string;
    sent: number;
    waiting: number;
    given_up: number;
    muted: number;
}

// Of each job, those with the most first; what is held back waits, too.
export function countByJob(messages: Message[]): JobCount[] {
    const jobs = new Map<string, JobCount>();
    for (const { job, state } of messages) {
        if (!job) continue;
        const count = jobs.get(job) ?? { job, sent: 0, waiting: 0, given_up: 0, muted: 0 };
        count[state === "held" ? "waiting" : state]++;
        jobs.set(job, count);
    }
    const all = (count: JobCount): number => count.sent + count.waiting + count.given_up + count.muted;
    return [...jobs.values()].sort((a, b) => all(b) - all(a) || (a.job < b.job ? -1 : 1));
}
