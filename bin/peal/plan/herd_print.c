#include "plan/herd_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/text_table.h"
#include "cli/when.h"
#include "text/tr.h"

enum { BAR = 40, NUMBER_SIZE = 24 };

static void cell_number(struct text_table *table, int64_t number)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof(text), "%" PRId64, number);
    text_table_cell(table, text);
}

static void print_summary(const json_t *herd, const struct herd_room *room)
{
    printf(tr("%" PRId64 " starts of %" PRId64 " jobs from %s to %s"),
           answer_int(json_object_get(herd, "now"), "starts", 0), answer_int(herd, "jobs", 0),
           answer_text(herd, "from"), answer_text(herd, "until"));
    putchar('\n');
    if (!room)
        return;
    printf(tr("%zu nodes take runs; their capacity: %" PRId64), room->nodes, room->capacity);
    putchar('\n');
}

/* What the agent's maintenance keeps from starting. */
static void print_windows(const json_t *windows)
{
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        const char *space = answer_text(window, "namespace"), *to = answer_text(window, "to");
        const char *reason = answer_text(window, "reason");
        bool is_pause = strcmp(answer_text(window, "kind"), "pause") == 0;
        printf(tr(is_pause ? TR("%" PRId64 " of them fall in the pause of ")
                           : TR("%" PRId64 " of them fall in maintenance of ")),
               answer_int(window, "starts", 0));
        if (*space)
            printf(tr("namespace %s"), space);
        else
            fputs(tr("the cluster"), stdout);
        printf(": %s%s%s", answer_text(window, "from"), *to ? tr(" to ") : "", to);
        if (*reason)
            printf(" (%s)", reason);
        putchar('\n');
    }
}

/* Limits of groups that make some of the starts wait. */
static void print_groups(const json_t *groups)
{
    const json_t *group;
    size_t i;
    json_array_foreach (groups, i, group) {
        const char *where = answer_text(group, "where");
        printf(tr("group %s: at most %" PRId64 " at once, and up to %" PRId64
                  " start in one second (%s); in %" PRId64 " seconds some wait, %" PRId64
                  " in all"),
               answer_text(group, "group"), answer_int(group, "most", 0),
               answer_int(group, "starts", 0), answer_text(group, "at"),
               answer_int(group, "seconds", 0), answer_int(group, "waiting", 0));
        if (*where)
            printf(tr("; on nodes with %s"), where);
        putchar('\n');
    }
}

/* "a, b, ..." */
static void add_names(const json_t *names, int64_t starts, struct strbuf *out)
{
    const json_t *name;
    size_t i;
    json_array_foreach (names, i, name) {
        strbuf_addf(out, "%s%s", i ? ", " : "", json_string_value(name));
    }
    if ((int64_t)json_array_size(names) < starts)
        strbuf_adds(out, ", ...");
}

static enum status print_seconds(const json_t *seconds)
{
    static const char *const headers[] = {"STARTS", "THEN", "AT (UTC)", "JOBS", NULL};
    struct text_table table;
    struct strbuf names;
    const json_t *second;
    size_t i;
    if (!json_array_size(seconds))
        return OK;
    strbuf_init(&names);
    text_table_init(&table, headers);
    json_array_foreach (seconds, i, second) {
        cell_number(&table, answer_int(second, "starts", 0));
        cell_number(&table, answer_int(second, "then", 0));
        text_table_cell(&table, answer_text(second, "at"));
        add_names(json_object_get(second, "jobs"), answer_int(second, "starts", 0), &names);
        text_table_cell(&table, names.text);
        strbuf_truncate(&names, 0);
    }
    putchar('\n');
    enum status st = strbuf_status(&names);
    if (st == OK)
        st = text_table_print(&table, stdout);
    text_table_release(&table);
    strbuf_release(&names);
    return st;
}

/* A bar whose length grows with the logarithm: one busy second is seen beside 100,000 quiet ones.
 */
static void add_bar(int64_t seconds, struct strbuf *out)
{
    int length = 1;
    for (int64_t left = seconds; left > 1 && length < BAR; left /= 2)
        length += 2;
    for (int i = 0; i < length; i++)
        strbuf_addc(out, '#');
}

static int64_t seconds_of(const json_t *crowd, int64_t from)
{
    const json_t *class;
    size_t i;
    json_array_foreach (json_object_get(crowd, "classes"), i, class) {
        if (answer_int(class, "from", 0) == from)
            return answer_int(class, "seconds", 0);
    }
    return 0;
}

