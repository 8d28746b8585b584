import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/settings",
    title: () => t("title"),
    load: () => import("./SettingsScreen"),
    nav: { order: 60, icon: "person", label: () => t("title"), key: "s" },
};

export default screen;
