// Keys that work everywhere: Ctrl-K, "/", "?", "g" and a letter, and j/k through the rows of a list.
import { signal } from "@preact/signals";
import { go } from "./router";
import { navigation } from "./screens";

export const paletteOpen = signal(false);
export const shortcutsOpen = signal(false);

let pending = false;
let pendingTimer: ReturnType<typeof setTimeout> | null = null;

function isTyping(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement &&
        (target.isContentEditable || target.matches("input, textarea, select") || !!target.closest("dialog"))
    );
}

// Rows are links with data-row; moving is moving the focus, so that Enter is the browser's.
function moveRow(step: number): boolean {
    const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
    if (!rows.length) return false;
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
    rows[next]?.focus();
    rows[next]?.scrollIntoView({ block: "nearest" });
    return true;
}

function goTo(key: string): boolean {
    const screen = navigation.find((item) => item.nav?.key === key);
    if (screen) go(screen.path);
    return !!screen;
}

function handle(event: KeyboardEvent): boolean {
    if (pending) {
        pending = false;
        return goTo(event.key);
    }
    switch (event.key) {
        case "/": {
            const field = document.querySelector<HTMLInputElement>("[data-search]");
            field?.focus();
            field?.select();
            return !!field;
        }
        case "?":
            shortcutsOpen.value = true;
            return true;
        case "g":
            pending = true;
            if (pendingTimer) clearTimeout(pendingTimer);
            pendingTimer = setTimeout(() => (pending = false), 1200);
            return true;
        case "j":
            return moveRow(1);
        case "k":
            return moveRow(-1);
        default:
            return false;
    }
}

export function listenToKeys(): void {
    document.addEventListener("keydown", (event) => {
        if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
            event.preventDefault();
            paletteOpen.value = !paletteOpen.value;
            return;
        }
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
        if (handle(event)) event.preventDefault();
    });
}
