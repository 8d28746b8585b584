// The definition as YAML. It is read by the server, whose decoder is the only one; what it says is
// the draft that the form shows, too, also while something in it is still wrong.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../api/client";
import { toYaml } from "../../api/definition";
import { Icon } from "../../ui/icons";
import { Panel, useDelayed } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import type { Draft } from "./draft";
import { hintOf, type Mistake } from "./Field";
import { fieldAt, helpOf } from "./fields";
import { t } from "./words";

const PAUSE_MS = 250;
const ROWS_MIN = 18;

// unread: the text is not decoded yet; wrong: it is decoded, but is no valid job.
export type TextState = "good" | "wrong" | "unread";

interface Decoded {
    definition: Draft;
    errors: Mistake[];
}

function MistakeRow({ mistake, line, onGo }: { mistake: Mistake; line: string; onGo: () => void }) {
    return (
        <li>
            <button type="button" class="yaml-mistake" onClick={onGo}>
                <Icon name="warning" />
                {mistake.line > 0 && <strong>{t("yaml.at", { line: mistake.line, column: mistake.column })}</strong>}
                <span>{mistake.message}</span>
                {hintOf(mistake) && <span class="mistake-hint">{hintOf(mistake)}</span>}
            </button>
            {line.trim() && <pre aria-hidden="true">{`${line}\n${" ".repeat(Math.max(0, mistake.column - 1))}^`}</pre>}
        </li>
    );
}

export function YamlForm(props: {
    draft: Draft;
    disabled: boolean;
    onChange: (draft: Draft) => void;
    onState: (state: TextState) => void;
}) {
    const [first] = useState(() => `${toYaml(props.draft)}\n`);
    const [text, setText] = useState(first);
    const [row, setRow] = useState(0);
    const area = useRef<HTMLTextAreaElement>(null);
    const late = useDelayed(text, PAUSE_MS);
    const decoded = useResource<Decoded | null>(`decode ${late}`, async (signal) =>
        late === first ? null : api.post<Decoded>("/jobs:decode", { text: late }, { signal }),
    );
    const isRead = late === text && !decoded.loading;
    const mistakes = (decoded.problem ? (decoded.problem.errors as Mistake[]) : decoded.data?.errors) ?? [];
    const state: TextState = !isRead || decoded.problem ? "unread" : mistakes.length ? "wrong" : "good";
    useEffect(() => () => props.onState("good"), []);
    useEffect(() => {
        props.onState(state);
        if (isRead && !decoded.problem && decoded.data) props.onChange(decoded.data.definition);
    }, [state, decoded.data]);

    const lines = text.split("\n");
    const field = fieldAt(lines, row);
    const follow = ({ value, selectionStart }: HTMLTextAreaElement): void =>
        setRow(value.slice(0, selectionStart).split("\n").length - 1);
    const bad = new Set(mistakes.map((mistake) => mistake.line));
    const goTo = (mistake: Mistake): void => {
        const before = lines.slice(0, mistake.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
        const at = before + Math.max(0, mistake.column - 1);
        area.current?.focus();
        area.current?.setSelectionRange(at, at);
    };
    return (
        <Panel class="yaml">
            <div class="yaml-text">
                <pre class="yaml-gutter" aria-hidden="true">
                    {lines.map((_, i) => (
                        <span key={i} class={bad.has(i + 1) ? "is-bad" : ""}>
                            {i + 1}
                            {"\n"}
                        </span>
                    ))}
                </pre>
                <textarea
                    ref={area}
                    aria-label={t("yaml.label")}
                    aria-invalid={mistakes.length > 0}
                    aria-describedby="yaml-mistakes yaml-help"
                    rows={Math.max(ROWS_MIN, lines.length + 1)}
                    wrap="off"
                    spellcheck={false}
                    autocomplete="off"
                    disabled={props.disabled}
                    value={text}
                    onInput={(event) => {
                        setText(event.currentTarget.value);
                        follow(event.currentTarget);
                    }}
                    onClick={(event) => follow(event.currentTarget)}
                    onKeyUp={(event) => follow(event.currentTarget)}
                />
            </div>
            <p class="field-help yaml-help" id="yaml-help">
                {field && (
                    <>
                        <code>{field.name}</code> {helpOf(field.name)}
                    </>
                )}
            </p>
            <div id="yaml-mistakes" role="status">
                <ul class="yaml-mistakes">
                    {mistakes.map((mistake) => (
                        <MistakeRow
                            key={`${mistake.line} ${mistake.message}`}
                            mistake={mistake}
                            line={lines[mistake.line - 1] ?? ""}
                            onGo={() => goTo(mistake)}
                        />
                    ))}
                    {decoded.problem && !mistakes.length && <li>{decoded.problem.detail}</li>}
                </ul>
            </div>
        </Panel>
    );
}
