// When a job is due: after others, or by schedules, with their explanation and next runs while typing.
import { api } from "../../api/client";
import type { Explanation, Fire } from "../../api/types";
import { localZone } from "../../app/preferences";
import { language } from "../../i18n/language";
import { Icon } from "../../ui/icons";
import { LocalTime, noteText, Relative } from "../../ui/moments";
import { Button, useDelayed } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { partsOf } from "../../ui/time";
import { After } from "./After";
import { Builder } from "./Builder";
import { Calendars, calendarsOf } from "./Calendars";
import { readAt, schedulesOf, waiting, withSchedules, writeAt } from "./draft";
import { Caret, FieldRow, Mistakes, mistakesAt, Row, type FormProps, type Mistake } from "./Field";
import { helpOf, labelOf, whenFields } from "./fields";
import { t } from "./words";

const SHOWN = 10;
const PAUSE_MS = 250;

type Verdict = ({ valid: true } & Explanation) | { valid: false; spec: string; column: number; message: string; hint?: string | null };

// The other fields that decide when the job is due.
type Rest = Record<"tz" | "job" | "dst", string>;
type Bounds = Rest & Record<"start" | "end" | "calendars" | "only_on", string>;

function queryOf(spec: string, rest: Rest): Record<string, string> {
    const hasZone = /^\s*(?:CRON_)?TZ=/.test(spec);
    return { spec, ...rest, ...(hasZone && { tz: "" }) };
}

function useVerdict(spec: string, rest: Rest): Verdict | null {
    const late = useDelayed(JSON.stringify(queryOf(spec, rest)), PAUSE_MS);
    const verdict = useResource<Verdict | null>(`validate ${late} ${language.value}`, async (signal) => {
        const query = JSON.parse(late) as Record<string, string>;
        if (!query["spec"]?.trim()) return null;
        return api.get<Verdict>("/schedule/validate", { ...query, lang: language.value }, signal);
    });
    return verdict.data && verdict.data.spec === spec ? verdict.data : null;
}

function ScheduleRow(props: {
    spec: string;
    rest: Rest;
    at: number;
    count: number;
    mistakes: Mistake[];
    disabled: boolean;
    onChange: (spec: string) => void;
    onRemove: () => void;
}) {
    const { spec, at, count } = props;
    const verdict = useVerdict(spec, props.rest);
    const wrong: Mistake[] =
        verdict && !verdict.valid
            ? [{ pointer: "", line: 0, column: verdict.column, message: verdict.message, hint: verdict.hint ?? null }]
            : verdict || !spec ? props.mistakes.filter((item) => !spec || item.column === 0) : props.mistakes;
    const id = `f-schedule-${at}`;
    const label = count > 1 ? t("schedule.n", { n: at + 1 }) : labelOf("schedule");
    return (
        <div class={`field wide ${wrong.length ? "is-wrong" : ""}`}>
            <label for={id}>{label}</label>
            {!props.disabled && <Builder spec={spec} zone={props.rest.tz} onChange={props.onChange} />}
            <div class="with-button">
                <input
                    id={id}
                    class="mono"
                    value={spec}
                    disabled={props.disabled}
                    placeholder="30 2 * * *"
                    autocomplete="off"
                    spellcheck={false}
                    aria-invalid={wrong.length > 0}
                    aria-describedby={`${id}-wrong ${id}-words f-schedule-help`}
                    onInput={(event) => props.onChange(event.currentTarget.value)}
                />
                {count > 1 && <Button icon="cross" title={t("schedule.remove", { n: at + 1 })} onClick={props.onRemove} />}
            </div>
            {wrong[0] && <Caret column={wrong[0].column} />}
            <Mistakes id={`${id}-wrong`} items={wrong} />
            <div id={`${id}-words`} aria-live="polite">
                {verdict?.valid && (
                    <p class="said">
                        <Icon name="check" />
                        <span>{spec.trim() === "@manual" ? t("schedule.manual") : verdict.text}</span>
                    </p>
                )}
                {verdict?.valid &&
                    verdict.warnings.map((warning) => (
                        <p key={warning.name} class="note warn">
                            {warning.text}
                        </p>
                    ))}
            </div>
        </div>
    );
}

// Of all schedules together, each moment once.
async function nextFires(specs: string[], bounds: Bounds, signal: AbortSignal): Promise<Fire[]> {
    const answers = await Promise.all(
        specs.map((spec) => api.get<{ fires: Fire[] }>("/schedule/next", { ...queryOf(spec, bounds), n: SHOWN }, signal)),
    );
    const found = new Map(answers.flatMap((answer) => answer.fires).map((fire) => [fire.at, fire]));
    return [...found.values()].sort((a, b) => a.at.localeCompare(b.at)).slice(0, SHOWN);
}

function Time({ at, zone }: { at: string; zone: string }) {
    const parts = partsOf(Date.parse(at), zone);
    return (
        <time dateTime={at} class="num">
            {parts.date} {parts.time} <span class="zone">{parts.zone}</span>
        </time>
    );
}

