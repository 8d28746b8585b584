// Problems of the store or the history, in the server's words, which include the remedy.
import { t } from "../i18n/common";
import { Icon } from "./icons";
import { momentText } from "./moments";

export interface Health {
    ok: boolean;
    detail: string | null;
}

export interface Clock {
    ok: boolean;
    doubt: "ahead" | "back" | "start" | null;
    believed_at: string | null;
    jobs_ahead: number;
}

// This node starts no runs because of its clock, or cursors of jobs are ahead of the clock. The clock
// skew is shown elsewhere. An older agent does not report it.
export function ClockTrouble({ clock }: { clock: Clock | undefined }) {
    if (!clock || (!clock.doubt && !clock.jobs_ahead)) return null;
    const text = clock.doubt
        ? t("clock.doubt", { why: t(`clock.doubt.${clock.doubt}`), at: clock.believed_at ? momentText(clock.believed_at) : "" })
        : t("clock.jobs", { n: clock.jobs_ahead });
    return (
        <p class="note bad trouble" role="alert">
            {text}
        </p>
    );
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

// Without a store that was restored from a backup: that needs a decision, and has its own message.
export function Troubles({ store, history }: { store: Health & { halted?: boolean }; history: Health }) {
    return (
        <>
            {!store.ok && !store.halted && (
                <p class="note bad trouble" role="alert">
                    {t("trouble.store", { text: store.detail ?? "" })}
                </p>
            )}
            {!history.ok && (
                <p class="note bad trouble" role="alert">
                    {t("trouble.history", { text: history.detail ?? "" })}
                </p>
            )}
        </>
    );
}
