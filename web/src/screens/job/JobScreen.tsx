import { useEffect, useState } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import { commandText, definitionOf, toYaml } from "../../api/definition";
import { onLive } from "../../api/live";
import type { Entry, Explanation, Fire, Job, LeftOut, Page, Run } from "../../api/types";
import { go, href, hrefs, location } from "../../app/router";
import type { ScreenProps } from "../../app/screens";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { language } from "../../i18n/language";
import { Icon } from "../../ui/icons";
import { ListEnd, useList } from "../../ui/list";
import { DayTime, Moment, momentText, noteText, Relative } from "../../ui/moments";
import { knowsMutes, MuteDialog, muteOf, unmute } from "../../ui/mute";
import { t as muteWord } from "../../ui/mute_words";
import { Button, CopyButton, Facts, Failure, Head, Incomplete, Menu, Missing, Panel, type MenuItem } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { JobStatus, toneOf, warningText } from "../../ui/status";
import { act } from "../jobs/actions";
import { JobDialog, type Asked } from "../jobs/Dialogs";
import { RunsTable } from "../runs/RunsTable";
import { Markdown } from "../../ui/markdown";
import { Calendar } from "./Calendar";
import { AfterWords, DependenciesPanel, GraphPanel } from "./Dependencies";
import { LastOutput } from "./LastOutput";
import { StatusLine } from "./StatusLine";
import { ZoneSwitch } from "./ZoneSwitch";
import { Trend } from "./Trend";
import { useVersions, Versions, type Version } from "./Versions";
import { WebhookPanel } from "./Webhook";
import { WhyPanel } from "./Why";
import { WorkflowPanels } from "./Workflow";
import { paramsOf, RunDialog } from "./RunDialog";
import { t } from "./words";
import "../jobs/jobs.css";
import "./job.css";

const TREND_RUNS = 200;

function schedulesOf(job: Job): string[] {
    return job.schedules ?? (job.schedule ? [job.schedule] : []);
}

// The schedule in words is the server's.
function ScheduleWords({ job }: { job: Job }) {
    const specs = schedulesOf(job).filter((spec) => spec !== "@manual");
    const words = useResource(`explain ${job.name} ${job.dst ?? ""} ${specs.join("\n")} ${job.timezone ?? ""} ${language.value}`, (signal) =>
        Promise.all(
            specs.slice(0, 5).map((spec) =>
                api.get<Explanation>(
                    "/schedule/explain",
                    { spec, tz: /^(?:CRON_)?TZ=/.test(spec) ? null : job.timezone, job: job.name, dst: job.dst, lang: language.value },
                    signal,
                ),
            ),
        ),
    );
    if (job.after) return <AfterWords after={job.after} />;
    if (!specs.length) return <p class="faint">{t("schedule.manual")}</p>;
    return (
        <ul class="schedule-words">
            {specs.map((spec, i) => (
                <li key={spec}>
                    <span>{words.data?.[i]?.text ?? ""}</span> <code>{spec}</code> <span class="zone">{words.data?.[i]?.timezone ?? job.timezone}</span>
                    {words.data?.[i]?.warnings.map((warning) => (
                        <p key={warning.name} class="note warn">
                            {warning.text}
                        </p>
                    ))}
                </li>
            ))}
        </ul>
    );
}

function NextFires({ job, version }: { job: Job; version: string }) {
    const next = useResource(`next ${job.name} ${version}`, (signal) =>
        api.get<{ fires: Fire[]; left_out?: LeftOut[] }>(jobPath(job.name, "/next"), { n: 8 }, signal),
    );
    return (
        <Panel title={t("next")}>
            <div class="panel-body">
                {job.status.paused && next.data?.fires.length ? <p class="note warn">{t("next.paused")}</p> : null}
                {next.problem && <Failure problem={next.problem} />}
                {next.data && !next.data.fires.length && <p class="faint">{t("next.none")}</p>}
                <ol class="fires">
                    {next.data?.fires.map((fire) => (
                        <li key={fire.at}>
                            <DayTime at={fire.at} />
                            <span class="faint">
                                <Relative at={fire.at} overdue />
                            </span>
                            {fire.note && <span class="note">{noteText(fire.note)}</span>}
                        </li>
                    ))}
                    {next.data?.left_out?.map((row) => (
                        <li key={row.at} class="faint">
                            <DayTime at={row.at} />
                            <span>
                                {t("next.out", { calendar: row.calendar })}
                                {row.window && ` · ${row.window}`}
                            </span>
                        </li>
                    ))}
                </ol>
            </div>
        </Panel>
    );
}

