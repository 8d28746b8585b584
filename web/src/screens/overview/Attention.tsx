// Jobs that need attention, with the cause: failed, late, lost, or with a definition that can't run.
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Cause, Job, Page, Run } from "../../api/types";
import { href, hrefs } from "../../app/router";
import { may } from "../../app/session";
import { CauseLine, endText, streakText, useCauses } from "../../ui/causes";
import { Icon } from "../../ui/icons";
import { Relative } from "../../ui/moments";
import { knowsMutes, MuteDialog, muteOf, muteText, unmute } from "../../ui/mute";
import { t as muteWord } from "../../ui/mute_words";
import { Empty, Failure, Menu, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { reasonText, Status, warningText, type Shown } from "../../ui/status";
import { t } from "./words";

const SHOWN = 8;
const WARNINGS = 3; // failures come first
const LATE_MS = 10_000; // a job that has just become due is about to start
const FIELDS = "name,status,owner";

interface Row {
    key: string;
    name: string;
    job: Job | null;
    href: string;
    state: Shown | "late";
    text: string | null;
    at: string | null;
}

interface Attention {
    rows: Row[];
    failed: number; // jobs, also those that are not shown
    warned: boolean; // more jobs have a warning than are shown
}

// Told of the job, not of its last run.
function isOfDefinition(state: Row["state"]): boolean {
    return state === "broken" || state === "warning";
}

async function readRows(signal: AbortSignal): Promise<Attention> {
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
    const list = (query: Record<string, string>) => api.get<Page<Job>>("/jobs", { ...query, limit: SHOWN, fields: FIELDS }, signal);
    const [broken, warned, failed, due, lost] = await Promise.all([
        list({ status: "broken" }),
        list({ status: "warning" }).catch((): Page<Job> => ({ items: [], next: null })), // an older agent has none
        list({ status: "failed", sort: "last" }),
        list({ sort: "next" }),
        api.get<Page<Run>>("/runs", { state: "lost", since: dayAgo, limit: SHOWN }, signal),
    ]);
    const counts = failed.next ? await api.optional<{ matched: number }>("/jobs:facets", { status: "failed" }, signal) : null;
    const late = due.items.filter((job) => job.status.next_at && Date.now() - Date.parse(job.status.next_at) > LATE_MS && !job.status.paused && !job.status.warning);
    const ofJob = (job: Job, state: Shown | "late", text: string | null, at: string | null): Row => ({
        key: `${state} ${job.name}`,
        name: job.name,
        job,
        href: state !== "late" && job.status.last && !isOfDefinition(state) ? hrefs.run(job.status.last.run_id) : hrefs.job(job.name),
        state,
        text,
        at,
    });
    const rows = [
        ...broken.items.map((job) => ofJob(job, "broken", job.status.problem, null)),
        ...late.map((job) => ofJob(job, "late", t("late.text", { span: spanText(Date.now() - Date.parse(job.status.next_at ?? "")) }), null)),
        ...failed.items.map((job) => ofJob(job, job.status.last?.state ?? "failed", null, job.status.last?.finished_at ?? null)),
        ...lost.items.map((run): Row => ({
            key: run.run_id,
            name: run.job,
            job: null,
            href: hrefs.run(run.run_id),
            state: "lost",
            text: reasonText(run.reason) ?? t("lost.text"),
            at: run.finished_at ?? run.started_at,
        })),
        ...warned.items.slice(0, WARNINGS).flatMap((job) => (job.status.warning ? [ofJob(job, "warning", warningText(job.status.warning), null)] : [])),
    ];
    return {
        rows: rows.filter((row, i) => rows.findIndex((other) => other.href === row.href) === i),
        failed: counts?.matched ?? failed.items.length,
        warned: warned.items.length > WARNINGS,
    };
}

function LateStatus() {
    return (
        <span class="status tone-warn">
            <Icon name="clock" />
            <span>{t("late")}</span>
        </span>
    );
}

// Who looks after a failure says so here; for how long nobody is told.
function Silence({ job, onChange }: { job: Job; onChange: () => void }) {
    const [asked, setAsked] = useState<"mute" | "ack" | null>(null);
    const mute = muteOf(job);
    if (!knowsMutes(job) || !may("operate", job.name)) return null;
    return (
        <>
            <Menu
                label={muteWord("menu", { name: job.name })}
                items={
                    mute
                        ? [{ icon: "bell", text: muteWord("unmute"), onClick: () => void unmute(job.name).then(onChange) }]
                        : [
                              { icon: "check", text: muteWord("ack"), onClick: () => setAsked("ack") },
                              { icon: "bell", text: muteWord("mute"), onClick: () => setAsked("mute") },
                          ]
                }
            />
            {asked && <MuteDialog name={job.name} kind={asked} onDone={onChange} onClose={() => setAsked(null)} />}
        </>
    );
}

function AttentionRow({ row, cause, onChange }: { row: Row; cause: Cause | undefined; onChange: () => void }) {
    const owner = row.job?.owner;
    const mute = row.job && muteOf(row.job);
    const why = row.text ?? (cause && [endText(cause.run), streakText(cause)].filter(Boolean).join(" · "));
    return (
        <li>
            {row.state === "late" ? <LateStatus /> : <Status state={row.state} />}
            <div class="attention-job">
                <p>
                    <a data-row class="row-link" href={row.href}>
                        {row.name}
                    </a>
                    <span class="attention-why">{why}</span>
                </p>
                {cause && <CauseLine cause={cause} />}
                {mute && <p class="faint small">{muteText(mute)}</p>}
            </div>
            <span class="attention-side faint">
                {row.at && <Relative at={row.at} />}
                {owner && (
                    <a class="over faint" href={href("/jobs", { owner })}>
                        {owner}
                    </a>
                )}
            </span>
            {row.job && row.state !== "late" && !isOfDefinition(row.state) && <Silence job={row.job} onChange={onChange} />}
        </li>
    );
}

export function AttentionPanel({ version }: { version: string }) {
    const found = useResource(`attention ${version}`, readRows);
    const rows = found.data?.rows ?? [];
    const causes = useCauses(rows.flatMap((row) => row.job ?? []));
    return (
        <Panel title={t("attention")} beside={<a href="#/jobs?status=failed">{found.data && found.data.failed > SHOWN ? t("attention.count", { n: found.data.failed }) : t("attention.all")}</a>}>
            {found.problem && <Failure problem={found.problem} onRetry={found.reload} />}
            {found.data && !rows.length && <Empty icon="check" title={t("attention.none")} />}
            <ul class="lines attention">
                {rows.map((row) => (
                    <AttentionRow key={row.key} row={row} onChange={found.reload} cause={row.state === "late" || isOfDefinition(row.state) ? undefined : causes.get(row.name)} />
                ))}
                {found.data?.warned && (
                    <li>
                        <a href="#/jobs?status=warning">{t("attention.warned")}</a>
                    </li>
                )}
            </ul>
        </Panel>
    );
}
