// The jobs of a folder, a label or an owner that wait for each other, live.
import { useEffect, useRef } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import { onLive } from "../../api/live";
import type { Job, Page } from "../../api/types";
import { href, hrefs, location, setQuery } from "../../app/router";
import { Graph, type GraphNode } from "../../graph/Graph";
import { Icon } from "../../ui/icons";
import { Empty, Failure, Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { jobState } from "../../ui/status";
import { edgesOf, groupsOf, outsideOf, type Group, type Member } from "./parts";
import { title } from "./titles";
import { t } from "./words";

const MOST = 1000; // jobs that are looked at
const OUTSIDE = 30; // upstream jobs elsewhere whose state is asked for

interface Facets {
    folders: { value: string; count: number }[];
    labels: { value: string; count: number }[];
    owners: { value: string; count: number }[];
}

interface Found {
    jobs: Map<string, Member>;
    inside: Set<string>;
    groups: Group[];
    all: number;
    isCut: boolean;
}

const names = ["folder", "label", "owner", "q"] as const;
type Filter = Record<(typeof names)[number], string>;

async function read(filter: Filter, signal: AbortSignal): Promise<Found> {
    const page = await api.get<Page<Job>>("/jobs", { ...filter, fields: "name,after,status", limit: MOST }, signal);
    const others = await Promise.all(
        outsideOf(page.items)
            .slice(0, OUTSIDE)
            .map((name) => api.optional<Job>(jobPath(name), {}, signal)),
    );
    return {
        jobs: new Map([...page.items, ...others.filter((job) => job !== null)].map((job) => [job.name, job])),
        inside: new Set(page.items.map((job) => job.name)),
        groups: groupsOf(edgesOf(page.items)),
        all: page.items.length,
        isCut: page.next !== null,
    };
}

function nodeOf(name: string, found: Found): GraphNode {
    const job = found.jobs.get(name);
    if (!job) return { id: name, name, state: "broken", note: t("missing"), isFaint: true };
    const { last } = job.status;
    const took = last?.started_at && last.finished_at ? spanText(Date.parse(last.finished_at) - Date.parse(last.started_at)) : "";
    const isInside = found.inside.has(name);
    return { id: name, name, state: jobState(job), note: isInside ? took : t("outside"), href: hrefs.job(name), isFaint: !isInside };
}

function Choose({ name, filter, values }: { name: "folder" | "label" | "owner"; filter: Filter; values: { value: string; count: number }[] }) {
    const value = filter[name];
    if (!values.length && !value) return null;
    return (
        <select aria-label={t(name)} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value || null })}>
            <option value="">{t(`${name}.any`)}</option>
            {value && !values.some((item) => item.value === value) && <option value={value}>{value}</option>}
            {values.map((item) => (
                <option key={item.value} value={item.value}>
                    {item.value} ({item.count})
                </option>
            ))}
        </select>
    );
}

export default function GraphScreen() {
    const filter = Object.fromEntries(names.map((name) => [name, location.value.query.get(name) ?? ""])) as Filter;
    const key = JSON.stringify(filter);
    const resource = useResource(`graph ${key}`, (signal) => read(filter, signal));
    const facets = useResource("facets", (signal) => api.optional<Facets>("/jobs:facets", {}, signal));
    const soon = useThrottled(resource.reload, 2000);
    const drawn = useRef(new Set<string>());
    const found = resource.data;
    drawn.current = new Set(found?.groups.flatMap((group) => group.names));
    useEffect(() => {
        const stops = [onLive("run", (event) => (drawn.current.has(event.job) ? soon() : undefined)), onLive("job", soon), onLive("reset", soon)];
        return () => stops.forEach((stop) => stop());
    }, []);
    const n = found ? [...drawn.current].filter((name) => found.inside.has(name)).length : 0;
    return (
        <>
            <Head
                above={
                    <>
                        <a href="#/jobs">{t("jobs")}</a>
                        <Icon name="chevron" />
                    </>
                }
                title={title("title")}
            >
                <a class="button" href={href("/jobs", filter)}>
                    <Icon name="jobs" /> {t("list")}
                </a>
            </Head>
            <div class="filters">
                <Choose name="folder" filter={filter} values={facets.data?.folders ?? []} />
                <Choose name="label" filter={filter} values={facets.data?.labels ?? []} />
                <Choose name="owner" filter={filter} values={facets.data?.owners ?? []} />
                {found && n > 0 && <span class="faint">{t("shown", { n, alone: found.all - n })}</span>}
            </div>
            {resource.problem && <Failure problem={resource.problem} onRetry={resource.reload} />}
            {found?.isCut && <p class="note warn graph-group">{t("cut", { n: found.all })}</p>}
            {found && !found.groups.length && !found.isCut && (
                <Panel>
                    <Empty icon="timeline" title={t("none")}>
                        {t("none.text")}
                    </Empty>
                </Panel>
            )}
            {found?.groups.map((group) => (
                <Panel key={group.names[0]} class="graph-group">
                    <Graph
                        nodes={group.names.map((name) => nodeOf(name, found))}
                        edges={group.edges.map((edge) => ({ ...edge, label: `${edge.from} → ${edge.to}: ${t(`on.${edge.on}`)}` }))}
                        label={title("title")}
                    />
                </Panel>
            ))}
        </>
    );
}
