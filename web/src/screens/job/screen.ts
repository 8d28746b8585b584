import type { Screen } from "../../app/screens";
import { t } from "./words";

const screen: Screen = {
    path: "/jobs/:name",
    within: "/jobs",
    title: (params) => t("title", { name: params["name"] ?? "" }),
    load: () => import("./JobScreen"),
};

export default screen;
