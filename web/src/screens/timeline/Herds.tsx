// Seconds in which many jobs start within the next week, and what would spread them.
import { useState } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import { href, hrefs } from "../../app/router";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Moment } from "../../ui/moments";
import { Button, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { t } from "./words";

const MIN = 4; // jobs in a second
const NAMES = 6;

interface Spread {
    worst: number;
    classes: { from: number; to: number; seconds: number }[];
}

interface Proposal {
    job: string;
    before: string | string[];
    schedule: string | null;
    jitter: string | null;
    worst: number;
    then: number;
}

interface Herd {
    jobs: number;
    now: Spread;
    spread: Spread;
    seconds: { at: string; starts: number; then: number; jobs: string[] }[];
    proposed: number;
    proposals: Proposal[];
    kept: Record<string, number>;
}

// How many seconds have so many starts, now and as it would be.
function Classes({ herd }: { herd: Herd }) {
    const most = Math.max(1, ...[...herd.now.classes, ...herd.spread.classes].map((item) => item.seconds));
    const width = (seconds: number): string => `${(Math.log(seconds + 1) / Math.log(most + 1)) * 100}%`;
    const then = (from: number): number => herd.spread.classes.find((item) => item.from === from)?.seconds ?? 0;
    return (
        <table class="table herd-classes">
            <thead>
                <tr>
                    <th>{t("herd.class")}</th>
                    <th>{t("herd.now")}</th>
                    <th>{t("herd.then")}</th>
                </tr>
            </thead>
            <tbody>
                {herd.now.classes.map(({ from, to, seconds }) => (
                    <tr key={from}>
                        <td class="num">{from === to ? from : `${from}–${to}`}</td>
                        {[seconds, then(from)].map((n, i) => (
                            <td key={i}>
                                <span class="herd-bar">
                                    <i class={from >= MIN ? "is-high" : ""} style={{ width: width(n) }} />
                                </span>
                                <span class="num"> {n.toLocaleString("en")}</span>
                            </td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

async function write(job: string, change: Record<string, unknown>): Promise<void> {
    await api.patch(jobPath(job), change);
}

function ProposalRow({ item, onDone }: { item: Proposal; onDone: () => void }) {
    const [done, setDone] = useState(false);
    const take = (): void =>
        void attempt(async () => {
            const { schedule, jitter } = item;
            await write(item.job, schedule === null ? { jitter } : { schedule });
            setDone(true);
            const back = schedule === null ? { jitter: null } : Array.isArray(item.before) ? { schedules: item.before } : { schedule: item.before };
            toastDone(t("herd.taken", { name: item.job }), () =>
                void attempt(() => write(item.job, back)).then(() => {
                    setDone(false);
                    onDone();
                }),
            );
        });
    return (
        <tr>
            <td>
                <a href={hrefs.job(item.job)}>{item.job}</a>
            </td>
            <td class="mono">{Array.isArray(item.before) ? item.before.join(" | ") : item.before}</td>
            <td class="mono">{item.schedule ?? t("herd.jitter", { span: item.jitter ?? "" })}</td>
            <td class="num">
                {item.worst} → {item.then}
            </td>
            <td class="right">
                {may("edit", item.job) && (
                    <Button small icon={done ? "check" : "edit"} disabled={done} onClick={take}>
                        {t("herd.take")}
                    </Button>
                )}
            </td>
        </tr>
    );
}

export function Herds() {
    const found = useResource("herd", (signal) => api.optional<Herd>("/herd", { limit: 6, proposals: 20, at_most: MIN - 1 }, signal));
    const herd = found.data;
    const crowded = herd?.seconds.filter((second) => second.starts >= MIN) ?? [];
    const most = Math.max(1, ...crowded.map((second) => second.starts));
    const link = (name: string): string => (may("edit", name) ? href(`/jobs/${encodeURIComponent(name)}/edit`) : hrefs.job(name));
    return (
        <Panel
            title={t("herd")}
            class="herds"
            beside={
                <Button small icon="retry" disabled={found.loading} onClick={found.reload}>
                    {t("herd.again")}
                </Button>
            }
        >
            {found.problem && <Failure problem={found.problem} onRetry={found.reload} />}
            {found.loading && !herd && <p class="faint panel-body">{common("loading")}</p>}
            {herd && (
                <div class="panel-body">
                    <p class={crowded.length ? "note warn" : "faint"}>{t(crowded.length ? "herd.text" : "herd.none")}</p>
                    <ul>
                        {crowded.map((second) => (
                            <li key={second.at}>
                                <Moment at={second.at} />
                                <span class="herd-bar">
                                    <i class="is-high" style={{ width: `${(second.starts * 100) / most}%` }} />
                                </span>
                                <strong class="num">{t("herd.n", { n: second.starts })}</strong>
                                <span class="herd-names">
                                    {second.jobs.slice(0, NAMES).map((name) => (
                                        <a key={name} class="label" href={link(name)}>
                                            {name}
                                        </a>
                                    ))}
                                    {second.starts > NAMES && <span class="faint small">{t("herd.and", { n: second.starts - NAMES })}</span>}
                                </span>
                            </li>
                        ))}
                    </ul>
                    {crowded.length > 0 && (
                        <div class="herd-plan">
                            <div>
                                <h3>{t("herd.seconds")}</h3>
                                <Classes herd={herd} />
                            </div>
                            <div>
                                <h3>{herd.proposed ? t("herd.proposed", { n: herd.proposed, worst: herd.now.worst, then: herd.spread.worst }) : t("herd.kept")}</h3>
                                {herd.proposals.length > 0 && (
                                    <div class="table-scroll" tabIndex={0} role="region" aria-label={t("herd.proposal")}>
                                        <table class="table">
                                            <thead>
                                                <tr>
                                                    <th>{t("column.job")}</th>
                                                    <th>{t("herd.before")}</th>
                                                    <th>{t("herd.proposal")}</th>
                                                    <th>{t("herd.worst")}</th>
                                                    <th />
                                                </tr>
                                            </thead>
                                            <tbody>
                                                {herd.proposals.map((item) => (
                                                    <ProposalRow key={item.job} item={item} onDone={found.reload} />
                                                ))}
                                            </tbody>
                                        </table>
                                    </div>
                                )}
                                {herd.proposed > herd.proposals.length && <p class="faint small">{t("herd.more")}</p>}
                            </div>
                        </div>
                    )}
                </div>
            )}
        </Panel>
    );
}
