#include "print/graph_draw.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY SIZE_MAX

/* What is in a cell, and how it is drawn. */
enum cell {
    BLANK,
    DOWN,     /* a line that goes on */
    ACROSS,   /* one to the side */
    CROSSING, /* both, apart from each other */
    FORK,     /* down, and to the side */
    END_LEFT, /* ends in the line that goes on here, coming from its left */
    END_RIGHT,
    TURN,       /* comes from the left, goes down */
    BRANCH,     /* the same, and goes on to the right */
    RISE_RIGHT, /* comes from above, and goes to the right */
    RISE_LEFT,
    CELLS,
};

static const char *const cells[CELLS][2] = {
    [BLANK] = {" ", " "},      [DOWN] = {"│", "|"},      [ACROSS] = {"─", "-"},
    [CROSSING] = {"┼", "+"},   [FORK] = {"├", "+"},      [END_LEFT] = {"┤", "+"},
    [END_RIGHT] = {"├", "+"},  [TURN] = {"╮", "."},      [BRANCH] = {"┬", "."},
    [RISE_RIGHT] = {"╰", "`"}, [RISE_LEFT] = {"╯", "'"},
};

struct drawing {
    const struct graph *graph;
    size_t *lanes; /* by column: the node that its line leads to; NOBODY: it is free */
    size_t lane_count;
    size_t *missing; /* by node: edges to it whose beginnings were not drawn yet */
    bool *is_drawn;
    unsigned char *row; /* cells of the line that is drawn */
    struct strbuf *out;
};

/* ---- lines ---- */

static void print_cell(struct drawing *drawing, enum cell cell)
{
    strbuf_adds(drawing->out, cells[cell][drawing->graph->is_ascii]);
}

static bool is_wide(enum cell cell)
{
    return cell == ACROSS || cell == CROSSING || cell == FORK || cell == BRANCH ||
           cell == RISE_RIGHT || cell == END_RIGHT;
}

/* Puts the lines that go on into the row. */
static void begin_row(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->lane_count; i++)
        drawing->row[i] = drawing->lanes[i] == NOBODY ? BLANK : DOWN;
}

/* From one column to another, both left out. */
static void go_across(struct drawing *drawing, size_t from, size_t to)
{
    size_t first = from < to ? from : to, last = from < to ? to : from;
    for (size_t i = first + 1; i < last; i++)
        drawing->row[i] = drawing->row[i] == BLANK ? ACROSS : CROSSING;
}

/* `from`, `to`: where the line across begins and ends. */
static void end_row(struct drawing *drawing, size_t from, size_t to)
{
    size_t first = from < to ? from : to, last = from < to ? to : from;
    size_t count = drawing->lane_count;
    while (count && drawing->row[count - 1] == BLANK)
        count--;
    for (size_t i = 0; i < count; i++) {
        enum cell cell = (enum cell)drawing->row[i];
        print_cell(drawing, cell);
        if (i + 1 < count)
            print_cell(drawing, i >= first && i < last && is_wide(cell) ? ACROSS : BLANK);
    }
    strbuf_addc(drawing->out, '\n');
}

/* ---- lanes ---- */

static size_t find_lane(const struct drawing *drawing, size_t node)
{
    size_t i = 0;
    while (i < drawing->lane_count && drawing->lanes[i] != node)
        i++;
    return i;
}

/* A free one behind `after`; there are as many as nodes, and one more. */
static size_t take_lane(struct drawing *drawing, size_t after, size_t node)
{
    size_t i = after;
    while (i < drawing->lane_count && drawing->lanes[i] != NOBODY)
        i++;
    if (i == drawing->lane_count)
        drawing->lane_count++;
    drawing->lanes[i] = node;
    return i;
}

static void drop_free_lanes(struct drawing *drawing)
{
    while (drawing->lane_count && drawing->lanes[drawing->lane_count - 1] == NOBODY)
        drawing->lane_count--;
}

/* ---- nodes ---- */

static void print_coloured(struct drawing *drawing, enum graph_colour colour, const char *text)
{
    static const char *const codes[] = {
        [GRAPH_PLAIN] = "",        [GRAPH_GOOD] = "\033[32m", [GRAPH_BAD] = "\033[31m",
        [GRAPH_BUSY] = "\033[36m", [GRAPH_FAINT] = "\033[2m",
    };
    bool is_coloured = drawing->graph->has_colour && *codes[colour];
    strbuf_adds(drawing->out, is_coloured ? codes[colour] : "");
    strbuf_adds(drawing->out, text);
    strbuf_adds(drawing->out, is_coloured ? "\033[0m" : "");
}

static void print_node(struct drawing *drawing, size_t node, size_t lane)
{
    const struct graph_node *shown = &drawing->graph->nodes[node];
    bool is_ascii = drawing->graph->is_ascii;
    const char *mark = shown->is_hollow ? (is_ascii ? "o" : "○") : is_ascii ? "*" : "●";
    begin_row(drawing);
    for (size_t i = 0; i < drawing->lane_count; i++) {
        if (i == lane)
            print_coloured(drawing, shown->colour, mark);
        else
            print_cell(drawing, (enum cell)drawing->row[i]);
        strbuf_addc(drawing->out, ' ');
    }
    strbuf_adds(drawing->out, shown->label);
    if (*shown->note) {
        strbuf_adds(drawing->out, "  ");
        print_coloured(drawing, shown->colour, shown->note);
    }
    strbuf_addc(drawing->out, '\n');
    drawing->lanes[lane] = NOBODY;
    drawing->is_drawn[node] = true;
}

