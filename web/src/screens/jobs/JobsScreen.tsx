import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { functionOf } from "../../api/definition";
import { onLive } from "../../api/live";
import type { Cause, Job, Page, Recent } from "../../api/types";
import { href, hrefs, location, replace, setQuery } from "../../app/router";
import { agent, may, maySomewhere } from "../../app/session";
import { Icon } from "../../ui/icons";
import { CauseLine, endText, streakText, useCauses } from "../../ui/causes";
import { ListEnd, useList } from "../../ui/list";
import { Moment, Relative, ZoneNote } from "../../ui/moments";
import { Button, Empty, Failure, Head, Menu, Panel, SearchField, useSearchText } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { Sparkline } from "../../ui/sparkline";
import { JobStatus, jobState, toneOf, warningText } from "../../ui/status";
import { spanText } from "../../ui/spans";
import { act, bringBack } from "./actions";
import { BulkBar, useEverything } from "./Bulk";
import { JobDialog, type Asked } from "./Dialogs";
import { countOf, FacetChoices, Folders, useFacets, type Facets } from "./Facets";
import type { BulkAction, Filter } from "./match";
import { MatchDialog } from "./MatchDialog";
import { columnClass, columnNames, ViewMenu } from "./Views";
import { t } from "./words";
import "./jobs.css";

interface Filters extends Filter {
    sort: string;
    deleted: boolean;
}

function readFilters(query: URLSearchParams): Filters {
    return {
        q: query.get("q") ?? "",
        status: query.get("status") ?? "",
        sort: query.get("sort") ?? "",
        label: query.get("label") ?? "",
        owner: query.get("owner") ?? "",
        node: query.get("node") ?? "",
        folder: query.get("folder") ?? "",
        deleted: query.get("deleted") === "yes",
    };
}

const FIELDS = "name,status,schedule,schedules,after,function,timezone,owner,labels,deleted_at";

function FilterBar({ filters, facets }: { filters: Filters; facets: Facets | null }) {
    const [text, setText] = useSearchText(filters.q, (q) => setQuery({ q: q || null }));
    return (
        <div class="filters" role="search">
            <SearchField value={text} label={t("search")} onInput={setText} />
            <select
                aria-label={t("status")}
                value={filters.status}
                disabled={filters.deleted}
                onChange={(event) => setQuery({ status: event.currentTarget.value || null })}
            >
                <option value="">{t("status.any")}</option>
                {(["running", "failed", "ok", "paused", "never", "warning", "broken"] as const).map((status) => (
                    <option key={status} value={status}>
                        {t(`status.${status}`)}
                        {countOf(facets?.status, status)}
                    </option>
                ))}
            </select>
            {!filters.deleted && <FacetChoices filter={filters} facets={facets} />}
            <select
                aria-label={t("sort")}
                value={filters.sort}
                disabled={filters.deleted}
                onChange={(event) => setQuery({ sort: event.currentTarget.value || null })}
            >
                <option value="">{t("sort.name")}</option>
                <option value="next">{t("sort.next")}</option>
                <option value="last">{t("sort.last")}</option>
            </select>
            <label class="check">
                <input
                    type="checkbox"
                    checked={filters.deleted}
                    onChange={(event) =>
                        setQuery({ deleted: event.currentTarget.checked ? "yes" : null, status: null, sort: null })
                    }
                />
                {t("deleted")}
            </label>
            {location.value.query.size > 0 && (
                <Button
                    kind="plain"
                    small
                    icon="cross"
                    onClick={() => {
                        replace(href("/jobs"));
                    }}
                >
                    {t("clear")}
                </Button>
            )}
            {!filters.deleted && (
                <a class="button" href={href("/graph", { folder: filters.folder, label: filters.label, owner: filters.owner, q: filters.q })}>
                    <Icon name="timeline" /> {t("graph")}
                </a>
            )}
            <ViewMenu />
        </div>
    );
}

function Schedule({ job }: { job: Job }) {
    const all = job.schedules ?? (job.schedule ? [job.schedule] : []);
    const [first, ...rest] = all;
    if (job.after) return <span>{t("after", { names: job.after.map((item) => item.job).join(", ") })}</span>;
    if (!first || first === "@manual") return <span class="faint">{t("no.schedule")}</span>;
    return (
        <span title={[...all, job.timezone ?? ""].join("\n")}>
            <span class="mono">{first}</span>
            {rest.length > 0 && <span class="faint"> {t("more.schedules", { n: rest.length })}</span>}
            {job.timezone && job.timezone !== agent.value?.timezone && <span class="zone"> {job.timezone}</span>}
        </span>
    );
}

