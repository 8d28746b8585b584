// A job whose messages are held back: by whom, until when and why; and the dialog for it.
import { useState } from "preact/hooks";
import { api, jobPath } from "../api/client";
import type { Job, Mute } from "../api/types";
import { attempt, toastDone } from "../app/toasts";
import { t as common } from "../i18n/common";
import { momentText } from "./moments";
import { t } from "./mute_words";
import { Button, Dialog } from "./parts";

// An older agent knows of no mutes.
export function knowsMutes(job: Pick<Job, "status">): boolean {
    return job.status.mute !== undefined;
}

export function muteOf(job: Pick<Job, "status">): Mute | null {
    return job.status.mute?.active ? job.status.mute : null;
}

export function muteText(mute: Mute): string {
    return [t(`is.${mute.kind}`, { by: mute.by }), mute.until && t("until", { at: momentText(mute.until) }), mute.reason].filter(Boolean).join(" · ");
}

export async function unmute(name: string): Promise<void> {
    await attempt(async () => {
        await api.post(jobPath(name, "/unmute"));
        toastDone(t("done.unmute", { name }));
    });
}

const spans = { mute: ["1h", "4h", "1d", "7d"], ack: ["", "1h", "4h", "1d", "7d"] } as const;

export function MuteDialog({ name, kind, onDone, onClose }: { name: string; kind: Mute["kind"]; onDone: () => void; onClose: () => void }) {
    const [span, setSpan] = useState<string>(spans[kind][0]);
    const [reason, setReason] = useState("");
    const send = (): void =>
        void attempt(async () => {
            await api.post(jobPath(name, `/${kind}`), { ...(span ? { for: span } : {}), ...(reason.trim() ? { reason: reason.trim() } : {}) });
            toastDone(t(`done.${kind}`, { name }), () => void unmute(name).then(onDone));
            onClose();
            onDone();
        });
    return (
        <Dialog
            title={t(`${kind}.title`, { name })}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button kind="primary" icon="bell" onClick={send}>
                        {t(`do.${kind}`)}
                    </Button>
                </>
            }
        >
            <p>{t(`${kind}.text`)}</p>
            <div class="dialog-form">
                <label>
                    {t("for")}
                    <select value={span} onChange={(event) => setSpan(event.currentTarget.value)}>
                        {spans[kind].map((name) => (
                            <option key={name} value={name}>
                                {t(`for.${name}`)}
                            </option>
                        ))}
                    </select>
                </label>
                <label>
                    {t("reason")}
                    <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
                </label>
            </div>
        </Dialog>
    );
}
