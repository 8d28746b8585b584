// Runs, and ticks that did not run, as rows.
import { isEntry, type Entry, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { t } from "./words";
import { endText } from "../../ui/causes";
import { Duration, Moment, ZoneNote } from "../../ui/moments";
import { reasonText, Status } from "../../ui/status";

function EntryRow({ entry, withJob }: { entry: Entry; withJob: boolean }) {
    return (
        <tr>
            <td>
                <Status state={entry.state} />
            </td>
            {withJob && (
                <td class="primary-cell">
                    <a data-row title={entry.job} href={hrefs.job(entry.job)}>
                        {entry.job}
                    </a>
                </td>
            )}
            <td>
                <Moment at={entry.from} bare />
            </td>
            <td class="faint wide-only">{entry.count > 1 ? t("ticks", { n: entry.count }) : "–"}</td>
            <td />
            <td class="wide-only" />
            <td class="wide-only" />
            <td class="cut faint wide-only" title={entry.detail ?? undefined}>
                {reasonText(entry.reason) ?? entry.detail}
            </td>
        </tr>
    );
}

function RunRow({ run, withJob }: { run: Run; withJob: boolean }) {
    return (
        <tr>
            <td>
                {withJob ? (
                    <Status state={run.state} />
                ) : (
                    <a data-row class="row-link" href={hrefs.run(run.run_id)}>
                        <Status state={run.state} />
                    </a>
                )}
            </td>
            {withJob && (
                <td class="primary-cell">
                    <a data-row class="row-link" title={run.job} href={hrefs.run(run.run_id)}>
                        {run.job}
                    </a>
                </td>
            )}
            <td>
                <Moment at={run.tick} bare />
            </td>
            <td class="wide-only">
                <Moment at={run.started_at} bare />
            </td>
            <td class="right">
                <Duration from={run.started_at} to={run.finished_at} />
            </td>
            <td class="faint wide-only">{run.node ?? ""}</td>
            <td class="faint wide-only">
                {common(`cause.${run.cause}`)}
                {run.attempts !== null && run.attempts > 1 && <span class="num"> {t("attemptOf", { n: run.attempt, all: run.attempts })}</span>}
                {run.parts !== null && run.pinned === null && <span class="num"> {t("shardOf", { n: run.part ?? 0, all: run.parts })}</span>}
                {run.parts !== null && run.pinned !== null && ` ${t("onNode", { node: run.pinned })}`}
            </td>
            <td class="cut faint wide-only" title={run.detail ?? undefined}>
                {endText(run)}
                {run.state === "queued" && run.parts !== null && t("inTurn")}
                {run.waits_for && t(run.waits_for.group.endsWith("/") ? "waitsForSpace" : "waitsFor", { group: run.waits_for.group.replace(/\/$/, ""), place: run.waits_for.place, of: run.waits_for.of })}
                {run.spooled && <span class="faint"> {t("spooled")}</span>}
            </td>
        </tr>
    );
}

export function RunsTable({ rows, withJob = true }: { rows: (Run | Entry)[]; withJob?: boolean }) {
    return (
        <div class="table-scroll">
            <table class="table">
                <thead>
                    <tr>
                        <th scope="col">{t("column.state")}</th>
                        {withJob && <th scope="col">{t("column.job")}</th>}
                        <th scope="col">
                            {t("column.tick")} <ZoneNote />
                        </th>
                        <th scope="col" class="wide-only">
                            {t("column.started")} <ZoneNote />
                        </th>
                        <th scope="col" class="right">{t("column.duration")}</th>
                        <th scope="col" class="wide-only">{t("column.node")}</th>
                        <th scope="col" class="wide-only">{t("column.cause")}</th>
                        <th scope="col" class="wide-only">{t("column.reason")}</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row) =>
                        isEntry(row) ? (
                            <EntryRow key={row.entry_id} entry={row} withJob={withJob} />
                        ) : (
                            <RunRow key={row.run_id} run={row} withJob={withJob} />
                        ),
                    )}
                </tbody>
            </table>
        </div>
    );
}