/* Lines that begin here and have no lane yet: the first goes straight down, the others branch off.
 */
static void branch(struct drawing *drawing, size_t node, size_t lane)
{
    const struct graph *graph = drawing->graph;
    size_t last = lane;
    begin_row(drawing);
    memset(drawing->row + drawing->lane_count, BLANK, graph->node_count + 1 - drawing->lane_count);
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        if (edge->from != node || find_lane(drawing, edge->to) < drawing->lane_count)
            continue;
        if (drawing->lanes[lane] == NOBODY) {
            drawing->lanes[lane] = edge->to;
            continue;
        }
        size_t taken = take_lane(drawing, lane + 1, edge->to);
        drawing->row[taken] = BRANCH;
        last = taken > last ? taken : last;
    }
    if (last == lane)
        return;
    drawing->row[lane] = FORK;
    for (size_t i = lane + 1; i < last; i++)
        if (drawing->row[i] != BRANCH)
            drawing->row[i] = drawing->row[i] == BLANK ? ACROSS : CROSSING;
    drawing->row[last] = TURN;
    end_row(drawing, lane, last);
}

static bool has_lane(const size_t *lanes, size_t count, size_t node)
{
    size_t i = 0;
    while (i < count && lanes[i] != node)
        i++;
    return i < count;
}

/* Lines into lanes that were there before this node. */
static void join(struct drawing *drawing, size_t node, size_t lane, const size_t *before,
                 size_t count)
{
    const struct graph *graph = drawing->graph;
    size_t left = 0;
    for (size_t i = 0; i < graph->edge_count; i++)
        left += graph->edges[i].from == node && has_lane(before, count, graph->edges[i].to);
    for (size_t i = 0; i < graph->edge_count && left; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        if (edge->from != node || !has_lane(before, count, edge->to))
            continue;
        size_t to = find_lane(drawing, edge->to);
        bool goes_on = --left || drawing->lanes[lane] != NOBODY;
        begin_row(drawing);
        go_across(drawing, lane, to);
        drawing->row[lane] = goes_on     ? (to > lane ? FORK : END_LEFT)
                             : to > lane ? RISE_RIGHT
                                         : RISE_LEFT;
        drawing->row[to] = to > lane ? END_LEFT : END_RIGHT;
        end_row(drawing, lane, to);
    }
}

static enum status draw_node(struct drawing *drawing, size_t node)
{
    size_t lane = find_lane(drawing, node);
    if (lane == drawing->lane_count)
        lane = take_lane(drawing, 0, node);
    print_node(drawing, node, lane);
    size_t count = drawing->lane_count;
    size_t *before = malloc((count + 1) * sizeof(*before));
    if (!before)
        return E_NOMEM;
    memcpy(before, drawing->lanes, count * sizeof(*before));
    branch(drawing, node, lane);
    join(drawing, node, lane, before, count);
    free(before);
    drop_free_lanes(drawing);
    for (size_t i = 0; i < drawing->graph->edge_count; i++)
        if (drawing->graph->edges[i].from == node)
            drawing->missing[drawing->graph->edges[i].to]--;
    return OK;
}

/* The next one that waits for nobody who was not drawn: one that has a line first, so that lines
 * stay short. */
static size_t next_node(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    size_t found = NOBODY, found_lane = SIZE_MAX;
    for (size_t i = 0; i < graph->node_count; i++) {
        if (drawing->is_drawn[i] || drawing->missing[i])
            continue;
        size_t lane = find_lane(drawing, i); /* lane_count: it has none */
        if (found == NOBODY || lane < found_lane) {
            found = i;
            found_lane = lane;
        }
    }
    return found;
}

enum status graph_draw(const struct graph *graph, struct strbuf *out)
{
    size_t count = graph->node_count + 1;
    struct drawing drawing = {
        .graph = graph,
        .lanes = calloc(count, sizeof(*drawing.lanes)),
        .missing = calloc(count, sizeof(*drawing.missing)),
        .is_drawn = calloc(count, sizeof(*drawing.is_drawn)),
        .row = calloc(count, 1),
        .out = out,
    };
    enum status st = E_NOMEM;
    if (!drawing.lanes || !drawing.missing || !drawing.is_drawn || !drawing.row)
        goto out;
    st = OK;
    for (size_t i = 0; i < graph->edge_count; i++)
        drawing.missing[graph->edges[i].to]++;
    size_t node;
    while (st == OK && (node = next_node(&drawing)) != NOBODY)
        st = draw_node(&drawing, node);
    for (size_t i = 0; st == OK && i < graph->node_count; i++)
        if (!drawing.is_drawn[i])
            strbuf_addf(out, "? %s\n", graph->nodes[i].label);
    if (st == OK)
        st = strbuf_status(out);
out:
    free(drawing.lanes);
    free(drawing.missing);
    free(drawing.is_drawn);
    free(drawing.row);
    return st;
}
