// Limits of how many runs are under way at once: who has a slot, and who waits for one.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Page } from "../../api/types";
import { hrefs } from "../../app/router";
import { may } from "../../app/session";
import { toastDone } from "../../app/toasts";
import { Moment, ZoneNote } from "../../ui/moments";
import { Button, Empty, Facts, Failure, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { Ask } from "./Ask";
import { t } from "./guards_words";
import { t as words } from "./words";

interface Slot {
    run_id: string;
    job: string;
    step: string | null;
    tick: string;
    priority: number;
    node?: string | null;
    place?: number;
    waits_for?: { group: string; on_node: boolean } | null;
}

interface Group {
    name: string;
    revision: number;
    cluster: number | null;
    node: number | null;
    labels: Record<string, number> | null;
    by_label: { label: string; limit: number; held: number }[] | null;
    notes?: string;
    job_count: number;
    jobs: string[];
    held: number;
    waiting: number;
    holders: Slot[];
    queue: Slot[];
}

// As on the command line: "zone=2" for each value of a label, "zone=eu:4" for one.
const labelText = ([label, limit]: [string, number]): string => `${label}${label.includes("=") ? ":" : "="}${limit}`;

function labelsOf(text: string): Record<string, number> {
    const parts = text.split(/[,\s]+/).filter(Boolean);
    return Object.fromEntries(parts.map((part) => {
        const [, label, limit] = /^(.*)[:=](\d+)$/.exec(part) ?? [];
        return [label ?? part, Number(limit ?? 0)]; // the agent says what is wrong with it
    }));
}

const pathOf = (name: string): string => `/groups/${encodeURIComponent(name)}`;

function EditDialog({ group, onClose, onDone }: { group: Group | null; onClose: () => void; onDone: () => void }) {
    const [name, setName] = useState(group?.name ?? "");
    const [limits, setLimits] = useState({ cluster: group?.cluster ?? null, node: group?.node ?? null });
    const [labels, setLabels] = useState(Object.entries(group?.labels ?? {}).map(labelText).join(", "));
    const [notes, setNotes] = useState(group?.notes ?? "");
    const save = async (): Promise<void> => {
        const given: Record<string, unknown> = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit));
        if (labels.trim()) given["labels"] = labelsOf(labels);
        await api.put(pathOf(name), { ...given, ...(notes ? { notes } : {}) }, { headers: group ? { "If-Match": `"${group.revision}"` } : { "If-None-Match": "*" } });
        toastDone(words("saved"));
        onDone();
    };
    return (
        <Ask title={group ? words("user.title", { name }) : t("group.new").replace("…", "")} action={words(group ? "user.change" : "user.add")} onDo={save} onClose={onClose}>
            {!group && (
                <label>
                    {words("name")}
                    <input required autofocus autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
                </label>
            )}
            {(["cluster", "node"] as const).map((kind) => (
                <label key={kind}>
                    {t(kind)}
                    <input
                        type="number"
                        min={1}
                        max={100_000}
                        value={limits[kind] ?? ""}
                        onInput={(event) => setLimits({ ...limits, [kind]: +event.currentTarget.value || null })}
                    />
                </label>
            ))}
            <label>
                {t("labels")}
                <input placeholder="zone=2, zone=eu:4" autocomplete="off" value={labels} onInput={(event) => setLabels(event.currentTarget.value)} />
            </label>
            <label>
                {words("calendar.notes")}
                <input value={notes} onInput={(event) => setNotes(event.currentTarget.value)} />
            </label>
        </Ask>
    );
}

function reasonOf({ name }: Group, { waits_for: lack }: Slot): string {
    if (!lack) return t("why.null");
    if (lack.on_node) return t("why.node");
    return lack.group === name ? t("why.group") : t("why.other", { name: lack.group });
}

