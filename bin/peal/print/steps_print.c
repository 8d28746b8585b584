#include "print/steps_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/text_table.h"
#include "cli/text_width.h"
#include "cli/when.h"
#include "print/graph_draw.h"
#include "print/run_table.h"
#include "print/state_words.h"
#include "text/tr.h"

enum { SHOWN_COLUMNS = 60 }; /* of a command or an expression */

/* ---- steps of a definition ---- */

/* A name, {step, on}, or a list of these. */
static bool add_after(json_t *list, const json_t *after)
{
    const json_t *item;
    size_t i;
    if (json_is_array(after)) {
        json_array_foreach (after, i, item) {
            if (!add_after(list, item))
                return false;
        }
        return true;
    }
    if (!after)
        return true;
    const char *name =
        json_is_string(after) ? json_string_value(after) : answer_text(after, "step");
    const char *on = answer_text(after, "on");
    return json_array_append_new(
               list, json_pack("{s:s, s:s}", "step", name, "on", *on ? on : "success")) == 0;
}

static bool add_steps(json_t *list, const json_t *steps, bool is_final)
{
    const json_t *step;
    size_t i;
    json_array_foreach (steps, i, step) {
        json_t *copy = json_deep_copy(step), *after = json_array();
        if (!copy || !after || !add_after(after, json_object_get(step, "after")) ||
            json_object_set(copy, "after", after) != 0 ||
            json_object_set_new(copy, "final", json_boolean(is_final)) != 0 ||
            json_array_append(list, copy) != 0) {
            json_decref(copy);
            json_decref(after);
            return false;
        }
        json_decref(copy);
        json_decref(after);
    }
    return true;
}

static bool waits_for(const json_t *step, const char *name)
{
    const json_t *item;
    size_t i;
    json_array_foreach (json_object_get(step, "after"), i, item) {
        if (strcmp(answer_text(item, "step"), name) == 0)
            return true;
    }
    return false;
}

static bool is_final(const json_t *step)
{
    return json_is_true(json_object_get(step, "final"));
}

/* Does no other step of the same kind wait for it? */
static bool is_last(const json_t *steps, const char *name)
{
    const json_t *step;
    size_t i;
    json_array_foreach (steps, i, step) {
        if (!is_final(step) && waits_for(step, name))
            return false;
    }
    return true;
}

static bool add_ends(const json_t *steps, json_t *final)
{
    json_t *after = json_object_get(final, "after");
    const json_t *step;
    size_t i;
    if (json_array_size(after))
        return true;
    json_array_foreach (steps, i, step) {
        const char *name = answer_text(step, "name");
        if (!is_final(step) && is_last(steps, name) &&
            json_array_append_new(after, json_pack("{s:s, s:s}", "step", name, "on", "always")))
            return false;
    }
    return true;
}

json_t *steps_of_job(const json_t *job)
{
    json_t *list = json_array(), *step;
    size_t i;
    bool is_good = list && add_steps(list, json_object_get(job, "steps"), false) &&
                   add_steps(list, json_object_get(job, "finally"), true);
    json_array_foreach (list, i, step) {
        if (is_good && is_final(step))
            is_good = add_ends(list, step);
    }
    if (!is_good) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ---- words ---- */

void state_counts_print(const json_t *counts, struct strbuf *out)
{
    const char *state, *before = "";
    json_t *count;
    json_object_foreach ((json_t *)counts, state, count) {
        strbuf_addf(out, "%s%d %s", before, (int)json_integer_value(count), why_word(state));
        before = ", ";
    }
}

/* One line of a text, cut. */
static void add_short(struct strbuf *out, const char *text)
{
    size_t length = strcspn(text, "\n"), fits = text_fit(text, SHOWN_COLUMNS);
    text_print_safe(text, length < fits ? length : fits, out);
    if (text[length < fits ? length : fits])
        strbuf_adds(out, "...");
}

static void add_command(struct strbuf *out, const json_t *words)
{
    struct strbuf line;
    const json_t *word;
    size_t i;
    strbuf_init(&line);
    json_array_foreach (words, i, word) {
        strbuf_addf(&line, "%s%s", i ? " " : "",
                    json_is_string(word) ? json_string_value(word) : "");
    }
    add_short(out, line.text ? line.text : "");
    strbuf_release(&line);
}

/* What a step of a definition runs. */
static void print_what(const json_t *step, struct strbuf *out)
{
    static const char *const texts[] = {"shell", "http", "function", "job", "workflow"};
    const json_t *command = json_object_get(step, "command");
    if (json_is_array(command))
        add_command(out, command);
    else if (json_is_string(command))
        add_short(out, json_string_value(command));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const json_t *value = json_object_get(step, texts[i]);
        const char *text =
            json_is_object(value) ? answer_text(value, "url") : answer_text(step, texts[i]);
        if (json_is_object(value) && !*text)
            text = answer_text(value, "name");
        if (!value)
            continue;
        if (i > 0)
            strbuf_addf(out, "%s: ", texts[i]);
        add_short(out, text);
    }
}

