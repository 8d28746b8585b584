// Problems of the store, the history, its spool and the clock: the cause, since when, and what to do.
import type { ComponentChildren } from "preact";
import { t } from "../i18n/common";
import { Icon } from "./icons";
import { momentText } from "./moments";
import { roughSpan, spanText } from "./spans";
import { bytesText } from "./time";

export interface Health {
    ok: boolean;
    detail: string | null;
    since?: string | null;
}

// What waits on this node's disk for the database of the history.
export interface Spool {
    state: "ok" | "full" | "failed";
    since: string | null;
    records: number;
    bytes: number;
    dropped_bytes: number;
}

export interface HistoryHealth extends Health {
    spool?: Spool | null; // an older agent does not report it
}

export interface Clock {
    ok: boolean;
    doubt: "ahead" | "back" | "start" | null;
    since?: string | null;
    left_s?: number;
    step_ms: number;
    jobs_ahead: number;
}

export function Alarm({ since, next, children }: { since?: string | null | undefined; next?: string | false; children: ComponentChildren }) {
    return (
        <p class="note bad trouble" role="alert">
            {children}
            {since && t("since", { at: momentText(since) })}
            {next && t("then", { text: next })}
        </p>
    );
}

// This node starts no runs because of its clock, or cursors of jobs are ahead of the clock. An older
// agent does not report it.
export function ClockTrouble({ clock, skewMs }: { clock: Clock | undefined; skewMs: number }) {
    if (!clock || clock.ok) return null;
    if (clock.doubt) {
        const by = clock.doubt !== "start" && clock.step_ms ? t("clock.by", { span: roughSpan(Math.round(Math.abs(clock.step_ms) / 1000) * 1000) }) : "";
        return (
            <Alarm since={clock.since} next={t("clock.next", { span: roughSpan((clock.left_s ?? 0) * 1000) })}>
                {t("clock.doubt", { why: t(`clock.doubt.${clock.doubt}`), by })}
            </Alarm>
        );
    }
    if (clock.jobs_ahead) return <Alarm>{t("clock.jobs", { n: clock.jobs_ahead })}</Alarm>;
    return <Alarm since={clock.since}>{t("clock.skewed", { span: spanText(Math.abs(skewMs)) })}</Alarm>;
}

// The health in one word.
export function Wellness({ of, name }: { of: Health; name?: string }) {
    return (
        <span class={`status tone-${of.ok ? "good" : "bad"}`}>
            <Icon name={of.ok ? "check" : "warning"} />
            <span>
                {name && `${name}, `}
                {t(of.ok ? "well" : "not.well")}
            </span>
        </span>
    );
}

function SpoolTrouble({ spool }: { spool: Spool }) {
    const dropped = spool.dropped_bytes > 0 && t("then", { text: t("spool.dropped", { size: bytesText(spool.dropped_bytes) }) });
    return (
        <Alarm since={spool.since} next={t(spool.state === "full" ? "spool.next" : "spool.next.disk")}>
            {t(spool.state === "full" ? "spool.full" : "spool.failed", { n: spool.records, size: bytesText(spool.bytes) })}
            {dropped}
        </Alarm>
    );
}

// Without a store that was restored from a backup: that needs a decision, and has its own message.
export function Troubles({ store, history }: { store: Health & { halted?: boolean }; history: HistoryHealth }) {
    const { spool } = history;
    return (
        <>
            {!store.ok && !store.halted && <Alarm>{t("trouble.store", { text: store.detail ?? "" })}</Alarm>}
            {!history.ok && <Alarm since={history.since}>{t("trouble.history", { text: history.detail ?? "" })}</Alarm>}
            {spool && spool.state !== "ok" && <SpoolTrouble spool={spool} />}
        </>
    );
}