// Those that have a slot, or the line of those that wait.
function Slots({ title, group, slots, waits }: { title: string; group: Group; slots: Slot[]; waits?: boolean }) {
    if (!slots.length) return null;
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
            <table class="table">
                <caption>{title}</caption>
                <thead>
                    <tr>
                        <th>{waits ? t("place") : words("node")}</th>
                        <th>{words("kind.job")}</th>
                        <th>
                            {t("due")} <ZoneNote />
                        </th>
                        {waits && <th>{t("priority")}</th>}
                        {waits && <th>{words("state")}</th>}
                    </tr>
                </thead>
                <tbody>
                    {slots.map((slot) => (
                        <tr key={slot.run_id}>
                            <td class="num">{slot.place ?? slot.node ?? "–"}</td>
                            <td>
                                <a href={hrefs.run(slot.run_id)}>
                                    {slot.job}
                                    {slot.step && ` · ${slot.step}`}
                                </a>
                            </td>
                            <td>
                                <Moment at={slot.tick} bare />
                            </td>
                            {waits && <td class="num">{slot.priority}</td>}
                            {waits && <td>{reasonOf(group, slot)}</td>}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function GroupPanel({ group, onEdit, onDelete }: { group: Group; onEdit: () => void; onDelete: () => void }) {
    return (
        <Panel
            title={group.name}
            class="group-panel"
            beside={
                may("admin") && (
                    <div class="calendar-actions">
                        <Button small onClick={onEdit}>
                            {words("user.edit")}
                        </Button>
                        <Button small icon="trash" title={words("user.delete.ask", { name: group.name })} onClick={onDelete} />
                    </div>
                )
            }
        >
            <div class="panel-body settings-you">
                {group.notes && <p>{group.notes}</p>}
                <Facts
                    rows={[
                        [t("cluster"), group.cluster ?? "–"],
                        [t("node"), group.node ?? "–"],
                        group.by_label && [t("labels"), group.by_label.map((row) => `${row.label}: ${row.held}/${row.limit}`).join(", ")],
                        [t("held"), group.held],
                        [t("queue"), group.waiting],
                        group.job_count > 0 && [
                            words("calendar.jobs"),
                            <>
                                {group.jobs.map((job) => (
                                    <a key={job} href={hrefs.job(job)}>
                                        {job}{" "}
                                    </a>
                                ))}
                                {group.job_count > group.jobs.length && `+ ${group.job_count - group.jobs.length}`}
                            </>,
                        ],
                    ]}
                />
            </div>
            <Slots title={t("held")} group={group} slots={group.holders} />
            <Slots title={t("queue")} group={group} slots={group.queue} waits />
        </Panel>
    );
}

export function Groups() {
    const groups = useResource("groups", (signal) => api.get<Page<Group>>("/groups", {}, signal));
    const [edited, setEdited] = useState<Group | "new" | null>(null);
    const [deleted, setDeleted] = useState<Group | null>(null);
    const soon = useThrottled(groups.reload, 1000);
    useEffect(() => onLive("run", soon), []);
    useEffect(() => onLive("job", soon), []);
    useEffect(() => onLive("reset", soon), []);
    if (groups.problem) return <Failure problem={groups.problem} onRetry={groups.reload} />;
    if (!groups.data) return null;
    const { items } = groups.data;
    const done = (): void => {
        setEdited(null);
        setDeleted(null);
        groups.reload();
    };
    const remove = async ({ name, revision }: Group): Promise<void> => {
        await api.delete(pathOf(name), { headers: { "If-Match": `"${revision}"` } });
        toastDone(words("deleted", { name }));
        done();
    };
    return (
        <>
            {may("admin") && (
                <p class="tab-action">
                    <Button small icon="plus" onClick={() => setEdited("new")}>
                        {t("group.new")}
                    </Button>
                </p>
            )}
            {!items.length && <Empty icon="hourglass" title={t("group.none")} />}
            {items.map((group) => (
                <GroupPanel key={group.name} group={group} onEdit={() => setEdited(group)} onDelete={() => setDeleted(group)} />
            ))}
            {edited && <EditDialog group={edited === "new" ? null : edited} onClose={() => setEdited(null)} onDone={done} />}
            {deleted && (
                <Ask danger title={words("user.delete.ask", { name: deleted.name })} action={words("user.delete.do")} onDo={() => remove(deleted)} onClose={() => setDeleted(null)}>
                    <p>{words("calendar.delete.text")}</p>
                </Ask>
            )}
        </>
    );
}