static bool has_state(const json_t *step)
{
    return json_object_get(step, "state") != NULL;
}

static void print_took(const json_t *step, struct strbuf *out)
{
    int64_t started = answer_time(step, "started_at"), finished = answer_time(step, "finished_at");
    if (started != NO_TIME)
        when_print_taken(started, finished == NO_TIME ? now_ms() : finished, out);
}

static void print_state(const json_t *step, struct strbuf *out)
{
    const char *state = answer_text(step, "state");
    if (strcmp(state, "waiting") == 0 || !*state)
        strbuf_adds(out, *state ? why_word(state) : "-");
    else
        run_outcome(step, out);
}

/* Behind the name in a graph. */
static void print_note(const json_t *step, struct strbuf *out)
{
    const char *when = answer_text(step, "when");
    if (has_state(step)) {
        print_state(step, out);
        strbuf_addc(out, ' ');
        print_took(step, out);
        if (json_is_object(json_object_get(step, "items"))) {
            strbuf_adds(out, " [");
            state_counts_print(json_object_get(step, "items"), out);
            strbuf_adds(out, "]");
        }
    } else {
        print_what(step, out);
        if (json_object_get(step, "each"))
            strbuf_adds(out, tr(" (for each item)"));
        if (*when) {
            strbuf_adds(out, tr(" when "));
            add_short(out, when);
        }
    }
    if (is_final(step))
        strbuf_adds(out, tr(" (finally)"));
    while (out->length && out->text[out->length - 1] == ' ')
        strbuf_truncate(out, out->length - 1);
}

/* ---- the graph ---- */

static enum graph_colour colour_of(const json_t *step)
{
    static const struct {
        const char *state;
        enum graph_colour colour;
    } colours[] = {
        {"ok", GRAPH_GOOD},       {"failed", GRAPH_BAD},    {"timed_out", GRAPH_BAD},
        {"killed", GRAPH_BAD},    {"lost", GRAPH_BAD},      {"missed", GRAPH_BAD},
        {"skipped", GRAPH_FAINT}, {"waiting", GRAPH_FAINT}, {"running", GRAPH_BUSY},
        {"begun", GRAPH_BUSY},    {"claimed", GRAPH_BUSY},
    };
    for (size_t i = 0; has_state(step) && i < sizeof(colours) / sizeof(colours[0]); i++)
        if (strcmp(colours[i].state, answer_text(step, "state")) == 0)
            return colours[i].colour;
    return GRAPH_PLAIN;
}

static size_t find_step(const json_t *steps, const char *name)
{
    size_t i;
    const json_t *step;
    json_array_foreach (steps, i, step) {
        if (strcmp(answer_text(step, "name"), name) == 0)
            break;
    }
    return i;
}

struct texts {
    struct strbuf label, note;
};

static size_t fill_edges(const json_t *steps, struct graph_edge *edges)
{
    size_t count = 0, i, k;
    const json_t *step, *item;
    json_array_foreach (steps, i, step) {
        json_array_foreach (json_object_get(step, "after"), k, item) {
            size_t from = find_step(steps, answer_text(item, "step"));
            if (from < json_array_size(steps))
                edges[count++] = (struct graph_edge){from, i};
        }
    }
    return count;
}

