import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/runs/:id",
    within: "/runs",
    title: () => t("runs"),
    load: () => import("./RunScreen"),
};

export default screen;