function textOf(value: unknown): string {
    return typeof value === "object" && value !== null
        ? Object.entries(value)
              .map(([name, part]) => (name === "policy" ? String(part) : `${name} ${String(part)}`))
              .join(", ")
        : String(value);
}

function About({ job }: { job: Job }) {
    const labels = Object.entries(job.labels ?? {});
    const policy = (name: "overlap" | "catch_up" | "timeout"): readonly [string, string] | false =>
        job[name] !== undefined && [t(name), textOf(job[name])];
    return (
        <Panel title={t("about")}>
            <div class="panel-body about">
                <Facts
                    rows={[
                        !!job.owner && [t("owner"), <a href={href("/jobs", { owner: job.owner })}>{job.owner}</a>],
                        labels.length > 0 && [
                            t("labels"),
                            <span class="labels">
                                {labels.map(([name, value]) => (
                                    <a key={name} class="label" href={href("/jobs", { label: value === "" ? name : `${name}=${value}` })}>
                                        {value === "" ? name : `${name}=${value}`}
                                    </a>
                                ))}
                            </span>,
                        ],
                        !!job.timezone && [t("timezone"), job.timezone],
                        !!job.calendars && [t("calendars"), <a href={href("/settings", { tab: "calendars" })}>{job.calendars.join(", ")}</a>],
                        policy("overlap"),
                        policy("catch_up"),
                        policy("timeout"),
                        [t("updated"), <Moment at={job.updated_at} />],
                        [t("created"), <Moment at={job.created_at} />],
                        [t("revision"), <span class="num">{job.revision}</span>],
                    ]}
                />
            </div>
        </Panel>
    );
}

function Command({ job }: { job: Job }) {
    if (job.steps && !job.notes) return null;
    return (
        <Panel title={t(job.steps ? "notes" : job.function === undefined ? "command" : "function")} beside={!job.steps && <CopyButton text={commandText(job)} />}>
            <div class="panel-body about">
                {!job.steps && (
                    <div class="command">
                        <pre tabIndex={0}>{commandText(job)}</pre>
                    </div>
                )}
                {job.notes && <Markdown source={job.notes} />}
            </div>
        </Panel>
    );
}

function Overview({ job, version }: { job: Job; version: string }) {
    const runs = useResource(`trend ${job.name} ${version}`, (signal) =>
        api.get<Page<Run | Entry>>("/runs", { job: job.name, limit: TREND_RUNS }, signal),
    );
    const rows = runs.data?.items ?? [];
    return (
        <div class="job-grid">
            <div class="job-column">
                <Incomplete nodes={runs.data?.incomplete} />
                {job.steps && <WorkflowPanels job={job} version={version} />}
                <LastOutput rows={rows} />
                <Command job={job} />
                {rows.length > 0 && (
                    <Panel title={t("recent")} beside={<a href={hrefs.job(job.name, { tab: "runs" })}>{t("recent.all")}</a>}>
                        <RunsTable rows={rows.slice(0, 8)} withJob={false} />
                    </Panel>
                )}
                {runs.data && <Trend rows={rows} />}
                <GraphPanel name={job.name} version={version} />
            </div>
            <div class="job-column">
                {!job.after && <NextFires job={job} version={version} />}
                <DependenciesPanel name={job.name} version={version} />
                <WhyPanel name={job.name} version={version} />
                <Calendar job={job.name} version={version} />
                <About job={job} />
                <WebhookPanel name={job.name} />
            </div>
        </div>
    );
}

