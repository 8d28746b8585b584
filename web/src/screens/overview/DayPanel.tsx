// Runs and start delay of the last day.
import { api } from "../../api/client";
import type { Entry, Page, Run, Stat } from "../../api/types";
import { zone } from "../../app/preferences";
import { Incomplete, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { partsOf } from "../../ui/time";
import { hoursOf, latenessOf, sumOf, type Hour } from "./day";
import { t } from "./words";

const HEIGHT = 64;
const LATE_HEIGHT = 28;
const STEP = 20;
const NEWEST = 200; // runs whose start delays are counted

function timeOf(hour: Hour): string {
    const parts = partsOf(hour.at, zone.value);
    return `${parts.time.slice(0, 5)} ${parts.zone}`;
}

// Runs that were not ok are on top of those that were; ticks that did not run are hollow.
function RunBars({ hours, label }: { hours: Hour[]; label: string }) {
    const most = Math.max(1, ...hours.map((hour) => hour.ok + hour.bad + hour.missed));
    const high = (n: number): number => (n ? Math.max(1.5, (n * HEIGHT) / most) : 0);
    return (
        <svg class="bars" viewBox={`0 0 ${hours.length * STEP} ${HEIGHT + 2}`} preserveAspectRatio="none" role="img" aria-label={label}>
            {hours.map((hour, i) => {
                const [ok, bad, missed] = [high(hour.ok), high(hour.bad), high(hour.missed)];
                const bar = (kind: string, y: number, height: number) =>
                    height > 0 && <rect class={kind} x={i * STEP + 2} y={HEIGHT + 1 - y} width={STEP - 4} height={height} />;
                return (
                    <g key={hour.at}>
                        <title>{t("chart.hour", { time: timeOf(hour), ok: hour.ok, bad: hour.bad, missed: hour.missed })}</title>
                        <rect class="bar-space" x={i * STEP} y="0" width={STEP} height={HEIGHT + 2} />
                        {bar("bar-good", ok, ok)}
                        {bar("bar-bad", ok + bad, bad)}
                        {bar("bar-hollow", ok + bad + missed, missed)}
                    </g>
                );
            })}
        </svg>
    );
}

function LateBars({ hours }: { hours: Hour[] }) {
    const most = Math.max(1, ...hours.map((hour) => hour.lateMs ?? 0));
    return (
        <svg class="bars late" viewBox={`0 0 ${hours.length * STEP} ${LATE_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t("chart.late")}>
            {hours.map((hour, i) => {
                if (hour.lateMs === null) return null;
                const height = Math.max(1, (hour.lateMs * LATE_HEIGHT) / most);
                return (
                    <rect key={hour.at} class="bar-calm" x={i * STEP + 2} y={LATE_HEIGHT - height} width={STEP - 4} height={height}>
                        <title>{t("chart.hour.late", { time: timeOf(hour), span: spanText(hour.lateMs) })}</title>
                    </rect>
                );
            })}
        </svg>
    );
}

export function DayPanel({ version, slow }: { version: string; slow: string }) {
    const stats = useResource(`stats ${version}`, (signal) => api.optional<Page<Stat>>("/stats", { span: "hour" }, signal));
    const newest = useResource(`newest ${slow}`, (signal) => api.get<Page<Run | Entry>>("/runs", { state: "ok,failed,timed_out", limit: NEWEST }, signal));
    if (!stats.data) return null;
    const late = latenessOf(newest.data?.items ?? []);
    const hours = hoursOf(stats.data.items, Date.now());
    const { ok, bad, missed, percent } = sumOf(hours);
    const figures: [string, string, string?, string?][] = [
        [t("runs"), String(ok + bad)],
        [t("rate"), percent === null ? "–" : `${percent} %`],
        [t("failed"), String(bad)],
        [t("missed"), String(missed)],
        [t("lateness"), late ? spanText(late.p50) : "–", late ? t("lateness.p99", { span: spanText(late.p99) }) : "", t("lateness.text", { n: late?.n ?? 0 })],
    ];
    return (
        <Panel title={t("day")} beside={<span class="zone">{partsOf(Date.now(), zone.value).zone}</span>}>
            <Incomplete nodes={stats.data.incomplete} />
            <dl class="figures">
                {figures.map(([name, value, more, title]) => (
                    <div key={name} title={title}>
                        <dt>{name}</dt>
                        <dd>
                            {value} {more && <span class="zone">{more}</span>}
                        </dd>
                    </div>
                ))}
            </dl>
            <div class="day-charts">
                <p class="faint small">{t("chart.runs")}</p>
                <RunBars hours={hours} label={t("chart.text", { ok, bad, missed })} />
                <p class="faint small">{t("chart.late")}</p>
                <LateBars hours={hours} />
                <div class="day-axis faint">
                    {[0, 6, 12, 18, 23].map((i) => hours[i] && <span key={i}>{timeOf(hours[i]).slice(0, 5)}</span>)}
                </div>
                <p class="day-legend faint" aria-hidden="true">
                    <span class="key bar-good" /> {t("legend.ok")} <span class="key bar-bad" /> {t("legend.bad")} <span class="key bar-hollow" />{" "}
                    {t("legend.missed")}
                </p>
            </div>
        </Panel>
    );
}
