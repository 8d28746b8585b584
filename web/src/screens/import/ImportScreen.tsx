// A crontab that is pasted, and the jobs that it becomes; some or all of them are created.
import { useState } from "preact/hooks";
import { api, Problem } from "../../api/client";
import { commandText } from "../../api/definition";
import type { Job } from "../../api/types";
import { localZone } from "../../app/preferences";
import { go, href } from "../../app/router";
import { mayIn, maySomewhere } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { Icon } from "../../ui/icons";
import { Button, Failure, Head, Panel, useDelayed } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { title } from "./titles";
import { t } from "./words";
import "./import.css";

const PAUSE_MS = 400;

type Definition = Pick<Job, "name" | "schedule" | "schedules" | "command" | "shell" | "timezone">;

interface Note {
    line: number;
    column: number;
    severity: "info" | "warning" | "error";
    text: string;
}

interface Result {
    name: string;
    result: "created" | "changed" | "adopted" | "unchanged" | "deleted" | "failed";
    error: string | null;
}

interface Wanted {
    text: string;
    system: boolean;
    timezone: string;
    prefix: string;
}

interface Found {
    items: Definition[];
    notes: Note[];
    results: Result[];
}

function inFolder(prefix: string, name: string): string {
    const folder = prefix.trim().replace(/\/+$/, "");
    return folder ? `${folder}/${name}` : name;
}

async function read(wanted: Wanted, signal: AbortSignal): Promise<Found> {
    const { prefix, ...body } = wanted;
    if (!body.text.trim()) return { items: [], notes: [], results: [] };
    const found = await api.post<Omit<Found, "results">>("/jobs:import", body, { signal });
    const items = found.items.map((item) => ({ ...item, name: inFolder(prefix, item.name) }));
    if (!items.length) return { items, notes: found.notes, results: [] };
    const tried = await api.post<{ results: Result[] }>("/jobs:batch", { put: items, dry_run: true }, { signal });
    return { items, notes: found.notes, results: tried.results };
}

function Notes({ notes }: { notes: Note[] }) {
    if (!notes.length) return null;
    return (
        <Panel title={t("notes")}>
            <ul class="import-notes panel-body">
                {notes.map((note, i) => (
                    <li key={i} class={note.severity === "error" ? "tone-bad" : ""}>
                        <strong>{t("line", { n: note.line })}</strong> <span class="label">{t(`severity.${note.severity}`)}</span> {note.text}
                    </li>
                ))}
            </ul>
        </Panel>
    );
}