function JobRuns({ name, version }: { name: string; version: string }) {
    const list = useList<Run | Entry>(`job runs ${name} ${version}`, (cursor, limit, signal) =>
        api.get<Page<Run | Entry>>("/runs", { job: name, ledger: true, cursor, limit }, signal),
    );
    return (
        <>
            <Incomplete nodes={list.incomplete} />
            <Panel>
                {list.problem && <Failure problem={list.problem} onRetry={list.reload} />}
                {list.items && <RunsTable rows={list.items} withJob={false} />}
                <ListEnd list={list} />
            </Panel>
        </>
    );
}

function Definition({ job }: { job: Job }) {
    const [format, setFormat] = useState<"yaml" | "json">("yaml");
    const definition = definitionOf(job);
    const text = format === "yaml" ? `${toYaml(definition)}\n` : `${JSON.stringify(definition, null, 2)}\n`;
    return (
        <Panel
            title={t("tab.definition")}
            beside={
                <>
                    <div class="segments" role="radiogroup" aria-label={t("tab.definition")}>
                        {(["yaml", "json"] as const).map((name) => (
                            <label key={name}>
                                <input type="radio" name="format" checked={format === name} onChange={() => setFormat(name)} />
                                <span>{t(name)}</span>
                            </label>
                        ))}
                    </div>
                    <CopyButton text={text} />
                </>
            }
        >
            <pre class="definition" tabIndex={0}>
                {text}
            </pre>
        </Panel>
    );
}

type Tab = "overview" | "runs" | "definition" | "versions";

function Tabs({ name, tab, versions }: { name: string; tab: Tab; versions: Version[] | null }) {
    const tabs: Tab[] = ["overview", "runs", "definition", ...(versions ? ["versions" as const] : [])];
    return (
        <nav class="tabs" aria-label={t("tabs")}>
            {tabs.map((item) => (
                <a
                    key={item}
                    href={hrefs.job(name, { tab: item === "overview" ? null : item })}
                    aria-current={item === tab ? "page" : undefined}
                >
                    {t(`tab.${item}`)}
                </a>
            ))}
        </nav>
    );
}

function Actions({ job, onChange, onAsk }: { job: Job; onChange: () => void; onAsk: (asked: Asked) => void }) {
    const { status } = job;
    const [muting, setMuting] = useState<"mute" | "ack" | null>(null);
    const hasFailed = !!status.last && toneOf(status.last.state) === "bad";
    const silence: (MenuItem | null)[] = !knowsMutes(job)
        ? []
        : muteOf(job)
          ? [{ icon: "bell", text: muteWord("unmute"), onClick: () => void unmute(job.name).then(onChange) }]
          : [
                { icon: "bell", text: muteWord("mute"), onClick: () => setMuting("mute") },
                hasFailed ? { icon: "check", text: muteWord("ack"), onClick: () => setMuting("ack") } : null,
            ];
    const [asking, setAsking] = useState(false);
    const skip = (): void =>
        void attempt(async () => {
            const { skipped } = await api.post<{ skipped: string[] }>(jobPath(job.name, "/skip-next"), { count: 1 });
            toastDone(skipped[0] ? t("skip.done", { tick: momentText(skipped[0]) }) : t("skip.none"));
            onChange();
        });
    const run = (): void =>
        void attempt(async () => {
            const started = await api.post<{ run_id: string }>(jobPath(job.name, "/run"));
            go(hrefs.run(started.run_id));
        });
    return (
        <>
            <Button icon="play" kind="primary" onClick={paramsOf(job).length ? () => setAsking(true) : run}>
                {t(paramsOf(job).length ? "run.ask" : "run")}
            </Button>
            {asking && <RunDialog job={job} onClose={() => setAsking(false)} />}
            {muting && <MuteDialog name={job.name} kind={muting} onDone={onChange} onClose={() => setMuting(null)} />}
            {status.paused ? (
                <Button icon="play" onClick={() => void act("resume", [job.name]).then(onChange)}>
                    {t("resume")}
                </Button>
            ) : (
                <Button icon="pause" onClick={() => void act("pause", [job.name]).then(onChange)}>
                    {t("pause")}
                </Button>
            )}
            {may("edit", job.name) && (
                <a class="button" href={href(`/jobs/${encodeURIComponent(job.name)}/edit`)}>
                    <Icon name="edit" /> {t("edit")}
                </a>
            )}
            <Menu
                label={t("more")}
                items={[
                    { icon: "play", text: t("run.other"), onClick: () => setAsking(true) },
                    { icon: "skip", text: t("skip"), disabled: !status.next_at, onClick: skip },
                    ...silence,
                    {
                        icon: "stop",
                        text: t("kill"),
                        disabled: !status.running && !status.queued,
                        onClick: () => onAsk({ what: "kill", jobs: [job] }),
                    },
                    may("edit", job.name) ? { icon: "copy", text: t("clone"), onClick: () => onAsk({ what: "clone", jobs: [job] }) } : null,
                    may("edit", job.name) ? { icon: "edit", text: t("rename"), onClick: () => onAsk({ what: "rename", jobs: [job] }) } : null,
                    may("edit", job.name)
                        ? { icon: "trash", text: t("delete"), danger: true, onClick: () => onAsk({ what: "delete", jobs: [job] }) }
                        : null,
                ]}
            />
        </>
    );
}

