// The screens: every folder of src/screens has a screen.ts whose default export is one, or several.
// There is no other list of screens.
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { matchPath } from "./router";
import type { IconName } from "../ui/icons";

export interface ScreenProps {
    params: Record<string, string>;
}

export interface Screen {
    path: string; // "/jobs/:name"
    title: (params: Record<string, string>) => string;
    load: () => Promise<{ default: FunctionComponent<ScreenProps> }>;
    // In the main navigation, in this order; `key` goes there after "g".
    nav?: { order: number; icon: IconName; label: () => string; key: string };
    // Which entry of the navigation it belongs to, if it is not one itself: its path.
    within?: string;
    // Shown without the shell and without a login: login, setup.
    isPublic?: boolean;
}

// What the screen shows, for the title of the tab, once it is known: "Failed: etl/load".
export const subject = signal<string | null>(null);

const modules = import.meta.glob<{ default: Screen | Screen[] }>("../screens/*/screen.ts", { eager: true });

export const screens: readonly Screen[] = Object.values(modules).flatMap((module) => module.default);

export const navigation: readonly Screen[] = screens
    .filter((screen) => screen.nav)
    .sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0));

export function findScreen(path: string): { screen: Screen; params: Record<string, string> } | null {
    for (const screen of screens) {
        const params = matchPath(screen.path, path);
        if (params) return { screen, params };
    }
    return null;
}
