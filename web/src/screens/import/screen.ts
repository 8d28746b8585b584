import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/import",
    within: "/jobs",
    title: () => title("title"),
    load: () => import("./ImportScreen"),
};

export default screen;
