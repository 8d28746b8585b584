import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/runs",
    title: () => t("title"),
    load: () => import("./RunsScreen"),
    nav: { order: 30, icon: "runs", label: () => t("title"), key: "r" },
};

export default screen;
