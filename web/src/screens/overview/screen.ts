import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/",
    title: () => t("title"),
    load: () => import("./OverviewScreen"),
    nav: { order: 10, icon: "overview", label: () => t("title"), key: "o" },
};

export default screen;
