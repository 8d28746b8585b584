// Apart from the other words, which come with the screen.
import { words } from "../../i18n/words";

export const title = words({ "title": "Nodes", "node": "Node {name}" }, { "title": "节点", "node": "节点 {name}" });
