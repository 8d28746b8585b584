// What is wrong with the store or the history, in the server's words: it knows what to do.
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

// The clock keeps this node from starting anything, or jobs have gone further than it shows. How far it is
// from the other nodes' is told elsewhere. An older agent says nothing of it.
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

// In a word, where both stand beside each other.
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

// A store that was restored from a backup is told apart: there is something to decide.
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
