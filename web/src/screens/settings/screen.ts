import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/settings",
    title: () => title("title"),
    load: () => import("./SettingsScreen"),
    nav: { order: 60, icon: "person", label: () => title("title"), key: "s" },
};

export default screen;
