// Upstream and downstream jobs of a job: what it waits for, in words, and the whole graph.
import { useEffect, useRef } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import { onLive } from "../../api/live";
import type { Dependencies, JobGraph } from "../../api/types";
import { href, hrefs } from "../../app/router";
import { Graph, type GraphEdge, type GraphNode } from "../../graph/Graph";
import { Relative } from "../../ui/moments";
import { Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { Status, type Shown } from "../../ui/status";
import { t } from "./words";

function Name({ job, on }: { job: string; on: string | undefined }) {
    return (
        <>
            <a href={hrefs.job(job)}>{job}</a>
            {on && on !== "success" && (
                <>
                    {" "}
                    <span class="label">{on}</span>
                </>
            )}
        </>
    );
}

export function AfterWords({ after }: { after: { job: string; on?: string }[] }) {
    return (
        <ul class="schedule-words">
            <li>
                {t("after")}{" "}
                {after.map(({ job, on }, i) => (
                    <span key={job}>
                        {i > 0 && ", "}
                        <Name job={job} on={on} />
                    </span>
                ))}
            </li>
        </ul>
    );
}

type Upstream = Dependencies["after"][number];

function conditionOf({ exists, met, on }: Upstream) {
    return exists ? (met ? "met" : (`unmet.${on}` as const)) : "missing";
}

// "Waiting for etl/load to succeed (last: failed 3 m ago)", with the name as a link.
function Condition({ of }: { of: Upstream }) {
    const [before, after] = t(conditionOf(of)).split("{job}");
    return (
        <li class={of.exists ? undefined : "note bad"}>
            {before}
            <a href={hrefs.job(of.job)}>{of.job}</a>
            {after}
            {of.state && (
                <span class="faint">
                    {" "}
                    ({t("last")} <Status state={of.state} /> {of.ended_at && <Relative at={of.ended_at} />})
                </span>
            )}
        </li>
    );
}

type GraphJob = JobGraph["jobs"][number];

function stateOf({ exists, open, paused, state }: GraphJob): Shown {
    if (!exists) return "broken";
    return open ? "running" : paused ? "paused" : (state ?? "never");
}

function nodeOf(job: GraphJob, name: string): GraphNode {
    return {
        id: job.job,
        name: job.job,
        state: stateOf(job),
        note: job.exists ? (job.took_ms === null ? "" : spanText(job.took_ms)) : t("graph.missing"),
        isHere: job.job === name,
        isFaint: !job.exists,
        ...(job.exists && job.job !== name ? { href: hrefs.job(job.job) } : {}),
    };
}

// All jobs that are connected with this one; changes with the runs of any of them.
export function GraphPanel({ name, version }: { name: string; version: string }) {
    const found = useResource(`graph ${name} ${version}`, (signal) => api.optional<JobGraph>(jobPath(name, "/graph"), {}, signal));
    const names = useRef(new Set<string>());
    const soon = useThrottled(found.reload, 1000);
    names.current = new Set(found.data?.jobs.map((job) => job.job));
    useEffect(() => onLive("run", (event) => (names.current.has(event.job) ? soon() : undefined)), [name]);
    const graph = found.data;
    if (!graph || graph.jobs.length < 2) return null;
    const folder = name.slice(0, Math.max(0, name.indexOf("/")));
    const edges = graph.edges.map((edge): GraphEdge => ({ ...edge, label: `${edge.from} → ${edge.to}: ${t(`graph.${edge.on}`)}` }));
    return (
        <Panel title={t("graph")} beside={folder && <a href={href("/graph", { folder })}>{t("graph.folder", { folder })}</a>}>
            <Graph nodes={graph.jobs.map((job) => nodeOf(job, name))} edges={edges} label={t("graph")} />
            {graph.cut && <p class="note warn">{t("graph.cut", { count: graph.jobs.length })}</p>}
        </Panel>
    );
}

export function DependenciesPanel({ name, version }: { name: string; version: string }) {
    const found = useResource(`dependencies ${name} ${version}`, (signal) =>
        api.get<Dependencies>(jobPath(name, "/dependencies"), {}, signal),
    );
    const { after = [], before = [], step_of = [] } = found.data ?? {};
    if (!after.length && !before.length && !step_of.length) return null;
    return (
        <Panel title={t("dependencies")}>
            <div class="panel-body">
                {after.length > 0 && (
                    <>
                        <span class="faint small">{t("waits")}</span>
                        <ul class="schedule-words">
                            {after.map((item) => (
                                <Condition key={item.job} of={item} />
                            ))}
                        </ul>
                    </>
                )}
                {before.length > 0 && (
                    <>
                        <span class="faint small">{t("waited")}</span>
                        <ul class="schedule-words">
                            {before.map((item) => (
                                <li key={item.job}>
                                    <Name {...item} />
                                </li>
                            ))}
                        </ul>
                    </>
                )}
                {step_of.length > 0 && (
                    <>
                        <span class="faint small">{t("step_of")}</span>
                        <ul class="schedule-words">
                            {step_of.map((workflow) => (
                                <li key={workflow}>
                                    <a href={hrefs.job(workflow)}>{workflow}</a>
                                </li>
                            ))}
                        </ul>
                    </>
                )}
            </div>
        </Panel>
    );
}
