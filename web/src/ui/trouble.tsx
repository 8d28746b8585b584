// What is wrong with the store or the history, in the server's words: it knows what to do.
import { t } from "../i18n/common";
import { Icon } from "./icons";

export interface Health {
    ok: boolean;
    detail: string | null;
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
