// Past runs and upcoming ticks of all jobs on one axis; and the seconds in which too many start at once.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import { href, hrefs, location, setQuery } from "../../app/router";
import { may } from "../../app/session";
import { Icon } from "../../ui/icons";
import { Duration, Moment, ZoneNote } from "../../ui/moments";
import { Button, Empty, Failure, Head, Incomplete, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { Status } from "../../ui/status";
import { herdsOf, rowsOf, spanOf, spans, type Herd, type Mark, type Row, type Span, type TimelineData } from "./axis";
import { Chart, Legend } from "./Chart";
import { title } from "./titles";
import { t } from "./words";
import "./timeline.css";

const LIMIT = 1000;
const TABLE_MAX = 500;
const HERDS = 6;
const NAMES = 6;

function Coming() {
    return (
        <span class="status tone-calm">
            <Icon name="clock" />
            <span>{t("coming")}</span>
        </span>
    );
}

function TableRow({ job, mark }: { job: string; mark: Mark }) {
    const known = mark.run ?? mark.entry;
    return (
        <tr>
            <td>
                <Moment at={new Date(mark.from).toISOString()} bare />
            </td>
            <td>{known ? <Status state={known.state} /> : <Coming />}</td>
            <td class="primary-cell">
                <a data-row class="row-link" title={job} href={mark.run ? hrefs.run(mark.run.run_id) : hrefs.job(job)}>
                    {job}
                </a>
            </td>
            <td>{mark.entry ? t("missed.n", { n: mark.entry.count }) : mark.run && <Duration from={mark.run.started_at} to={mark.run.finished_at} />}</td>
        </tr>
    );
}

function Table({ rows }: { rows: Row[] }) {
    const all = rows.flatMap((row) => row.marks.map((mark) => ({ job: row.job, mark })));
    all.sort((a, b) => b.mark.from - a.mark.from);
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={title("title")}>
            <table class="table">
                <thead>
                    <tr>
                        <th>
                            {t("tick")} <ZoneNote />
                        </th>
                        <th>{t("state")}</th>
                        <th>{t("column.job")}</th>
                        <th>{t("took")}</th>
                    </tr>
                </thead>
                <tbody>
                    {all.slice(0, TABLE_MAX).map(({ job, mark }) => (
                        <TableRow key={`${job} ${mark.kind} ${mark.from} ${mark.run?.run_id ?? ""}`} job={job} mark={mark} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}

// The names of a peak beyond the shown ticks need another request.
async function withNames(herd: Herd, signal: AbortSignal): Promise<Herd> {
    if (herd.names.length) return herd;
    const to = new Date(Date.parse(herd.at) + 1000).toISOString();
    const { ticks } = await api.get<TimelineData>("/timeline", { from: herd.at, to, limit: 100 }, signal);
    return { ...herd, jobs: Math.max(herd.jobs, ticks.length), names: ticks.map((tick) => tick.job) };
}

function Herds({ data }: { data: TimelineData }) {
    const found = herdsOf(data, HERDS);
    const named = useResource(`herds ${JSON.stringify(found)}`, (signal) => Promise.all(found.map((herd) => withNames(herd, signal))));
    const herds = named.loading ? found : (named.data ?? found);
    const most = Math.max(1, ...herds.map((herd) => herd.jobs));
    const link = (name: string): string => (may("edit", name) ? href(`/jobs/${encodeURIComponent(name)}/edit`) : hrefs.job(name));
    return (
        <Panel title={t("herd")} class="herds">
            <div class="panel-body">
                <p class={herds.length ? "note warn" : "faint"}>{t(herds.length ? "herd.text" : "herd.none")}</p>
                <ul>
                    {herds.map((herd) => (
                        <li key={herd.at}>
                            <Moment at={herd.at} />
                            <span class="herd-bar">
                                <i style={{ width: `${(herd.jobs * 100) / most}%` }} />
                            </span>
                            <strong class="num">{t("herd.n", { n: herd.jobs })}</strong>
                            <span class="herd-names">
                                {herd.names.slice(0, NAMES).map((name) => (
                                    <a key={name} class="label" href={link(name)}>
                                        {name}
                                    </a>
                                ))}
                                {herd.names.length > 0 && herd.jobs > NAMES && <span class="faint small">{t("herd.and", { n: herd.jobs - Math.min(NAMES, herd.names.length) })}</span>}
                            </span>
                        </li>
                    ))}
                </ul>
            </div>
        </Panel>
    );
}

function Controls(props: { span: Span; isTable: boolean; job: string; names: string[]; isNow: boolean; onMove: (parts: number) => void; onNow: () => void }) {
    const segments = (label: string, name: string, choices: [string, string, boolean, () => void][]) => (
        <div class="segments" role="radiogroup" aria-label={label}>
            {choices.map(([key, text, checked, choose]) => (
                <label key={key}>
                    <input type="radio" name={name} checked={checked} onChange={choose} />
                    <span>{text}</span>
                </label>
            ))}
        </div>
    );
    return (
        <div class="filters">
            {segments(
                t("span"),
                "span",
                spans.map((span) => [span.name, t(`span.${span.name}`), span === props.span, () => setQuery({ span: span.name })]),
            )}
            <span class="timeline-moves">
                <span class="flip">
                    <Button icon="chevron" title={t("earlier")} onClick={() => props.onMove(-0.5)} />
                </span>
                <Button disabled={props.isNow} onClick={props.onNow}>
                    {t("now")}
                </Button>
                <Button icon="chevron" title={t("later")} onClick={() => props.onMove(0.5)} />
            </span>
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
            {segments(t("view"), "view", [
                ["chart", t("view.chart"), !props.isTable, () => setQuery({ view: null })],
                ["table", t("view.table"), props.isTable, () => setQuery({ view: "table" })],
            ])}
        </div>
    );
}

export default function TimelineScreen() {
    const query = location.value.query;
    const span = spanOf(query.get("span"));
    const job = query.get("job") ?? "";
    const isTable = query.get("view") === "table";
    const chosen = query.get("at") ? Date.parse(query.get("at") ?? "") : NaN;
    const isNow = Number.isNaN(chosen);
    const [turn, setTurn] = useState(0);
    const soon = useThrottled(() => setTurn((n) => n + 1), 3000);
    useEffect(() => {
        const stops = (["run", "entry", "job", "reset"] as const).map((name) => onLive(name, soon));
        const timer = setInterval(soon, 20_000);
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
        };
    }, []);
    const resource = useResource(`timeline ${span.name} ${chosen} ${job} ${turn}`, (signal) => {
        const middle = isNow ? Date.now() : chosen;
        const [from, to] = [middle - span.ms / 2, middle + span.ms / 2].map((ms) => new Date(ms).toISOString());
        return api.get<TimelineData>("/timeline", { from, to, job, limit: LIMIT, herd: true }, signal);
    });
    const { data } = resource;
    const rows = data ? rowsOf(data) : [];
    const move = (parts: number): void => setQuery({ at: new Date((isNow ? Date.now() : chosen) + parts * span.ms).toISOString() });
    const zoom = (step: number): void => {
        const next = spans[spans.indexOf(span) + step];
        if (next) setQuery({ span: next.name });
    };
    const onKey = (key: string): boolean => {
        if (key === "ArrowLeft") move(-0.25);
        else if (key === "ArrowRight") move(0.25);
        else if (key === "+" || key === "=") zoom(-1);
        else if (key === "-") zoom(1);
        else if (key === "0") setQuery({ at: null });
        else return false;
        return true;
    };
    return (
        <>
            <Head title={title("title")} />
            <Controls
                span={span}
                isTable={isTable}
                job={job}
                names={rows.map((row) => row.job)}
                isNow={isNow}
                onMove={move}
                onNow={() => setQuery({ at: null })}
            />
            {resource.problem && <Failure problem={resource.problem} onRetry={resource.reload} />}
            <Incomplete nodes={data?.incomplete} />
            {data && (
                <div class="timeline">
                    <Panel
                        beside={
                            !isTable && (
                                <>
                                    <Legend />
                                    <ZoneNote />
                                </>
                            )
                        }
                    >
                        {!rows.length && <Empty icon="timeline" title={t("none")} />}
                        {rows.length > 0 && isTable && <Table rows={rows} />}
                        {rows.length > 0 && !isTable && (
                            <Chart rows={rows} from={Date.parse(data.from)} to={Date.parse(data.to)} span={span} onKey={onKey} />
                        )}
                        {!isTable && <p class="timeline-keys faint">{t("keys")}</p>}
                    </Panel>
                    {data.more && <p class="note">{t("more")}</p>}
                    <Herds data={data} />
                </div>
            )}
        </>
    );
}
