// The start page: jobs that need attention, current and upcoming runs.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import { openStates, type Job, type Page, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { maySomewhere } from "../../app/session";
import { Icon } from "../../ui/icons";
import { Duration, Relative } from "../../ui/moments";
import { Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { Status } from "../../ui/status";
import { AttentionPanel } from "./Attention";
import { DayPanel } from "./DayPanel";
import { FirstSteps, hasFirstSteps } from "./FirstSteps";
import { Problems, type Cluster } from "./Problems";
import { t } from "./words";
import "./overview.css";

const SHOWN = 8;
const FIELDS = "name,status";

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
                        <span class="line-text faint small">{!run.started_at && (run.waits_for ? t("waits", { group: run.waits_for.group }) : run.detail)}</span>
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

export default function OverviewScreen() {
    const [turn, setTurn] = useState(0);
    const [slow, setSlow] = useState(0);
    const soon = useThrottled(() => setTurn((n) => n + 1), 3000);
    const version = String(turn);
    const cluster = useResource(`cluster ${version}`, (signal) => api.optional<Cluster>("/cluster", {}, signal));
    useEffect(() => {
        const stops = (["run", "entry", "job", "node", "clock", "reset"] as const).map((name) => onLive(name, soon));
        const again = (): void => setSlow((n) => n + 1);
        const node = onLive("node", again);
        // Lateness, and what became of messages, come without an event.
        const timer = setInterval(() => {
            soon();
            again();
        }, 15_000);
        return () => {
            stops.forEach((stop) => stop());
            node();
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
            {cluster.data && <Problems cluster={cluster.data} version={String(slow)} />}
            {cluster.data && hasFirstSteps(cluster.data.jobs) && <FirstSteps version={String(cluster.data.jobs)} onChange={soon} />}
            {cluster.data?.jobs !== 0 && (
                <div class="overview">
                    <div>
                        <AttentionPanel version={version} />
                        <DayPanel version={version} slow={String(slow)} />
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
