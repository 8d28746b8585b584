import { countByJob, statesOf, type Message } from "@console/screens/alerts/counts";
import { describe, expect, test } from "vitest";

const message = (job: string | null, state: Message["state"]): Message => ({ job, state }) as Message;

describe("messages", () => {
    test("are counted by job, the most first; what is held back waits", () => {
        const counts = countByJob([message("a", "sent"), message("b", "held"), message("b", "waiting"), message(null, "sent"), message("b", "given_up"), message("c", "muted")]);
        expect(counts).toEqual([
            { job: "b", sent: 0, waiting: 2, given_up: 1, muted: 0 },
            { job: "a", sent: 1, waiting: 0, given_up: 0, muted: 0 },
            { job: "c", sent: 0, waiting: 0, given_up: 0, muted: 1 },
        ]);
    });

    test("tell how a channel does, also of an older agent", () => {
        const delivery = { node: "n", sent: 1, failed: 2, given_up: 0, waiting: 3, held: 0, last_error: "refused" };
        const of = (sent: string | null, failed: string | null) => statesOf([{ name: "c", delivery: { ...delivery, last_sent_at: sent, last_failed_at: failed } }])[0]?.state;
        expect([of(null, null), of("2026-01-01", null), of("2026-01-01", "2026-01-02"), of("2026-01-03", "2026-01-02"), of(null, "2026-01-02")]).toEqual(["idle", "ok", "failing", "ok", "failing"]);
        expect(statesOf([{ name: "c" }])).toEqual([]);
    });
});
