// Earlier versions of a job; hidden if the agent keeps none.
import { useState } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import type { Page } from "../../api/types";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Moment } from "../../ui/moments";
import { Button, Dialog, Empty, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { t } from "./words";

export interface Version {
    revision: number;
    at?: string;
    actor?: string | null;
    action?: string | null;
    detail?: string | null;
}

export function useVersions(name: string, revision: number): Version[] | null {
    const versions = useResource(`versions ${name} ${revision}`, (signal) =>
        api.optional<Page<Version>>(jobPath(name, "/versions"), {}, signal),
    );
    return versions.data?.items ?? null;
}

interface Diff {
    text: string;
    changes?: { pointer: string }[];
}

const TOLD = 20; // versions, of which it is told what changed

// Which fields each version has changed, in a few words.
function useChanges(name: string, versions: Version[]): Map<number, string> {
    const found = useResource(`changes ${name} ${versions.map((version) => version.revision).join()}`, (signal) =>
        Promise.all(
            versions.slice(0, TOLD).map(async ({ revision }, i): Promise<[number, string]> => {
                const before = versions[i + 1];
                if (!before) return [revision, ""];
                const diff = await api.optional<Diff>(jobPath(name, `/versions/${before.revision}/diff`), { to: revision }, signal);
                const fields = new Set(diff?.changes?.map((change) => change.pointer.split("/").slice(1, 3).join(".")));
                return [revision, [...fields].join(", ")];
            }),
        ),
    );
    return new Map(found.data);
}

// What has changed since that revision; with a title if there is anything.
export function DiffText({ name, revision, title }: { name: string; revision: number; title?: string }) {
    const diff = useResource(`diff ${name} ${revision}`, (signal) =>
        api.optional<Diff>(jobPath(name, `/versions/${revision}/diff`), {}, signal),
    );
    const text = diff.data?.text;
    if (!text) return null;
    return (
        <>
            {title && <p class="faint small">{title}</p>}
            <pre class="diff" tabIndex={0}>
                {text.split("\n").map((line, i) => (
                    <span key={i} class={line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""}>
                        {line}
                        {"\n"}
                    </span>
                ))}
            </pre>
        </>
    );
}

export function Versions(props: { name: string; current: number; versions: Version[]; onChange: () => void }) {
    const { name, current, versions, onChange } = props;
    const [shown, setShown] = useState<number | null>(null);
    const [asked, setAsked] = useState<number | null>(null);
    const changes = useChanges(name, versions);
    const rollback = (revision: number): void => {
        setAsked(null);
        void attempt(async () => {
            await api.post(jobPath(name, "/rollback"), { revision });
            toastDone(t("versions.done", { revision }));
            onChange();
        });
    };
    if (!versions.length) return <Empty icon="rollback" title={t("versions.none")} />;
    return (
        <Panel>
            <ul class="versions">
                {versions.map((version) => (
                    <li key={version.revision}>
                        <div class="version-row">
                            <strong class="num">
                                {t("revision")} {version.revision}
                            </strong>
                            {version.at && <Moment at={version.at} />}
                            {version.actor && <span class="faint">{t("versions.by", { name: version.actor })}</span>}
                            {version.detail && <span class="faint">{version.detail}</span>}
                            {changes.get(version.revision) && <span class="version-fields mono">{changes.get(version.revision)}</span>}
                            {version.revision === current && <span class="label">{t("versions.current")}</span>}
                            <span class="version-actions">
                                {version.revision !== current && (
                                    <Button
                                        small
                                        pressed={shown === version.revision}
                                        onClick={() => setShown(shown === version.revision ? null : version.revision)}
                                    >
                                        {t("versions.diff")}
                                    </Button>
                                )}
                                {may("edit", name) && version.revision !== current && (
                                    <Button small icon="rollback" onClick={() => setAsked(version.revision)}>
                                        {t("versions.rollback")}
                                    </Button>
                                )}
                            </span>
                        </div>
                        {shown === version.revision && <DiffText name={name} revision={version.revision} />}
                    </li>
                ))}
            </ul>
            {asked !== null && (
                <Dialog
                    title={t("versions.ask", { revision: asked })}
                    onClose={() => setAsked(null)}
                    actions={
                        <>
                            <Button onClick={() => setAsked(null)}>{common("cancel")}</Button>
                            <Button kind="primary" icon="rollback" onClick={() => rollback(asked)}>
                                {t("versions.rollback")}
                            </Button>
                        </>
                    }
                >
                    <p>{t("versions.text")}</p>
                </Dialog>
            )}
        </Panel>
    );
}