// "2026-11-16T02:30:00-05:00", the job's own, for people.
function Fires({ specs, bounds }: { specs: string[]; bounds: Bounds }) {
    const late = useDelayed(JSON.stringify([bounds, specs.filter((spec) => spec.trim())]), PAUSE_MS);
    const fires = useResource(`fires ${late}`, async (signal) => {
        const [all, texts] = JSON.parse(late) as [Bounds, string[]];
        return nextFires(texts, all, signal);
    });
    const shown = fires.problem ? null : fires.data;
    if (!shown || specs.every((spec) => !spec.trim() || spec.trim() === "@manual")) return null;
    if (!shown.length) return <p class="note warn">{t("fires.none")}</p>;
    const hasNotes = shown.some((fire) => fire.note);
    return (
        <div class="field wide fires-next">
            <h3 id="fires-title">{t("fires", { n: shown.length })}</h3>
            <div class="table-scroll" tabIndex={0} role="region" aria-labelledby="fires-title">
                <table class="table">
                    <thead>
                        <tr>
                            <th>{t("fires.job")}</th>
                            {hasNotes && <th>{t("fires.note")}</th>}
                            <th>{t("fires.browser")}</th>
                            <th>{t("fires.utc")}</th>
                            <th>{t("fires.in")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {shown.map((fire) => (
                            <tr key={fire.at}>
                                <td>
                                    <LocalTime text={fire.local} />
                                </td>
                                {hasNotes && <td>{fire.note && <span class="label warn">{noteText(fire.note)}</span>}</td>}
                                <td>
                                    <Time at={fire.at} zone={localZone} />
                                </td>
                                <td>
                                    <Time at={fire.at} zone="UTC" />
                                </td>
                                <td class="faint">
                                    <Relative at={fire.at} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </div>
    );
}

function Ticks({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const { draft, mistakes, onChange } = form;
    const specs = schedulesOf(draft);
    const text = (name: string): string => String(readAt(draft, [name]) ?? "");
    const zone = text("timezone");
    const rest: Rest = { tz: zone, job: form.name, dst: text("dst") };
    const set = (next: string[]): void => onChange(withSchedules(draft, next));
    const zoneMistakes = mistakesAt(mistakes, "/timezone");
    return (
        <>
            {specs.map((spec, i) => (
                <ScheduleRow
                    key={i}
                    spec={spec}
                    rest={rest}
                    at={i}
                    count={specs.length}
                    mistakes={[...mistakesAt(mistakes, `/schedules/${i}`), ...(i ? [] : mistakesAt(mistakes, "/schedule"))]}
                    disabled={disabled}
                    onChange={(text) => set(specs.with(i, text))}
                    onRemove={() => set(specs.toSpliced(i, 1))}
                />
            ))}
            <div class="field wide">
                <p class="field-help" id="f-schedule-help">
                    {helpOf("schedule")}
                </p>
                {!disabled && (
                    <div>
                        <Button icon="plus" small onClick={() => set([...specs, ""])}>
                            {t("schedule.add")}
                        </Button>
                    </div>
                )}
            </div>
            <Fires specs={specs} bounds={{ ...rest, start: text("start"), end: text("end"), calendars: calendarsOf(draft).join(), only_on: calendarsOf(draft, "only_on").join() }} />
            <Row id="f-timezone" label={labelOf("timezone")} help={helpOf("timezone")} items={zoneMistakes}>
                <input
                    id="f-timezone"
                    list="zones"
                    value={zone}
                    disabled={disabled}
                    autocomplete="off"
                    spellcheck={false}
                    aria-invalid={zoneMistakes.length > 0}
                    aria-describedby="f-timezone-wrong f-timezone-help"
                    onInput={(event) => onChange(writeAt(draft, ["timezone"], event.currentTarget.value || undefined))}
                />
                <datalist id="zones">
                    {["UTC", ...Intl.supportedValuesOf("timeZone")].map((name) => (
                        <option key={name} value={name} />
                    ))}
                </datalist>
            </Row>
            {whenFields.map((field) => (
                <FieldRow key={field.path.join()} field={field} form={form} disabled={disabled} />
            ))}
            <Calendars form={form} field="calendars" disabled={disabled} />
            <Calendars form={form} field="only_on" disabled={disabled} />
        </>
    );
}

export function When({ form, disabled }: { form: FormProps; disabled: boolean }) {
    const { draft, onChange } = form;
    const waits = draft["after"] !== undefined;
    return (
        <>
            <fieldset class="field wide" disabled={disabled}>
                <legend>{t("when")}</legend>
                <div class="segments">
                    {[false, true].map((after) => (
                        <label key={String(after)}>
                            <input
                                type="radio"
                                name="when"
                                checked={waits === after}
                                onChange={() => onChange(waiting(draft, after, localZone))}
                            />
                            <span>{t(after ? "when.after" : "when.schedule")}</span>
                        </label>
                    ))}
                </div>
            </fieldset>
            {waits ? <After form={form} disabled={disabled} /> : <Ticks form={form} disabled={disabled} />}
        </>
    );
}