function Labels({ job }: { job: Job }) {
    return (
        <span class="labels">
            {Object.entries(job.labels ?? {}).map(([name, value]) => {
                const text = value === "" ? name : `${name}=${value}`;
                return (
                    <a key={name} class="label" href={href("/jobs", { label: text })}>
                        {text}
                    </a>
                );
            })}
        </span>
    );
}

function RecentRuns({ recent }: { recent: Recent | undefined }) {
    if (!recent?.recent.length) return null;
    const states = recent.recent.map((run) => run.state).reverse();
    const failed = states.filter((state) => toneOf(state) !== "good").length;
    return <Sparkline states={states} label={t("recent.text", { n: states.length, failed })} />;
}

// The class of each column, in the order of columnNames; null: it is left out.
function columns(): (string | null)[] {
    const widths = ["wide-only", "wide-only", "wide-only", "", "roomiest-only", "widest-only", "roomy-only"];
    return columnNames.map((name, i) => columnClass(name, widths[i] ?? ""));
}

interface RowProps {
    job: Job;
    recent: Map<string, Recent> | null;
    cause: Cause | undefined;
    chosen: boolean;
    onChoose: (on: boolean) => void;
    onAsk: (asked: Asked) => void;
    onChange: () => void;
}

// Why it fails, on a second line below its name; `isLone`: no column has its owner.
function Why({ cause, owner, isLone }: { cause: Cause; owner: string | undefined; isLone: boolean }) {
    const text = [endText(cause.run), streakText(cause)].filter(Boolean).join(" · ");
    return (
        <span class="job-why" title={text}>
            {text} <CauseLine cause={cause} />
            {owner && <span class={isLone ? "faint" : "faint narrower-only"}> · {owner}</span>}
        </span>
    );
}

// What is wrong with it, or with what it needs.
function Wrong({ job }: { job: Job }) {
    const text = job.status.problem ?? (job.status.warning ? warningText(job.status.warning) : "");
    return (
        <span class="job-why" title={text}>
            {text}
        </span>
    );
}

function JobRow({ job, recent, cause, chosen, onChoose, onAsk, onChange }: RowProps) {
    const { status } = job;
    const p50 = recent?.get(job.name)?.p50_ms;
    const mayOperate = may("operate", job.name);
    const mayEdit = may("edit", job.name);
    const program = functionOf(job)?.program;
    const [scheduleIn, recentIn, lastIn, nextIn, p50In, ownerIn, labelsIn] = columns();
    const hasWhy = status.problem || status.warning || cause;
    return (
        <tr class={[chosen && "is-chosen", hasWhy && "has-why"].filter(Boolean).join(" ")}>
            {maySomewhere("operate") && (
                <td class="check-cell">
                    {mayOperate && (
                        <input
                            type="checkbox"
                            checked={chosen}
                            aria-label={t("choose", { name: job.name })}
                            onChange={(event) => onChoose(event.currentTarget.checked)}
                        />
                    )}
                </td>
            )}
            <td class="status-cell">
                <JobStatus job={job} />
                {status.running > 1 && <span class="faint num"> ×{status.running}</span>}
                {status.queued > (jobState(job) === "queued" ? 1 : 0) && <span class="faint num"> {t("queued", { n: status.queued })}</span>}
            </td>
            <td class="primary-cell">
                <a data-row class="row-link" title={job.name} href={hrefs.job(job.name)}>
                    {job.name}
                </a>
                {program && (
                    <span class="label" title={t("function")}>
                        {program}
                    </span>
                )}
                {status.problem || status.warning ? <Wrong job={job} /> : cause && <Why cause={cause} owner={ownerIn === "" ? undefined : job.owner} isLone={ownerIn === null} />}
            </td>
            {scheduleIn != null && (
                <td class={`schedule-cell ${scheduleIn}`}>
                    <Schedule job={job} />
                </td>
            )}
            {recent && recentIn != null && (
                <td class={recentIn}>
                    <RecentRuns recent={recent.get(job.name)} />
                </td>
            )}
            {lastIn != null && (
                <td class={`when-cell ${lastIn}`}>{status.last ? <Relative at={status.last.finished_at ?? status.last.started_at} /> : <span class="faint">–</span>}</td>
            )}
            {nextIn != null && <td class="when-cell">{status.paused ? <span class="faint">–</span> : <Relative at={status.next_at} overdue />}</td>}
            {recent && p50In != null && <td class={`right num ${p50In}`}>{p50 === null || p50 === undefined ? "" : spanText(p50)}</td>}
            {ownerIn != null && (
                <td class={`owner-cell ${ownerIn}`} title={job.owner}>
                    {job.owner && (
                        <a class="over faint" href={href("/jobs", { owner: job.owner })}>
                            {job.owner}
                        </a>
                    )}
                </td>
            )}
            {labelsIn != null && (
                <td class={labelsIn}>
                    <Labels job={job} />
                </td>
            )}
            <td class="menu-cell">
                {mayOperate && (
                    <Menu
                        label={t("actions", { name: job.name })}
                        items={[
                            { icon: "play", text: t("run"), onClick: () => void act("run", [job.name]).then(onChange) },
                            status.paused
                                ? { icon: "play", text: t("resume"), onClick: () => void act("resume", [job.name]).then(onChange) }
                                : { icon: "pause", text: t("pause"), onClick: () => void act("pause", [job.name]).then(onChange) },
                            {
                                icon: "stop",
                                text: t("kill"),
                                disabled: !status.running && !status.queued,
                                onClick: () => onAsk({ what: "kill", jobs: [job] }),
                            },
                            mayEdit ? { icon: "copy", text: t("clone"), onClick: () => onAsk({ what: "clone", jobs: [job] }) } : null,
                            mayEdit
                                ? { icon: "trash", text: t("delete"), danger: true, onClick: () => onAsk({ what: "delete", jobs: [job] }) }
                                : null,
                        ]}
                    />
                )}
            </td>
        </tr>
    );
}

