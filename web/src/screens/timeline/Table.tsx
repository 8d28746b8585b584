// The same as a table.
import { hrefs } from "../../app/router";
import { Icon } from "../../ui/icons";
import { Duration, Moment, ZoneNote } from "../../ui/moments";
import { Status } from "../../ui/status";
import type { Mark, Row } from "./axis";
import { title } from "./titles";
import { t } from "./words";

const ROWS_MAX = 500;

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

export function Table({ rows }: { rows: Row[] }) {
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
                    {all.slice(0, ROWS_MAX).map(({ job, mark }) => (
                        <TableRow key={`${job} ${mark.kind} ${mark.from} ${mark.run?.run_id ?? ""}`} job={job} mark={mark} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}
