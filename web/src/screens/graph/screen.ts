import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/graph",
    within: "/jobs",
    title: () => title("title"),
    load: () => import("./GraphScreen"),
};

export default screen;
