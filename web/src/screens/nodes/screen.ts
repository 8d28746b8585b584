import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/nodes",
    title: () => t("title"),
    load: () => import("./NodesScreen"),
    nav: { order: 50, icon: "nodes", label: () => t("title"), key: "n" },
};

export default screen;
