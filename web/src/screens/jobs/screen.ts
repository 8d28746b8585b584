import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/jobs",
    title: () => t("title"),
    load: () => import("./JobsScreen"),
    nav: { order: 20, icon: "jobs", label: () => t("title"), key: "j" },
};

export default screen;
