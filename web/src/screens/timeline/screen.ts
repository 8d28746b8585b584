import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/timeline",
    title: () => t("title"),
    load: () => import("./TimelineScreen"),
    nav: { order: 40, icon: "timeline", label: () => t("title"), key: "t" },
};

export default screen;