static enum status fill_node(const json_t *step, struct texts *texts, struct graph_node *node)
{
    const char *name = answer_text(step, "name"), *state = answer_text(step, "state");
    strbuf_init(&texts->label);
    strbuf_init(&texts->note);
    text_print_safe(name, strlen(name), &texts->label);
    print_note(step, &texts->note);
    *node = (struct graph_node){
        .label = texts->label.text,
        .note = texts->note.length ? texts->note.text : "",
        .colour = colour_of(step),
        .is_hollow = has_state(step) &&
                     (!*state || strcmp(state, "waiting") == 0 || strcmp(state, "skipped") == 0),
    };
    enum status st = strbuf_status(&texts->label);
    return st == OK ? strbuf_status(&texts->note) : st;
}

enum exit_code steps_draw(const json_t *steps)
{
    size_t count = json_array_size(steps), edge_count = 0, i;
    const json_t *step;
    json_array_foreach (steps, i, step) {
        edge_count += json_array_size(json_object_get(step, "after"));
    }
    struct texts *texts = calloc(count + 1, sizeof(*texts));
    struct graph_node *nodes = calloc(count + 1, sizeof(*nodes));
    struct graph_edge *edges = calloc(edge_count + 1, sizeof(*edges));
    struct strbuf out;
    enum status st = texts && nodes && edges ? OK : E_NOMEM;
    strbuf_init(&out);
    for (i = 0; st == OK && i < count; i++)
        st = fill_node(json_array_get(steps, i), &texts[i], &nodes[i]);
    if (st == OK) {
        struct graph graph = {
            .nodes = nodes,
            .node_count = count,
            .edges = edges,
            .edge_count = fill_edges(steps, edges),
            .is_ascii = !locale_is_utf8(),
            .has_colour = terminal_of(stdout).colour,
        };
        st = graph_draw(&graph, &out);
    }
    if (st == OK && out.length)
        fputs(out.text, stdout);
    for (i = 0; texts && i < count; i++) {
        strbuf_release(&texts[i].label);
        strbuf_release(&texts[i].note);
    }
    strbuf_release(&out);
    free(texts);
    free(nodes);
    free(edges);
    return cli_fail(st);
}

/* ---- the table ---- */

static void print_after(const json_t *step, struct strbuf *out)
{
    const json_t *item;
    size_t i;
    json_array_foreach (json_object_get(step, "after"), i, item) {
        const char *on = answer_text(item, "on");
        strbuf_addf(out, "%s%s", i ? ", " : "", answer_text(item, "step"));
        if (*on && strcmp(on, "success") != 0)
            strbuf_addf(out, " (%s)", on);
    }
}

static void print_detail(const json_t *step, struct strbuf *out)
{
    const char *why = answer_text(step, "why"), *detail = answer_text(step, "detail");
    strbuf_addf(out, "%s%s%s", why, *why && *detail ? "; " : "", detail);
}

static void add_row(struct text_table *table, const json_t *step)
{
    struct strbuf text;
    strbuf_init(&text);
#define CELL(call)                                                                                 \
    (strbuf_truncate(&text, 0), call, text_table_cell(table, text.text ? text.text : ""))
    text_table_cell(table, answer_text(step, "name"));
    if (has_state(step)) {
        CELL(print_state(step, &text));
        CELL(print_took(step, &text));
        CELL(state_counts_print(json_object_get(step, "items"), &text));
        text_table_cell(table, answer_text(step, "node"));
        text_table_cell(table, answer_text(step, "run_id"));
        CELL(print_detail(step, &text));
    } else {
        CELL(print_what(step, &text));
        CELL(print_after(step, &text));
        CELL(add_short(&text, answer_text(step, "when")));
        text_table_cell(table, is_final(step) ? tr("finally") : "");
    }
#undef CELL
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

enum exit_code steps_table(const json_t *steps)
{
    static const char *const job_headers[] = {"STEP", "RUNS", "AFTER", "WHEN", "PART", NULL};
    static const char *const instance_headers[] = {"STEP", "STATE", "TOOK",   "ITEMS",
                                                   "NODE", "RUN",   "DETAIL", NULL};
    struct text_table table;
    const json_t *step;
    size_t i;
    text_table_init(&table, has_state(json_array_get(steps, 0)) ? instance_headers : job_headers);
    json_array_foreach (steps, i, step) {
        add_row(&table, step);
    }
    enum status st = text_table_print(&table, stdout);
    text_table_release(&table);
    return cli_fail(st);
}
