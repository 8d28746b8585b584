import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/runs/:id",
    within: "/runs",
    title: () => title("runs"),
    load: () => import("./RunScreen"),
};

export default screen;
