// The start page: jobs that need attention, current and upcoming runs.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import { openStates, type Job, type Page, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { maySomewhere } from "../../app/session";
import { Icon } from "../../ui/icons";
import { Duration, Relative } from "../../ui/moments";
import { CopyButton, Empty, Failure, Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { reasonText, Status, type Shown } from "../../ui/status";
import { ClockTrouble, Troubles, type Clock, type Health } from "../../ui/trouble";
import { DayPanel } from "./DayPanel";
import { t } from "./words";
import "./overview.css";

const SHOWN = 8;
const LATE_MS = 10_000; // a job that has just become due is about to start
const FIELDS = "name,status";

interface Attention {
    key: string;
    job: string;
    href: string;
    state: Shown | "late";
    text: string | null;
    at: string | null;
}

async function readAttention(signal: AbortSignal): Promise<Attention[]> {
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
    const jobs = (status: string) => api.get<Page<Job>>("/jobs", { status, limit: SHOWN, fields: FIELDS }, signal);
    const [broken, failed, due, lost] = await Promise.all([
        jobs("broken"),
        api.get<Page<Job>>("/jobs", { status: "failed", sort: "last", limit: SHOWN, fields: FIELDS }, signal),
        api.get<Page<Job>>("/jobs", { sort: "next", limit: SHOWN, fields: FIELDS }, signal),
        api.get<Page<Run>>("/runs", { state: "lost", since: dayAgo, limit: SHOWN }, signal),
    ]);
    const late = due.items.filter((job) => job.status.next_at && Date.now() - Date.parse(job.status.next_at) > LATE_MS && !job.status.paused);
    const ofJob = (job: Job, state: Shown | "late", text: string | null, at: string | null): Attention => ({
        key: `${state} ${job.name}`,
        job: job.name,
        href: state !== "late" && job.status.last && state !== "broken" ? hrefs.run(job.status.last.run_id) : hrefs.job(job.name),
        state,
        text,
        at,
    });
    const rows = [
        ...broken.items.map((job) => ofJob(job, "broken", job.status.problem, null)),
        ...late.map((job) => ofJob(job, "late", t("late.text", { span: spanText(Date.now() - Date.parse(job.status.next_at ?? "")) }), null)),
        ...failed.items.map((job) => ofJob(job, job.status.last?.state ?? "failed", null, job.status.last?.finished_at ?? null)),
        ...lost.items.map((run): Attention => ({
            key: run.run_id,
            job: run.job,
            href: hrefs.run(run.run_id),
            state: "lost",
            text: reasonText(run.reason) ?? t("lost.text"),
            at: run.finished_at ?? run.started_at,
        })),
    ];
    return rows.filter((row, i) => rows.findIndex((other) => other.href === row.href) === i);
}

function LateStatus() {
    return (
        <span class="status tone-warn">
            <Icon name="clock" />
            <span>{t("late")}</span>
        </span>
    );
}

function AttentionPanel({ version }: { version: string }) {
    const rows = useResource(`attention ${version}`, readAttention);
    return (
        <Panel title={t("attention")} beside={<a href="#/jobs?status=failed">{t("attention.all")}</a>}>
            {rows.problem && <Failure problem={rows.problem} onRetry={rows.reload} />}
            {rows.data && !rows.data.length && <Empty icon="check" title={t("attention.none")} />}
            <ul class="lines">
                {rows.data?.map((row) => (
                    <li key={row.key}>
                        {row.state === "late" ? <LateStatus /> : <Status state={row.state} />}
                        <a data-row class="row-link" href={row.href}>
                            {row.job}
                        </a>
                        <span class="line-text faint">{row.text}</span>
                        <span class="faint">{row.at && <Relative at={row.at} />}</span>
                    </li>
                ))}
            </ul>
        </Panel>
    );
}

function RunningPanel({ version }: { version: string }) {
    const runs = useResource(`running ${version}`, (signal) =>
        api.get<Page<Run>>("/runs", { state: openStates.join(","), limit: SHOWN }, signal),
    );
    return (
        <Panel title={t("running")} beside={<a href="#/runs">{t("running.all")}</a>}>
            {runs.data && !runs.data.items.length && <p class="panel-body faint">{t("running.none")}</p>}
            <ul class="lines">
                {runs.data?.items.map((run) => (
                    <li key={run.run_id}>
                        <Status state={run.state} />
                        <a data-row class="row-link" href={hrefs.run(run.run_id)}>
                            {run.job}
                        </a>
                        <span class="line-text" />
                        <span class="faint">{run.started_at && <Duration from={run.started_at} to={run.finished_at} />}</span>
                    </li>
                ))}
            </ul>
        </Panel>
    );
}

function NextPanel({ version }: { version: string }) {
    const jobs = useResource(`next ${version}`, (signal) =>
        api.get<Page<Job>>("/jobs", { sort: "next", limit: SHOWN, fields: FIELDS }, signal),
    );
    const rows = jobs.data?.items.filter((job) => job.status.next_at && !job.status.paused) ?? [];
    return (
        <Panel title={t("next")} beside={<a href="#/jobs?sort=next">{t("next.all")}</a>}>
            {jobs.data && !rows.length && <p class="panel-body faint">{t("next.none")}</p>}
            <ul class="lines">
                {rows.map((job) => (
                    <li key={job.name}>
                        <a data-row class="row-link" href={hrefs.job(job.name)}>
                            {job.name}
                        </a>
                        <span class="line-text" />
                        <span class="faint">
                            <Relative at={job.status.next_at} overdue />
                        </span>
                    </li>
                ))}
            </ul>
        </Panel>
    );
}

function First() {
    const command = "crontab -l | peal import crontab -";
    return (
        <Panel>
            <Empty icon="bell" title={t("first.title")}>
                <p>{t("first.text")}</p>
                {maySomewhere("edit") && (
                    <p class="first-do">
                        <a class="button primary" href="#/new">
                            <Icon name="plus" /> {t("new")}
                        </a>
                    </p>
                )}
                <p>{t("first.import")}</p>
                <p class="first-code">
                    <code>{command}</code> <CopyButton text={command} />
                </p>
            </Empty>
        </Panel>
    );
}

interface Cluster {
    store: Health & { halted: boolean };
    history: Health;
    clock?: Clock;
    skew_ms: number;
    clock_ok: boolean;
    jobs: number;
}

function Problems({ cluster }: { cluster: Cluster }) {
    const { store, history } = cluster;
    return (
        <>
            {store.halted && (
                <p class="note bad trouble" role="alert">
                    {t("halted")} <a href="#/nodes">{t("halted.look")}</a>
                </p>
            )}
            <Troubles store={store} history={history} />
            <ClockTrouble clock={cluster.clock} />
            {!cluster.clock_ok && !cluster.clock?.doubt && (
                <p class="note bad trouble" role="alert">
                    {t("clock", { text: spanText(Math.abs(cluster.skew_ms)) })}
                </p>
            )}
        </>
    );
}

export default function OverviewScreen() {
    const [turn, setTurn] = useState(0);
    const soon = useThrottled(() => setTurn((n) => n + 1), 3000);
    const version = String(turn);
    const cluster = useResource(`cluster ${version}`, (signal) => api.optional<Cluster>("/cluster", {}, signal));
    useEffect(() => {
        const stops = (["run", "entry", "job", "node", "clock", "reset"] as const).map((name) => onLive(name, soon));
        const timer = setInterval(soon, 15_000); // lateness comes without an event
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
        };
    }, []);
    return (
        <>
            <Head title={t("title")}>
                {maySomewhere("edit") && (
                    <a class="button primary" href="#/new">
                        <Icon name="plus" /> {t("new")}
                    </a>
                )}
            </Head>
            {cluster.data && <Problems cluster={cluster.data} />}
            {cluster.data?.jobs === 0 ? (
                <First />
            ) : (
                <div class="overview">
                    <div>
                        <AttentionPanel version={version} />
                        <DayPanel version={version} />
                    </div>
                    <div>
                        <RunningPanel version={version} />
                        <NextPanel version={version} />
                    </div>
                </div>
            )}
        </>
    );
}