function Rows({ found, isLeft, onFlip }: { found: Found; isLeft: (name: string) => boolean; onFlip: (name: string) => void }) {
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={t("found", { n: found.items.length })}>
            <table class="table">
                <thead>
                    <tr>
                        <th>{t("choose")}</th>
                        <th>{t("name")}</th>
                        <th>{t("schedule")}</th>
                        <th>{t("command")}</th>
                        <th>{t("result")}</th>
                    </tr>
                </thead>
                <tbody>
                    {found.items.map((item, i) => {
                        const result = found.results[i];
                        return (
                            <tr key={item.name}>
                                <td>
                                    <input type="checkbox" aria-label={item.name} checked={!isLeft(item.name)} onChange={() => onFlip(item.name)} />
                                </td>
                                <td>
                                    <strong>{item.name}</strong>
                                </td>
                                <td class="mono">{item.schedule ?? item.schedules?.join(" | ")}</td>
                                <td class="mono import-command">{commandText(item as Job)}</td>
                                <td class={result && !["created", "unchanged", "adopted"].includes(result.result) ? "tone-warn" : "faint"}>
                                    {result && (result.result === "failed" || result.result === "deleted" ? result.error : t(`result.${result.result}`))}
                                </td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

export default function ImportScreen() {
    const [first] = mayIn("edit");
    const [wanted, setWanted] = useState<Wanted>({ text: "", system: false, timezone: localZone, prefix: first ?? "" });
    const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
    const [paused, setPaused] = useState(false);
    const late = useDelayed(JSON.stringify(wanted), PAUSE_MS);
    const resource = useResource(`import ${late}`, (signal) => read(JSON.parse(late) as Wanted, signal));
    const set = (change: Partial<Wanted>): void => setWanted({ ...wanted, ...change });
    if (!maySomewhere("edit")) return <p class="note">{t("no.right")}</p>;
    const found = resource.problem ? null : resource.data;
    // What would replace a job is left out unless it is chosen.
    const isReplaced = (name: string): boolean => found?.results.some((row) => row.name === name && row.result === "changed") ?? false;
    const isLeft = (name: string): boolean => isReplaced(name) !== flipped.has(name);
    const flip = (name: string): void => {
        const next = new Set(flipped);
        if (!next.delete(name)) next.add(name);
        setFlipped(next);
    };
    const chosen = found?.items.filter((item) => !isLeft(item.name)) ?? [];
    const create = (): void =>
        void attempt(async () => {
            const put = chosen.map((item) => ({ ...item, ...(paused ? { paused } : {}) }));
            const { results } = await api.post<{ results: Result[] }>("/jobs:batch", { put });
            const failed = results.filter((row) => row.result === "failed");
            if (failed.length) throw new Problem(0, t("some.failed", { n: failed.length, text: failed[0]?.error ?? "" }));
            toastDone(t("done", { n: put.length }));
            go(href("/jobs", { folder: wanted.prefix.replace(/\/+$/, "") }));
        });
    const isReady = !resource.loading && late === JSON.stringify(wanted) && chosen.length > 0;
    return (
        <div class="import">
            <Head
                above={
                    <>
                        <a href="#/jobs">{t("jobs")}</a>
                        <Icon name="chevron" />
                    </>
                }
                title={title("title")}
            >
                <Button kind="primary" icon="check" disabled={!isReady} onClick={create}>
                    {t("do", { n: chosen.length })}
                </Button>
            </Head>
            <Panel>
                <div class="panel-body import-form">
                    <label class="import-text">
                        <span>{t("text")}</span>
                        <textarea
                            class="mono"
                            rows={10}
                            autofocus
                            spellcheck={false}
                            wrap="off"
                            placeholder={"30 2 * * *  /usr/local/bin/backup --full\n*/5 * * * *  curl -fsS https://example.org/beat"}
                            value={wanted.text}
                            onInput={(event) => set({ text: event.currentTarget.value })}
                        />
                        <span class="faint small">{t("text.help")}</span>
                    </label>
                    <label>
                        <span>{t("prefix")}</span>
                        <input value={wanted.prefix} autocomplete="off" spellcheck={false} onInput={(event) => set({ prefix: event.currentTarget.value })} />
                        <span class="faint small">{t("prefix.help")}</span>
                    </label>
                    <label>
                        <span>{t("zone")}</span>
                        <input value={wanted.timezone} autocomplete="off" spellcheck={false} onInput={(event) => set({ timezone: event.currentTarget.value })} />
                        <span class="faint small">{t("zone.help")}</span>
                    </label>
                    <label class="check">
                        <input type="checkbox" checked={wanted.system} onChange={(event) => set({ system: event.currentTarget.checked })} />
                        {t("system")}
                    </label>
                    <label class="check">
                        <input type="checkbox" checked={paused} onChange={(event) => setPaused(event.currentTarget.checked)} />
                        {t("paused")}
                    </label>
                </div>
            </Panel>
            {resource.problem && <Failure problem={resource.problem} onRetry={resource.reload} />}
            {found && <Notes notes={found.notes} />}
            {found && found.items.length > 0 && (
                <Panel title={t("found", { n: found.items.length })}>
                    <Rows found={found} isLeft={isLeft} onFlip={flip} />
                </Panel>
            )}
        </div>
    );
}