export default function JobScreen({ params }: ScreenProps) {
    const name = params["name"] ?? "";
    const resource = useResource(`job ${name}`, (signal) => api.get<Job>(jobPath(name), {}, signal));
    const [asked, setAsked] = useState<Asked | null>(null);
    const [turn, setTurn] = useState(0);
    const job = resource.data?.name === name ? resource.data : null;
    const versions = useVersions(name, job?.revision ?? 0);
    const soon = useThrottled(() => {
        resource.reload();
        setTurn((n) => n + 1);
    }, 2000);
    const isAbout = (other: string): boolean => other === name || !!job?.after?.some((item) => item.job === other);
    useEffect(() => onLive("run", (event) => (isAbout(event.job) ? soon() : undefined)), [name, job]);
    useEffect(() => onLive("entry", (event) => (event.job === name ? soon() : undefined)), [name]);
    useEffect(
        () =>
            onLive("job", (event) => {
                if (event.job === name) soon();
                else if (event.uid === job?.uid && event.change === "put") go(hrefs.job(event.job)); // it was renamed
            }),
        [name, job?.uid],
    );
    useEffect(() => onLive("reset", soon), []);
    const takesOut = !!job && (job.status.paused || !!job.calendars);
    useEffect(() => {
        if (!takesOut) return undefined;
        const timer = setInterval(soon, 15_000); // ticks that are taken out come without an event
        return () => clearInterval(timer);
    }, [name, takesOut]);
    const isGone = resource.problem?.status === 404;
    if (resource.problem && (!job || isGone)) return <Missing problem={resource.problem} onRetry={resource.reload} to="/jobs" text={t("jobs")} />;
    if (!job) return null;

    const wanted = location.value.query.get("tab");
    const tab: Tab = wanted === "runs" || wanted === "definition" || (wanted === "versions" && versions) ? (wanted as Tab) : "overview";
    const version = String(turn);
    return (
        <>
            <Head
                above={
                    <>
                        <a href="#/jobs">{t("jobs")}</a>
                        <Icon name="chevron" />
                    </>
                }
                title={job.name}
                beside={<JobStatus job={job} big />}
            >
                {may("operate", job.name) && <Actions job={job} onChange={soon} onAsk={setAsked} />}
            </Head>
            <StatusLine job={job} />
            <ScheduleWords job={job} />
            {job.status.problem && <p class="note bad">{t("problem", { text: job.status.problem })}</p>}
            {job.status.warning && <p class="note warn">{t(`warning.${job.status.warning.reason}`, { text: warningText(job.status.warning) })}</p>}
            <div class="tabs-line">
                <Tabs name={name} tab={tab} versions={versions} />
                <ZoneSwitch of={job.timezone} />
            </div>
            {tab === "overview" && <Overview job={job} version={version} />}
            {tab === "runs" && <JobRuns name={name} version={version} />}
            {tab === "definition" && <Definition job={job} />}
            {tab === "versions" && versions && <Versions name={name} current={job.revision} versions={versions} onChange={soon} />}
            {asked && (
                <JobDialog
                    asked={asked}
                    onClose={() => setAsked(null)}
                    onDone={() => (asked.what === "delete" ? go("/jobs") : soon())}
                />
            )}
        </>
    );
}
