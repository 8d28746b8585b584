// The calendars of a job, chosen from all calendars.
import { api } from "../../api/client";
import type { Calendar, Page } from "../../api/types";
import { href } from "../../app/router";
import { useResource } from "../../ui/resource";
import { writeAt } from "./draft";
import { Mistakes, mistakesAt, type FormProps } from "./Field";
import { helpOf, labelOf } from "./fields";
import { t } from "./words";

type Name = "calendars" | "only_on";

export function calendarsOf(draft: FormProps["draft"], field: Name = "calendars"): string[] {
    const names = draft[field];
    return Array.isArray(names) ? names.map(String) : typeof names === "string" && names ? [names] : [];
}

// `calendars` are dates without runs, `only_on` the only ones with runs.
export function Calendars({ form, field, disabled }: { form: FormProps; field: Name; disabled: boolean }) {
    const { draft, onChange } = form;
    const known = useResource("calendars", (signal) => api.optional<Page<Calendar>>("/calendars", {}, signal));
    const chosen = calendarsOf(draft, field);
    const names = [...new Set([...(known.data?.items.map((item) => item.name) ?? []), ...chosen])];
    const set = (name: string, on: boolean): void => {
        const next = on ? [...chosen, name] : chosen.filter((other) => other !== name);
        onChange(writeAt(draft, [field], next.length ? next : undefined));
    };
    return (
        <fieldset class="field wide" disabled={disabled}>
            <legend>{labelOf(field)}</legend>
            {names.map((name) => (
                <label key={name} class="check">
                    <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => set(name, event.currentTarget.checked)} />
                    {name}
                </label>
            ))}
            <Mistakes id={`f-${field}-wrong`} items={mistakesAt(form.mistakes, `/${field}`)} />
            <p class="field-help">
                {helpOf(field)} <a href={href("/settings", { tab: "calendars" })}>{t("calendars.edit")}</a>
            </p>
        </fieldset>
    );
}