function DeletedTable({ jobs, onChange }: { jobs: Job[]; onChange: () => void }) {
    return (
        <table class="table">
            <thead>
                <tr>
                    <th scope="col">{t("column.name")}</th>
                    <th scope="col">{t("column.schedule")}</th>
                    <th scope="col">
                        {t("column.deleted")} <ZoneNote />
                    </th>
                    <td />
                </tr>
            </thead>
            <tbody>
                {jobs.map((job) => (
                    <tr key={`${job.name} ${job.deleted_at}`}>
                        <td class="mono">{job.name}</td>
                        <td>
                            <Schedule job={job} />
                        </td>
                        <td>
                            <Moment at={job.deleted_at ?? null} bare />
                        </td>
                        <td class="right">
                            {may("edit", job.name) && (
                                <Button small icon="rollback" onClick={() => void bringBack([job.name]).then(onChange)}>
                                    {t("undelete")}
                                </Button>
                            )}
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

const RECENT_NAMES = 100; // that one call takes

// An older agent lacks this call; the columns are omitted then.
function useRecent(jobs: Job[] | null): Map<string, Recent> | null {
    const names = (jobs ?? []).map((job) => job.name);
    const recent = useResource(`recent ${names.join(",")} ${jobs?.map((job) => job.status.last?.run_id).join()}`, async (signal) => {
        const found = new Map<string, Recent>();
        for (let i = 0; i < names.length; i += RECENT_NAMES) {
            const some = names.slice(i, i + RECENT_NAMES).join(",");
            const page = await api.optional<Page<Recent>>("/jobs:recent", { names: some }, signal);
            if (!page) return null;
            for (const item of page.items) found.set(item.name, item);
        }
        return found;
    });
    return recent.data;
}

export default function JobsScreen() {
    const filters = readFilters(location.value.query);
    const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
    const [asked, setAsked] = useState<Asked | null>(null);
    const [askedAll, setAskedAll] = useState<BulkAction | null>(null);
    const { deleted, ...rest } = filters;
    const { sort, ...filter } = rest;
    const everything = useEverything(filter);
    const facets = useFacets(filter);
    const [scheduleIn, recentIn, lastIn, nextIn, p50In, ownerIn, labelsIn] = columns();
    const list = useList<Job>(`jobs ${JSON.stringify(filters)}`, (cursor, limit, signal) =>
        api.get<Page<Job>>("/jobs", { ...rest, deleted: deleted || null, fields: FIELDS, cursor, limit }, signal),
    );
    const jobs = list.items;
    const recent = useRecent(deleted ? null : jobs);
    const causes = useCauses(deleted ? [] : (jobs ?? []));
    const soon = useThrottled(list.reload, 1500);
    useEffect(() => onLive("job", soon), []);
    useEffect(() => onLive("run", soon), []);
    useEffect(() => onLive("reset", soon), []);

    const chosenJobs = (jobs ?? []).filter((job) => chosen.has(job.name));
    const choose = (names: string[], on: boolean): void => {
        const next = new Set(chosen);
        for (const name of names) on ? next.add(name) : next.delete(name);
        setChosen(next);
    };
    const clear = (): void => {
        setChosen(new Set());
        everything.clear();
    };
    const changed = (): void => {
        clear();
        list.reload();
    };
    const isPlain = location.value.query.size === 0;
    const own = (jobs ?? []).filter((job) => may("operate", job.name));
    const allChosen = own.length > 0 && chosenJobs.length === own.length;
    return (
        <>
            <Head title={t("title")}>
                {maySomewhere("edit") && (
                    <a class="button primary" href="#/new">
                        <Icon name="plus" /> {t("new")}
                    </a>
                )}
            </Head>
            {everything.count !== null ? (
                <BulkBar
                    chosen={t("match.chosen", { n: everything.count })}
                    mayEdit={maySomewhere("edit")}
                    onAsk={setAskedAll}
                    onClear={clear}
                />
            ) : chosenJobs.length > 0 ? (
                <BulkBar
                    chosen={t("chosen", { n: chosenJobs.length })}
                    mayEdit={chosenJobs.every((job) => may("edit", job.name))}
                    onAsk={(what) => setAsked({ what, jobs: chosenJobs })}
                    onClear={clear}
                    onAll={allChosen && list.hasMore ? everything.choose : undefined}
                />
            ) : (
                <FilterBar filters={filters} facets={facets} />
            )}
            {!deleted && <Folders filter={filter} facets={facets} />}
            {list.problem && <Failure problem={list.problem} onRetry={list.reload} />}
            <Panel class="jobs">
                {jobs && jobs.length > 0 && deleted && <DeletedTable jobs={jobs} onChange={list.reload} />}
                {jobs && jobs.length > 0 && !deleted && (
                    <div class="table-scroll">
                        <table class="table">
                            <thead>
                                <tr>
                                    {maySomewhere("operate") && (
                                        <th scope="col" class="check-cell">
                                            <input
                                                type="checkbox"
                                                checked={allChosen}
                                                aria-label={t("choose.all")}
                                                onChange={(event) => {
                                                    everything.clear();
                                                    choose(own.map((job) => job.name), event.currentTarget.checked);
                                                }}
                                            />
                                        </th>
                                    )}
                                    <th scope="col">{t("status")}</th>
                                    <th scope="col">{t("column.name")}</th>
                                    {scheduleIn != null && <th scope="col" class={scheduleIn}>{t("column.schedule")}</th>}
                                    {recent && recentIn != null && <th scope="col" class={recentIn}>{t("column.recent")}</th>}
                                    {lastIn != null && (
                                        <th scope="col" class={lastIn}>
                                            <button type="button" onClick={() => setQuery({ sort: sort === "last" ? null : "last" })}>
                                                {t("column.last")}
                                                {sort === "last" && <Icon name="down" />}
                                            </button>
                                        </th>
                                    )}
                                    {nextIn != null && (
                                        <th scope="col">
                                            <button type="button" onClick={() => setQuery({ sort: sort === "next" ? null : "next" })}>
                                                {t("column.next")}
                                                {sort === "next" && <Icon name="up" />}
                                            </button>
                                        </th>
                                    )}
                                    {recent && p50In != null && <th scope="col" class={`right ${p50In}`}>{t("column.p50")}</th>}
                                    {ownerIn != null && <th scope="col" class={ownerIn}>{t("column.owner")}</th>}
                                    {labelsIn != null && <th scope="col" class={labelsIn}>{t("column.labels")}</th>}
                                    <th scope="col">
                                        <span class="hidden-text">{t("actions", { name: "" })}</span>
                                    </th>
                                </tr>
                            </thead>
                            <tbody>
                                {jobs.map((job) => (
                                    <JobRow
                                        key={job.name}
                                        job={job}
                                        recent={recent}
                                        cause={causes.get(job.name)}
                                        chosen={everything.count !== null || chosen.has(job.name)}
                                        onChoose={(on) => {
                                            everything.clear();
                                            choose([job.name], on);
                                        }}
                                        onAsk={setAsked}
                                        onChange={list.reload}
                                    />
                                ))}
                            </tbody>
                        </table>
                    </div>
                )}
                {jobs?.length === 0 && !list.loading && (
                    <Empty icon="jobs" title={isPlain ? t("none.at.all") : t("none")}>
                        {isPlain ? (
                            <>
                                <p>{t("none.at.all.text")}</p>
                                <p>
                                    <code>peal add backup '30 2 * * *' -- /usr/local/bin/backup</code>
                                </p>
                            </>
                        ) : (
                            t("none.text")
                        )}
                    </Empty>
                )}
                <ListEnd list={list} />
            </Panel>
            {askedAll && <MatchDialog wanted={{ what: askedAll, filter }} onClose={() => setAskedAll(null)} onDone={changed} />}
            {asked && <JobDialog asked={asked} onClose={() => setAsked(null)} onDone={changed} />}
        </>
    );
}
