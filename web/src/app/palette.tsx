// Ctrl-K: go to a job, a screen, or do something, by typing a part of its name.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, collect } from "../api/client";
import type { Job, Page } from "../api/types";
import { chooseLanguage, language, languages } from "../i18n/language";
import { t } from "../i18n/common";
import { Icon, type IconName } from "../ui/icons";
import { useDelayed } from "../ui/parts";
import { useResource } from "../ui/resource";
import { jobState, Status } from "../ui/status";
import { paletteOpen, shortcutsOpen } from "./keyboard";
import { theme, themes, zoneChoice } from "./preferences";
import { go, hrefs, matchPath, path } from "./router";
import { navigation } from "./screens";
import { may, maySomewhere } from "./session";

const SHOWN = 8; // jobs

interface Choice {
    group: string;
    icon: IconName;
    text: string;
    job?: Job;
    run: () => void;
}

function screenChoices(): Choice[] {
    return navigation.map((screen) => ({
        group: t("palette.screens"),
        icon: screen.nav?.icon ?? "chevron",
        text: screen.nav?.label() ?? screen.path,
        run: () => go(screen.path),
    }));
}

// Actions: create a job, edit the job on the screen.
function editChoices(group: string): Choice[] {
    const name = matchPath("/jobs/:name", path.value)?.["name"];
    const added: Choice = { group, icon: "plus", text: t("palette.new"), run: () => go("/new") };
    if (!name || !may("edit", name)) return maySomewhere("edit") ? [added] : [];
    return [{ group, icon: "edit", text: t("palette.edit", { name }), run: () => go(`${path.value}/edit`) }, added];
}

function actionChoices(): Choice[] {
    const group = t("palette.actions");
    return [
        ...editChoices(group),
        ...themes
            .filter((name) => name !== theme.value)
            .map(
                (name): Choice => ({
                    group,
                    icon: name === "dark" ? "moon" : "sun",
                    text: `${t("theme")}: ${t(`theme.${name}`)}`,
                    run: () => (theme.value = name),
                }),
            ),
        ...languages
            .filter((item) => item.code !== language.value)
            .map((item): Choice => ({ group, icon: "settings", text: item.name, run: () => chooseLanguage(item.code) })),
        {
            group,
            icon: "clock",
            text: `${t("zone")}: ${zoneChoice.value === "utc" ? t("theme.auto") : t("zone.utc")}`,
            run: () => (zoneChoice.value = zoneChoice.value === "utc" ? "local" : "utc"),
        },
        { group, icon: "question", text: t("shortcuts"), run: () => (shortcutsOpen.value = true) },
    ];
}

export function PaletteList() {
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const list = useRef<HTMLDivElement>(null);
    const query = useDelayed(text.trim(), 120);
    const jobs = useResource(`palette ${query}`, (signal) =>
        collect((cursor) => api.get<Page<Job>>("/jobs", { q: query, limit: SHOWN, fields: "name,status", cursor }, signal), SHOWN),
    );
    const isFresh = query === text.trim() && !jobs.loading;
    const choices = useMemo((): Choice[] => {
        const wanted = text.trim().toLowerCase();
        // Until the server has answered, the results are of the text typed before.
        const known = (jobs.data?.items ?? []).slice(0, SHOWN).filter((job) => isFresh || job.name.toLowerCase().includes(wanted));
        const found = known.map(
            (job): Choice => ({
                group: t("palette.jobs"),
                icon: "jobs",
                text: job.name,
                job,
                run: () => go(hrefs.job(job.name)),
            }),
        );
        const others = [...screenChoices(), ...actionChoices()].filter((item) =>
            item.text.toLowerCase().includes(wanted),
        );
        return wanted ? [...found, ...others] : [...others.slice(0, navigation.length), ...found, ...others.slice(navigation.length)];
    }, [text, jobs.data, isFresh]);
    const chosen = Math.min(at, choices.length - 1);

    useEffect(() => {
        list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    }, [chosen]);

    const pick = (choice: Choice | undefined): void => {
        if (!choice) return;
        paletteOpen.value = false;
        choice.run();
    };
    const onKey = (event: KeyboardEvent): void => {
        if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, choices.length));
        else if (event.key === "ArrowUp") setAt((chosen - 1 + choices.length) % Math.max(1, choices.length));
        else if (event.key === "Enter") pick(choices[chosen]);
        else return;
        event.preventDefault();
    };
    return (
        <>
            <div class="palette-field">
                <Icon name="search" />
                <input
                    autofocus
                    role="combobox"
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-activedescendant={choices[chosen] ? `choice-${chosen}` : undefined}
                    aria-label={t("palette.hint")}
                    placeholder={t("palette.hint")}
                    spellcheck={false}
                    autocomplete="off"
                    value={text}
                    onInput={(event) => {
                        setText(event.currentTarget.value);
                        setAt(0);
                    }}
                    onKeyDown={onKey}
                />
            </div>
            <div class="palette-list" id="palette-list" role="listbox" aria-label={t("palette")} ref={list} tabIndex={-1}>
                {choices.map((choice, i) => (
                    <div key={`${choice.group} ${choice.text}`} role="presentation">
                        {choices[i - 1]?.group !== choice.group && (
                            <div class="palette-group" role="presentation">
                                {choice.group}
                            </div>
                        )}
                        <div
                            id={`choice-${i}`}
                            class="palette-item"
                            role="option"
                            aria-selected={i === chosen}
                            onPointerMove={() => setAt(i)}
                            onClick={() => pick(choice)}
                        >
                            <Icon name={choice.icon} />
                            <span class={choice.job ? "mono" : ""}>{choice.text}</span>
                            {choice.job?.status && <Status state={jobState(choice.job)} />}
                        </div>
                    </div>
                ))}
                {!choices.length && <p class="palette-none faint">{t("palette.none")}</p>}
            </div>
            <p class="palette-keys faint">{t("palette.keys")}</p>
        </>
    );
}

export function Palette() {
    const dialog = useRef<HTMLDialogElement>(null);
    const open = paletteOpen.value;
    useEffect(() => {
        if (open && !dialog.current?.open) dialog.current?.showModal();
        if (!open) dialog.current?.close();
    }, [open]);
    return (
        <dialog
            ref={dialog}
            class="dialog palette"
            aria-label={t("palette")}
            onClose={() => (paletteOpen.value = false)}
            onClick={(event) => {
                if (event.target === dialog.current) paletteOpen.value = false;
            }}
        >
            {open && <PaletteList />}
        </dialog>
    );
}
