// The webhook of a job: a URL that runs it, for programs that sign with its secret, which is shown once.
import { useState } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import type { Webhook } from "../../api/types";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Relative } from "../../ui/moments";
import { Button, CopyButton, Dialog, Facts, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { t } from "./words";

const KINDS = ["github", "gitlab", "generic"] as const;

function addressOf(hook: Webhook): string {
    return hook.url ?? hook.path;
}

function Made({ hook, onClose }: { hook: Webhook & { secret: string }; onClose: () => void }) {
    return (
        <Dialog title={t("hook.made")} onClose={onClose} actions={<Button onClick={onClose}>{common("close")}</Button>}>
            <p>{t("hook.once")}</p>
            {[addressOf(hook), hook.secret].map((text) => (
                <p key={text} class="made-hook">
                    <code>{text}</code>
                    <CopyButton text={text} />
                </p>
            ))}
        </Dialog>
    );
}

type Asked = "create" | "rotate" | "delete";

function AskDialog({ asked, onDo, onClose }: { asked: Asked; onDo: (kind: string) => void; onClose: () => void }) {
    const [kind, setKind] = useState<string>("github");
    return (
        <Dialog
            title={t(`hook.${asked}.ask`)}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button kind={asked === "create" ? "primary" : "danger"} onClick={() => onDo(kind)}>
                        {t(`hook.${asked}.do`)}
                    </Button>
                </>
            }
        >
            <p>{t(`hook.${asked}.text`)}</p>
            {asked === "create" && (
                <label>
                    {t("hook.kind")}
                    <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
                        {KINDS.map((name) => (
                            <option key={name} value={name}>
                                {t(`hook.${name}`)}
                            </option>
                        ))}
                    </select>
                </label>
            )}
        </Dialog>
    );
}

export function WebhookPanel({ name }: { name: string }) {
    const found = useResource(`webhook ${name}`, (signal) => api.optional<Webhook>(jobPath(name, "/webhook"), {}, signal));
    const [asked, setAsked] = useState<Asked | null>(null);
    const [made, setMade] = useState<(Webhook & { secret: string }) | null>(null);
    const hook = found.data ?? null;
    if (found.loading || found.problem || (!hook && !may("edit", name))) return null;
    const act = (kind: string): void =>
        void attempt(async () => {
            if (asked === "delete") {
                await api.delete(jobPath(name, "/webhook"));
                toastDone(t("hook.deleted"));
            } else {
                const path = jobPath(name, asked === "create" ? "/webhook" : "/webhook/rotate");
                setMade(await api.post<Webhook & { secret: string }>(path, asked === "create" ? { kind } : {}));
            }
            setAsked(null);
            found.reload();
        });
    return (
        <Panel
            title={t("hook")}
            beside={
                !hook && (
                    <Button small icon="plus" onClick={() => setAsked("create")}>
                        {t("hook.create")}
                    </Button>
                )
            }
        >
            <div class="panel-body">
                {!hook && <p class="faint">{t("hook.none")}</p>}
                {hook && (
                    <Facts
                        rows={[
                            [
                                t("hook.url"),
                                <span class="made-hook">
                                    <code>{addressOf(hook)}</code> <CopyButton text={addressOf(hook)} />
                                </span>,
                            ],
                            [t("hook.kind"), t(`hook.${hook.kind}`)],
                            [t("hook.rate"), hook.rate],
                            hook.last_at !== null && [t("hook.last"), <Relative at={hook.last_at} />],
                        ]}
                    />
                )}
                {hook && may("edit", name) && (
                    <p class="hook-actions">
                        <Button small onClick={() => setAsked("rotate")}>
                            {t("hook.rotate")}
                        </Button>{" "}
                        <Button small icon="trash" onClick={() => setAsked("delete")}>
                            {t("hook.delete")}
                        </Button>
                    </p>
                )}
            </div>
            {asked && <AskDialog asked={asked} onDo={act} onClose={() => setAsked(null)} />}
            {made && <Made hook={made} onClose={() => setMade(null)} />}
        </Panel>
    );
}
