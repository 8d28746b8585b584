// The last lines that the job printed.
import { api, runPath } from "../../api/client";
import { isEntry, type Entry, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Status } from "../../ui/status";
import { Relative } from "../../ui/moments";
import { t } from "./words";

const TAIL = 4096; // bytes
const LINES = 8;

interface Piece {
    chunks: { text?: string }[];
}

// eslint-disable-next-line no-control-regex
const CONTROL = /\x1b\[[0-9;?]*[@-~]|\x1b.|[\x00-\x08\x0b-\x1f]/g;

export function lastLines(text: string, isCut: boolean): string {
    const lines = text.replace(CONTROL, "").replace(/\n+$/, "").split("\n");
    return (isCut && lines.length > LINES ? lines.slice(1) : lines).slice(-LINES).join("\n");
}

export function LastOutput({ rows }: { rows: (Run | Entry)[] }) {
    const run = rows.find((row): row is Run => !isEntry(row) && row.started_at !== null && row.finished_at !== null);
    const size = run?.output_bytes ?? 0;
    const tail = useResource(`tail ${run?.run_id} ${size}`, async (signal) => {
        if (!run || !size) return "";
        const offset = Math.max(0, size - TAIL);
        const piece = await api.get<Piece>(runPath(run.run_id, "/log"), { offset, limit: TAIL }, signal);
        return lastLines(piece.chunks.map((chunk) => chunk.text ?? "").join(""), offset > 0);
    });
    if (!run || run.instance) return null;
    return (
        <Panel
            title={t("output")}
            beside={
                <>
                    <Status state={run.state} />
                    <Relative at={run.finished_at} />
                    <a href={hrefs.run(run.run_id)}>{t("output.all")}</a>
                </>
            }
        >
            {tail.data ? (
                <pre class="last-output" tabIndex={0}>
                    {tail.data}
                </pre>
            ) : (
                <p class="panel-body faint">{t("output.none")}</p>
            )}
        </Panel>
    );
}
