// Ctrl-K: go to a job, a screen, or do something, by typing a part of its name.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, collect, jobPath } from "../api/client";
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
import { attempt, toastDone } from "./toasts";

const SHOWN = 8; // jobs
const ASKED = 50; // jobs of which the best are shown

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

// "run etl load": what is to be done with the jobs whose names have the other words.
const verbs = ["run", "pause", "resume", "edit"] as const;
type Verb = (typeof verbs)[number];

function verbOf(text: string): { verb: Verb | null; rest: string } {
    const [, first = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(text) ?? [];
    const verb = verbs.find((name) => first === name || first === t(`do.${name}`).toLowerCase());
    return verb ? { verb, rest } : { verb: null, rest: text };
}

function doChoice(verb: Verb, job: Job): Choice {
    const name = job.name;
    const icons = { run: "play", pause: "pause", resume: "play", edit: "edit" } as const;
    const run = async (): Promise<void> => {
        if (verb === "edit") return go(`/jobs/${encodeURIComponent(name)}/edit`);
        const answer = await api.post<{ run_id?: string }>(jobPath(name, `/${verb}`));
        if (answer.run_id) go(hrefs.run(answer.run_id));
        else toastDone(t(`did.${verb as "pause" | "resume"}`, { name }));
    };
    return { group: t("palette.actions"), icon: icons[verb], text: `${t(`do.${verb}`)} ${name}`, run: () => void attempt(run) };
}

// Every word must be there, in any order. Jobs whose names have them come before those whose commands do.
function hasAll(text: string, words: string[]): boolean {
    const small = text.toLowerCase();
    return words.every((word) => small.includes(word));
}

function ranked(jobs: Job[], words: string[]): Job[] {
    const rank = (job: Job): number => (!hasAll(job.name, words) ? 2 : job.name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
    return [...jobs].sort((a, b) => rank(a) - rank(b) || a.name.length - b.name.length);
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
    const { verb, rest } = verbOf(text.trim().toLowerCase());
    const words = rest.split(/\s+/).filter(Boolean);
    const typed = words.join(" ");
    const query = useDelayed(typed, 120);
    const jobs = useResource(`palette ${query}`, (signal) => {
        const filter = query.includes(" ") ? { words: query } : { q: query };
        return collect((cursor) => api.get<Page<Job>>("/jobs", { ...filter, limit: ASKED, fields: "name,status", cursor }, signal), ASKED);
    });
    const isFresh = query === typed && !jobs.loading && words.length < 2;
    const choices = useMemo((): Choice[] => {
        const wanted = words.length > 0 || verb !== null;
        // Until the server has answered, the results are of the text typed before.
        const known = ranked((jobs.data?.items ?? []).filter((job) => isFresh || hasAll(job.name, words)), words).slice(0, SHOWN);
        if (verb) {
            const right = verb === "edit" ? "edit" : "operate";
            return known.filter((job) => hasAll(job.name, words) && may(right, job.name)).map((job) => doChoice(verb, job));
        }
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
            hasAll(item.text, words),
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
    // At once, and the close event comes later still: Ctrl-K may have opened it again meanwhile.
    useLayoutEffect(() => {
        if (open && !dialog.current?.open) dialog.current?.showModal();
        if (!open) dialog.current?.close();
    }, [open]);
    return (
        <dialog
            ref={dialog}
            class="dialog palette"
            aria-label={t("palette")}
            onClose={() => {
                if (!dialog.current?.open) paletteOpen.value = false;
            }}
            onClick={(event) => {
                if (event.target === dialog.current) paletteOpen.value = false;
            }}
        >
            {open && <PaletteList />}
        </dialog>
    );
}
