// Where the nodes and edges of a directed graph without cycles are drawn: in layers from left to right,
// each node right of all that it waits for, with few crossings. Pure.

export interface Node {
    id: string;
}

export interface Edge {
    from: string;
    to: string;
}

export interface Point {
    x: number;
    y: number;
}

export interface Layout {
    width: number;
    height: number;
    nodes: Map<string, Point>; // the upper left corner
    edges: Point[][]; // by the index of the edge: points on its way, the ends included
}

export interface Sizes {
    width: number;
    height: number;
    gapX: number;
    gapY: number;
}

const SWEEPS = 8; // crossings
const SETTLES = 20; // of distances: each halves what is left of them

// A place in a layer: a node, or where an edge that spans several layers passes through one of them.
interface Slot {
    id: string | null;
    before: Slot[];
    after: Slot[];
    layer: number;
    order: number;
    y: number;
}

function layersOf(ids: string[], edges: Edge[]): Map<string, number> {
    const after = new Map<string, string[]>(ids.map((id) => [id, []]));
    const open = new Map<string, number>(ids.map((id) => [id, 0]));
    for (const { from, to } of edges) {
        after.get(from)!.push(to);
        open.set(to, open.get(to)! + 1);
    }
    const layers = new Map<string, number>(ids.map((id) => [id, 0]));
    const ready = ids.filter((id) => open.get(id) === 0);
    for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
        for (const next of after.get(id)!) {
            layers.set(next, Math.max(layers.get(next)!, layers.get(id)! + 1));
            open.set(next, open.get(next)! - 1);
            if (open.get(next) === 0) ready.push(next);
        }
    }
    return layers; // what is in a cycle stays where its last known input puts it
}

function connect(before: Slot, after: Slot): void {
    before.after.push(after);
    after.before.push(before);
}

function slotsOf(ids: string[], edges: Edge[]): { layers: Slot[][]; ways: Slot[][]; byId: Map<string, Slot> } {
    const depth = layersOf(ids, edges);
    const layers: Slot[][] = [];
    const byId = new Map<string, Slot>();
    const place = (id: string | null, layer: number): Slot => {
        while (layers.length <= layer) layers.push([]);
        const slot: Slot = { id, before: [], after: [], layer, order: layers[layer]!.length, y: 0 };
        layers[layer]!.push(slot);
        return slot;
    };
    for (const id of ids) byId.set(id, place(id, depth.get(id)!));
    const ways = edges.map(({ from, to }) => {
        const end = byId.get(to)!;
        const way = [byId.get(from)!];
        for (let layer = way[0]!.layer + 1; layer < end.layer; layer++) {
            const pass = place(null, layer);
            connect(way[way.length - 1]!, pass);
            way.push(pass);
        }
        if (end.layer > way[0]!.layer) connect(way[way.length - 1]!, end);
        return [...way, end];
    });
    return { layers, ways, byId };
}

function mean(slots: Slot[], value: (slot: Slot) => number): number | null {
    return slots.length ? slots.reduce((sum, slot) => sum + value(slot), 0) / slots.length : null;
}

// By the mean place of the neighbours in the layer before, then in the one after, and so on.
function order(layers: Slot[][]): void {
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const isForward = sweep % 2 === 0;
        for (const layer of isForward ? layers : [...layers].reverse()) {
            const wanted = new Map(layer.map((slot) => [slot, mean(isForward ? slot.before : slot.after, (other) => other.order) ?? slot.order]));
            layer.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a.order - b.order);
            layer.forEach((slot, i) => (slot.order = i));
        }
    }
}

// Slots stay in order and apart; each goes to where its neighbours are, as far as the others let it.
function settle(layers: Slot[][], step: number): void {
    for (const layer of layers) layer.forEach((slot, i) => (slot.y = i * step));
    for (let sweep = 0; sweep < SETTLES; sweep++) {
        for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
            const wanted = layer.map((slot) => mean([...slot.before, ...slot.after], (other) => other.y) ?? slot.y);
            layer.forEach((slot, i) => (slot.y = i ? Math.max(wanted[i]!, layer[i - 1]!.y + step) : wanted[i]!));
            const excess = mean(layer, (slot) => slot.y)! - wanted.reduce((sum, y) => sum + y, 0) / wanted.length;
            for (const slot of layer) slot.y -= excess;
        }
    }
    const least = Math.min(...layers.flat().map((slot) => slot.y));
    for (const slot of layers.flat()) slot.y -= least;
}

export function layout(nodes: Node[], edges: Edge[], sizes: Sizes): Layout {
    const known = new Set(nodes.map((node) => node.id));
    const usable = edges.map((edge) => known.has(edge.from) && known.has(edge.to) && edge.from !== edge.to);
    if (!nodes.length) return { width: 0, height: 0, nodes: new Map(), edges: edges.map(() => []) };
    const { layers, ways, byId } = slotsOf(
        [...known],
        edges.filter((_edge, i) => usable[i]),
    );
    order(layers);
    settle(layers, sizes.height + sizes.gapY);
    const left = (layer: number): number => layer * (sizes.width + sizes.gapX);
    const middle = (slot: Slot): number => slot.y + sizes.height / 2;
    let next = 0;
    return {
        width: left(layers.length - 1) + sizes.width,
        height: Math.max(...layers.flat().map((slot) => slot.y)) + sizes.height,
        nodes: new Map([...byId].map(([id, slot]) => [id, { x: left(slot.layer), y: slot.y }])),
        edges: usable.map((isUsable) => {
            if (!isUsable) return [];
            const way = ways[next++]!;
            const [first, last] = [way[0]!, way[way.length - 1]!];
            const passes = way.slice(1, -1).flatMap((slot) => [
                { x: left(slot.layer), y: middle(slot) },
                { x: left(slot.layer) + sizes.width, y: middle(slot) },
            ]);
            return [{ x: left(first.layer) + sizes.width, y: middle(first) }, ...passes, { x: left(last.layer), y: middle(last) }];
        }),
    };
}

// A smooth line through the points, as the `d` of a path: level at each of them.
export function pathOf(points: Point[]): string {
    return points
        .map((point, i) => {
            const before = points[i - 1];
            if (!before) return `M${point.x} ${point.y}`;
            const bend = (point.x - before.x) / 2;
            return `C${before.x + bend} ${before.y} ${point.x - bend} ${point.y} ${point.x} ${point.y}`;
        })
        .join("");
}
