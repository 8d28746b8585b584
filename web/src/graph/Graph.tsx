// A graph of jobs or of steps: what each is called, how it stands, and what waits for what.
import { useMemo } from "preact/hooks";
import { Status, toneOf, type Shown } from "../ui/status";
import { layout, pathOf } from "./layout";
import "./graph.css";

export interface GraphNode {
    id: string;
    name: string;
    state: Shown;
    note?: string; // a few words below the name: the last duration, or a count of items
    href?: string;
    isHere?: boolean; // the one that the page is about
    isFaint?: boolean; // missing, or not reached
}

export interface GraphEdge {
    from: string;
    to: string;
    on: "success" | "failure" | "always";
    label?: string;
}

const sizes = { width: 168, height: 44, gapX: 40, gapY: 14 };
const EDGE = 6; // room for outlines

function Box({ node }: { node: GraphNode }) {
    const name = <span class="graph-name">{node.name}</span>;
    return (
        <div
            class={`graph-node tone-${toneOf(node.state)} ${node.isHere ? "graph-here" : ""} ${node.isFaint ? "graph-faint" : ""}`}
            title={node.name}
        >
            {node.href ? <a href={node.href}>{name}</a> : name}
            <span class="graph-state">
                <Status state={node.state} />
                {node.note && <span class="faint small">{node.note}</span>}
            </span>
        </div>
    );
}

export function Graph({ nodes, edges, label }: { nodes: GraphNode[]; edges: GraphEdge[]; label: string }) {
    const shape = JSON.stringify([nodes.map((node) => node.id), edges.map(({ from, to }) => [from, to])]);
    const places = useMemo(() => layout(nodes, edges, sizes), [shape]);
    const width = places.width + 2 * EDGE;
    const height = places.height + 2 * EDGE;
    return (
        <div class="graph" role="group" aria-label={label} tabIndex={0}>
            <div class="graph-plane" style={{ width: `${width}px`, height: `${height}px` }}>
                <svg width={width} height={height} viewBox={`${-EDGE} ${-EDGE} ${width} ${height}`} aria-hidden="true">
                    <defs>
                        <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                            <path d="M0 0.500 7 4 0 7.500z" />
                        </marker>
                    </defs>
                    {edges.map((edge, i) => {
                        const points = places.edges[i] ?? [];
                        return points.length ? (
                            <path key={`${edge.from} ${edge.to}`} class={`graph-edge graph-on-${edge.on}`} d={pathOf(points)} marker-end="url(#graph-arrow)">
                                {edge.label && <title>{edge.label}</title>}
                            </path>
                        ) : null;
                    })}
                </svg>
                <ol>
                    {nodes.map((node) => {
                        const place = places.nodes.get(node.id);
                        return place ? (
                            <li
                                key={node.id}
                                style={{
                                    left: `${place.x + EDGE}px`,
                                    top: `${place.y + EDGE}px`,
                                    width: `${sizes.width}px`,
                                    height: `${sizes.height}px`,
                                }}
                            >
                                <Box node={node} />
                            </li>
                        ) : null;
                    })}
                </ol>
            </div>
        </div>
    );
}
