import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/timeline",
    title: () => title("title"),
    load: () => import("./TimelineScreen"),
    nav: { order: 40, icon: "timeline", label: () => title("title"), key: "t" },
};

export default screen;
