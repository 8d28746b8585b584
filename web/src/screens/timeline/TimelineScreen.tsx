// Past runs and upcoming ticks of all jobs on one axis, by job, folder or label; the coming week; and the
// seconds in which too many start at once.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Job, Page, Stat } from "../../api/types";
import { href, hrefs, location, setQuery } from "../../app/router";
import { ZoneNote } from "../../ui/moments";
import { Button, Empty, Failure, Head, Incomplete, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { rowsOf, spanOf, spans, type Span, type TimelineData } from "./axis";
import { Chart, Legend } from "./Chart";
import { Herds } from "./Herds";
import { cutOf, isCounted, lanesOf, type Counted, type GroupOf, type Lane } from "./rates";
import { Table } from "./Table";
import { title } from "./titles";
import { Week } from "./Week";
import { t } from "./words";
import "./timeline.css";

const LIMIT = 1000;
const COUNTED = 40; // jobs whose past is counted where not all of their runs are there
const MIN_MS = 10_000; // no closer look
const views = ["chart", "table", "week"] as const;

interface Range {
    from: number;
    to: number;
    span: Span | null; // null: chosen with the pointer
    isNow: boolean;
}

function rangeOf(query: URLSearchParams): Range {
    const [from, to] = [Date.parse(query.get("from") ?? ""), Date.parse(query.get("to") ?? "")];
    if (to - from >= MIN_MS) return { from, to, span: null, isNow: false };
    const span = spanOf(query.get("span"));
    const at = Date.parse(query.get("at") ?? "");
    const middle = Number.isNaN(at) ? Date.now() : at;
    return { from: middle - span.ms / 2, to: middle + span.ms / 2, span, isNow: Number.isNaN(at) };
}

// Of each job the hours before `cut`, of which there are too many runs to have all.
async function countPast(from: string, cut: number, job: string, signal: AbortSignal): Promise<Counted[]> {
    const page = job ? null : await api.get<Page<Job>>("/jobs", { fields: "name", sort: "last", limit: COUNTED }, signal);
    const names = page ? page.items.map((item) => item.name) : [job];
    return Promise.all(
        names.map(async (name) => ({
            job: name,
            spanMs: 3_600_000,
            stats: (await api.get<{ items: Stat[] }>("/stats", { job: name, from, to: new Date(cut).toISOString(), span: "hour" }, signal)).items,
        })),
    );
}

// Labels of jobs, to group by one; read once that is wanted.
function useLabels(wanted: boolean): Map<string, Record<string, unknown>> {
    const jobs = useResource(`labels ${wanted}`, async (signal) => (wanted ? api.get<Page<Job>>("/jobs", { fields: "name,labels", limit: 1000 }, signal) : null));
    return new Map(jobs.data?.items.map((job) => [job.name, job.labels ?? {}]));
}

function groupBy(group: string, labels: Map<string, Record<string, unknown>>): GroupOf | null {
    if (group === "folder") return (job) => (job.includes("/") ? `${job.slice(0, job.indexOf("/"))}/` : t("group.none"));
    if (!group.startsWith("label:")) return null;
    const name = group.slice(6);
    return (job) => {
        const value = labels.get(job)?.[name];
        return value === undefined ? t("group.none") : `${name}=${String(value)}`;
    };
}

// The jobs of a lane: one is a page of its own, more are a list.
function hrefOf(lane: Lane, group: string): string {
    if (!group) return hrefs.job(lane.name);
    if (lane.name === t("group.none")) return href("/jobs");
    return group === "folder" ? href("/jobs", { folder: lane.name.slice(0, -1) }) : href("/jobs", { label: lane.name });
}

function Segments(props: { label: string; name: string; choices: [key: string, text: string, checked: boolean, choose: () => void][] }) {
    return (
        <div class="segments" role="radiogroup" aria-label={props.label}>
            {props.choices.map(([key, text, checked, choose]) => (
                <label key={key}>
                    <input type="radio" name={props.name} checked={checked} onChange={choose} />
                    <span>{text}</span>
                </label>
            ))}
        </div>
    );
}

interface ControlsProps {
    range: Range;
    view: string;
    job: string;
    group: string;
    names: string[];
    labels: string[];
    onMove: (parts: number) => void;
    onNow: () => void;
}

function Controls(props: ControlsProps) {
    const { range } = props;
    return (
        <div class="filters">
            {props.view !== "week" && (
                <>
                    <Segments
                        label={t("span")}
                        name="span"
                        choices={spans.map((span) => [span.name, t(`span.${span.name}`), span === range.span, () => setQuery({ span: span.name, from: null, to: null })])}
                    />
                    <span class="timeline-moves">
                        <span class="flip">
                            <Button icon="chevron" title={t("earlier")} onClick={() => props.onMove(-0.5)} />
                        </span>
                        <Button disabled={range.isNow} onClick={props.onNow}>
                            {t("now")}
                        </Button>
                        <Button icon="chevron" title={t("later")} onClick={() => props.onMove(0.5)} />
                    </span>
                </>
            )}
            <input
                type="search"
                list="timeline-names"
                aria-label={t("job")}
                placeholder={t("job")}
                value={props.job}
                data-search
                onChange={(event) => setQuery({ job: event.currentTarget.value || null })}
            />
            <datalist id="timeline-names">
                {props.names.map((name) => (
                    <option key={name} value={name} />
                ))}
            </datalist>
            {props.view === "chart" && (
                <select aria-label={t("group")} value={props.group} onChange={(event) => setQuery({ group: event.currentTarget.value || null })}>
                    <option value="">{t("group.job")}</option>
                    <option value="folder">{t("group.folder")}</option>
                    {props.labels.map((name) => (
                        <option key={name} value={`label:${name}`}>
                            {t("group.label", { name })}
                        </option>
                    ))}
                </select>
            )}
            <Segments
                label={t("view")}
                name="view"
                choices={views.map((view) => [view, t(`view.${view}`), view === props.view, () => setQuery({ view: view === "chart" ? null : view })])}
            />
        </div>
    );
}

export default function TimelineScreen() {
    const query = location.value.query;
    const range = rangeOf(query);
    const job = query.get("job") ?? "";
    const group = query.get("group") ?? "";
    const view = views.find((name) => name === query.get("view")) ?? "chart";
    const [turn, setTurn] = useState(0);
    const [slow, setSlow] = useState(0);
    const soon = useThrottled(() => setTurn((n) => n + 1), 3000);
    useEffect(() => {
        const stops = (["run", "entry", "job", "reset"] as const).map((name) => onLive(name, soon));
        const timer = setInterval(soon, 20_000);
        const slowly = setInterval(() => setSlow((n) => n + 1), 120_000);
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
            clearInterval(slowly);
        };
    }, []);
    const place = ["span", "at", "from", "to"].map((name) => query.get(name)).join(" ");
    const resource = useResource(`timeline ${place} ${job} ${turn}`, (signal) => {
        const { from, to } = rangeOf(query);
        return api.get<TimelineData>("/timeline", { from: new Date(from).toISOString(), to: new Date(to).toISOString(), job, limit: LIMIT }, signal);
    });
    const { data } = resource;
    const cut = data && cutOf(data, LIMIT);
    const counted = useResource(`counted ${place} ${job} ${cut !== null} ${slow}`, async (signal) =>
        data && cut !== null ? countPast(data.from, cut, job, signal) : [],
    );
    const facets = useResource("label names", (signal) => api.optional<{ labels: { value: string }[] }>("/jobs:facets", {}, signal));
    const labelNames = [...new Set(facets.data?.labels.map((item) => item.value.split("=")[0] ?? ""))].slice(0, 10);
    const labels = useLabels(group.startsWith("label:"));
    const rows = data ? rowsOf(data) : [];
    const past = cut === null ? [] : (counted.data ?? []);
    const lanes = data && view === "chart" ? lanesOf(rows, data, past, groupBy(group, labels)) : [];
    const width = range.to - range.from;
    const goTo = (from: number, to: number): void => setQuery({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
    const move = (parts: number): void => {
        if (range.span) setQuery({ at: new Date((range.from + range.to) / 2 + parts * width).toISOString() });
        else goTo(range.from + parts * width, range.to + parts * width);
    };
    const toNow = (): void => setQuery({ at: null, from: null, to: null });
    const zoomTo = (from: number, to: number): void => {
        const more = Math.max(0, MIN_MS - (to - from)) / 2;
        goTo(from - more, to + more);
    };
    const zoom = (step: number): void => {
        if (!range.span) return goTo(range.from + (width / 4) * -step, range.to - (width / 4) * -step);
        const next = spans[spans.indexOf(range.span) + step];
        if (next) setQuery({ span: next.name });
    };
    const onKey = (key: string): boolean => {
        if (key === "ArrowLeft") move(-0.25);
        else if (key === "ArrowRight") move(0.25);
        else if (key === "+" || key === "=") zoom(-1);
        else if (key === "-") zoom(1);
        else if (key === "0") toNow();
        else return false;
        return true;
    };
    const isTold = data?.more && !past.length && !data.dense?.length;
    return (
        <>
            <Head title={title("title")} />
            <Controls range={range} view={view} job={job} group={group} names={rows.map((row) => row.job)} labels={labelNames} onMove={move} onNow={toNow} />
            {resource.problem && <Failure problem={resource.problem} onRetry={resource.reload} />}
            <Incomplete nodes={data?.incomplete} />
            <div class="timeline">
                {view === "week" && <Week job={job} turn={slow} />}
                {data && view !== "week" && (
                    <Panel
                        beside={
                            view === "chart" && (
                                <>
                                    <Legend />
                                    <ZoneNote />
                                </>
                            )
                        }
                    >
                        {!rows.length && !lanes.length && <Empty icon="timeline" title={t("none")} />}
                        {rows.length > 0 && view === "table" && <Table rows={rows} />}
                        {lanes.length > 0 && (
                            <Chart
                                lanes={lanes}
                                rows={rows}
                                from={Date.parse(data.from)}
                                to={Date.parse(data.to)}
                                hrefOf={(lane) => hrefOf(lane, group)}
                                onKey={onKey}
                                onZoom={zoomTo}
                            />
                        )}
                        {view === "chart" && <p class="timeline-keys faint">{t("keys")}</p>}
                    </Panel>
                )}
                {data && view === "chart" && !isCounted(data) && <p class="faint small">{t("dense")}</p>}
                {(isTold || (data?.more && view === "table")) && <p class="note">{t("more")}</p>}
                <Herds />
            </div>
        </>
    );
}
