// Runs and start delay of the last day.
import { api } from "../../api/client";
import type { Page, Stat } from "../../api/types";
import { zone } from "../../app/preferences";
import { Incomplete, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { partsOf } from "../../ui/time";
import { hoursOf, sumOf, type Hour } from "./day";
import { t } from "./words";

const HEIGHT = 64;
const LATE_HEIGHT = 28;
const STEP = 20;

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

export function DayPanel({ version }: { version: string }) {
    const stats = useResource(`stats ${version}`, (signal) => api.optional<Page<Stat>>("/stats", { span: "hour" }, signal));
    if (!stats.data) return null;
    const hours = hoursOf(stats.data.items, Date.now());
    const { ok, bad, missed, percent, lateMs } = sumOf(hours);
    const figures: [string, string, string?][] = [
        [t("runs"), String(ok + bad)],
        [t("rate"), percent === null ? "–" : `${percent} %`],
        [t("failed"), String(bad)],
        [t("missed"), String(missed)],
        [t("lateness"), lateMs === null ? "–" : spanText(lateMs), t("lateness.text")],
    ];
    return (
        <Panel title={t("day")} beside={<span class="zone">{partsOf(Date.now(), zone.value).zone}</span>}>
            <Incomplete nodes={stats.data.incomplete} />
            <dl class="figures">
                {figures.map(([name, value, more]) => (
                    <div key={name}>
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
