/* Graphs as text: every line of a drawing, in both sets of characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "print/graph_draw.h"

enum { NODES_MAX = 16, EDGES_MAX = 32 };

/* "ab ac bd": an edge for each pair of letters, which are the nodes from a on. */
static size_t read_edges(const char *text, struct graph_edge edges[EDGES_MAX])
{
    size_t count = 0;
    for (; *text; text += text[2] ? 3 : 2)
        edges[count++] = (struct graph_edge){(size_t)(text[0] - 'a'), (size_t)(text[1] - 'a')};
    return count;
}

static void expect(int line, size_t nodes, const char *edges_text, bool is_ascii, const char *want)
{
    static const char *const labels[NODES_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct graph_node shown[NODES_MAX];
    struct graph_edge edges[EDGES_MAX];
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < nodes; i++)
        shown[i] = (struct graph_node){.label = labels[i], .note = ""};
    struct graph graph = {.nodes = shown,
                          .node_count = nodes,
                          .edges = edges,
                          .edge_count = read_edges(edges_text, edges),
                          .is_ascii = is_ascii};
    assert_int_equal(graph_draw(&graph, &out), OK);
    const char *got = out.length ? out.text : "";
    if (strcmp(got, want) != 0)
        fail_msg("line %d:\n%s", line, got);
    strbuf_release(&out);
}

static void graphs_are_drawn(void **state)
{
    static const struct {
        int line;
        size_t nodes;
        const char *edges, *want, *ascii;
    } cases[] = {
        {__LINE__, 0, "", "", ""},
        {__LINE__, 1, "", "● a\n", "* a\n"},
        {__LINE__, 2, "", "● a\n● b\n", "* a\n* b\n"},
        {__LINE__, 3, "ab bc", "● a\n● b\n● c\n", "* a\n* b\n* c\n"},
        {__LINE__, 4, "ab ac bd cd",
         "● a\n"
         "├─╮\n"
         "● │ b\n"
         "│ ● c\n"
         "├─╯\n"
         "● d\n",
         "* a\n"
         "+-.\n"
         "* | b\n"
         "| * c\n"
         "+-'\n"
         "* d\n"},
        /* three at once, and a line past all of them */
        {__LINE__, 6, "ab ac ad be ce de ef af",
         "● a\n"
         "├─┬─┬─╮\n"
         "● │ │ │ b\n"
         "│ ● │ │ c\n"
         "├─╯ │ │\n"
         "│   ● │ d\n"
         "├───╯ │\n"
         "●     │ e\n"
         "╰─────┤\n"
         "      ● f\n",
         "* a\n"
         "+-.-.-.\n"
         "* | | | b\n"
         "| * | | c\n"
         "+-' | |\n"
         "|   * | d\n"
         "+---' |\n"
         "*     | e\n"
         "`-----+\n"
         "      * f\n"},
        /* a line that crosses another, and two beginnings */
        {__LINE__, 5, "ab bc ad de ec be",
         "● a\n"
         "├─╮\n"
         "● │ b\n"
         "├─┼─╮\n"
         "│ ● │ d\n"
         "│ ╰─┤\n"
         "│   ● e\n"
         "├───╯\n"
         "● c\n",
         "* a\n"
         "+-.\n"
         "* | b\n"
         "+-+-.\n"
         "| * | d\n"
         "| `-+\n"
         "|   * e\n"
         "+---'\n"
         "* c\n"},
        {__LINE__, 3, "ac bc", "● a\n│ ● b\n├─╯\n● c\n", "* a\n| * b\n+-'\n* c\n"},
        /* what no workflow is */
        {__LINE__, 3, "ab bc cb", "● a\n? b\n? c\n", "* a\n? b\n? c\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect(cases[i].line, cases[i].nodes, cases[i].edges, false, cases[i].want);
        expect(cases[i].line, cases[i].nodes, cases[i].edges, true, cases[i].ascii);
    }
}

static void states_are_coloured(void **state)
{
    const struct graph_node nodes[] = {
        {.label = "a", .note = "ok", .colour = GRAPH_GOOD},
        {.label = "b", .note = "", .colour = GRAPH_FAINT, .is_hollow = true},
    };
    struct graph graph = {.nodes = nodes, .node_count = 2, .has_colour = true};
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    assert_int_equal(graph_draw(&graph, &out), OK);
    assert_string_equal(out.text, "\033[32m●\033[0m a  \033[32mok\033[0m\n"
                                  "\033[2m○\033[0m b\n");
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_drawn),
        cmocka_unit_test(states_are_coloured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