static enum status print_classes(const json_t *now, const json_t *spread)
{
    static const char *const headers[] = {"STARTS IN A SECOND", "SECONDS", "THEN", "", NULL};
    struct text_table table;
    struct strbuf text;
    int64_t worst = answer_int(now, "worst", 0);
    if (!worst)
        return OK;
    text_table_init(&table, headers);
    strbuf_init(&text);
    for (int64_t from = 1; from <= worst; from *= 2) {
        int64_t seconds = seconds_of(now, from);
        strbuf_addf(&text, from == 1 ? "%" PRId64 : "%" PRId64 "-%" PRId64, from, from * 2 - 1);
        text_table_cell(&table, text.text);
        strbuf_truncate(&text, 0);
        cell_number(&table, seconds);
        cell_number(&table, seconds_of(spread, from));
        if (seconds)
            add_bar(seconds, &text);
        text_table_cell(&table, text.text);
        strbuf_truncate(&text, 0);
    }
    putchar('\n');
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = text_table_print(&table, stdout);
    strbuf_release(&text);
    text_table_release(&table);
    return st;
}

static enum status print_proposals(const json_t *herd, size_t most)
{
    static const char *const headers[] = {"JOB", "SCHEDULE", "PROPOSED", "STARTS", "THEN", NULL};
    const json_t *list = json_object_get(herd, "proposals"), *one;
    struct text_table table;
    size_t i;
    if (!json_array_size(list))
        return OK;
    text_table_init(&table, headers);
    json_array_foreach (list, i, one) {
        const char *schedule = answer_text(one, "schedule");
        char text[80];
        if (i == most)
            break;
        snprintf(text, sizeof(text), "jitter: %s", answer_text(one, "jitter"));
        text_table_cell(&table, answer_text(one, "job"));
        text_table_cell(&table, answer_text(one, "before"));
        text_table_cell(&table, *schedule ? schedule : text);
        cell_number(&table, answer_int(one, "worst", 0));
        cell_number(&table, answer_int(one, "then", 0));
    }
    putchar('\n');
    enum status st = text_table_print(&table, stdout);
    text_table_release(&table);
    return st;
}

/* Why jobs in crowded seconds are left alone. */
static void print_kept(const json_t *kept)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
        {"label", TR("they have the label herd=keep")},
        {"awaited", TR("other jobs wait for them")},
        {"instant", TR("@at")},
        {"spread", TR("they have H, ~, R or jitter already")},
        {"several", TR("they have several schedules")},
        {"deadline", TR("a later start could miss their deadline")},
        {"no_use", TR("nothing would help them")},
    };
    const char *name;
    json_t *count;
    if (json_object_size(kept))
        putchar('\n');
    json_object_foreach ((json_t *)kept, name, count) {
        const char *text = name;
        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
            if (strcmp(name, reasons[i].name) == 0)
                text = tr(reasons[i].text);
        }
        printf(tr("%" PRId64 " left alone: %s"), (int64_t)json_integer_value(count), text);
        putchar('\n');
    }
}

enum status herd_print(const json_t *herd, const struct herd_room *room, size_t most)
{
    const json_t *now = json_object_get(herd, "now"), *spread = json_object_get(herd, "spread");
    int64_t proposed = answer_int(herd, "proposed", 0), worst = answer_int(now, "worst", 0);
    print_summary(herd, room);
    print_windows(json_object_get(herd, "maintenance"));
    print_groups(json_object_get(herd, "groups"));
    enum status st = print_seconds(json_object_get(herd, "seconds"));
    if (st == OK)
        st = print_classes(now, spread);
    if (st == OK)
        st = print_proposals(herd, most);
    if (st != OK)
        return st;
    if (proposed > (int64_t)most)
        printf(tr("and %" PRId64 " more\n"), proposed - (int64_t)most);
    print_kept(json_object_get(herd, "kept"));
    putchar('\n');
    if (proposed)
        printf(tr("%" PRId64 " jobs could be spread: the worst second would have %" PRId64
                  " starts instead of %" PRId64),
               proposed, answer_int(spread, "worst", 0), worst);
    else if (worst > answer_int(herd, "at_most", 0))
        printf(tr("no job can be spread; the worst second has %" PRId64 " starts"), worst);
    else
        printf(tr("no second has more than %" PRId64 " starts"), answer_int(herd, "at_most", 0));
    putchar('\n');
    return OK;
}
