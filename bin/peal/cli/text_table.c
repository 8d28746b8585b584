#include "cli/text_table.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/text_width.h"
#include "strbuf.h"
#include "text/tr.h"

enum {
    GAP = 2,        /* between two columns */
    LEAST_CUT = 26, /* cells are not cut below this: ids of runs and times stay whole ... */
    LEAST = 8,      /* ... as long as there are columns that may go */
};

void text_table_init(struct text_table *table, const char *const *headers)
{
    *table = (struct text_table){0};
    while (headers[table->columns])
        table->columns++;
    assert(table->columns > 0);
    for (size_t i = 0; i < table->columns; i++)
        text_table_cell(table, tr(headers[i]));
}

void text_table_release(struct text_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->widths);
    *table = (struct text_table){0};
}

void text_table_cell(struct text_table *table, const char *text)
{
    struct strbuf safe;
    if (table->status != OK)
        return;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        char **cells = reallocarray(table->cells, capacity, sizeof(*cells));
        if (!cells) {
            table->status = E_NOMEM;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    strbuf_init(&safe);
    text_print_safe(text, strlen(text), &safe);
    char *cell = strbuf_detach(&safe);
    if (cell)
        table->cells[table->count++] = cell;
    else
        table->status = E_NOMEM;
}

/* The width of each column, 0 for one that is left out. */
static void measure(const struct text_table *table, int *widths)
{
    for (size_t column = 0; column < table->columns; column++) {
        bool used = column == 0 || table->goes_on;
        widths[column] = 0;
        for (size_t i = column; i < table->count; i += table->columns) {
            int width = text_width(table->cells[i]);
            used = used || (i >= table->columns && width > 0);
            if (width > widths[column])
                widths[column] = width;
        }
        if (!used)
            widths[column] = 0;
    }
}

static int sum(const struct text_table *table, const int *widths)
{
    int all = -GAP;
    for (size_t column = 0; column < table->columns; column++)
        all += widths[column] ? widths[column] + GAP : 0;
    return all;
}

/* Narrows the widest column until all fit into `room`, or none is wider than `least`. */
static void narrow(const struct text_table *table, int room, int least, int *widths)
{
    for (int over = sum(table, widths) - room; over > 0; over--) {
        size_t widest = 0;
        for (size_t column = 1; column < table->columns; column++) {
            if (widths[column] > widths[widest])
                widest = column;
        }
        if (widths[widest] <= least)
            return;
        widths[widest]--;
    }
}

/* Drops the column that goes first; false: all others stay. */
static bool drop_one(const struct text_table *table, int *widths)
{
    size_t first = table->columns;
    for (size_t column = 0; table->goes && column < table->columns; column++) {
        unsigned char order = table->goes[column];
        if (order && widths[column] && (first == table->columns || order < table->goes[first]))
            first = column;
    }
    if (first == table->columns)
        return false;
    widths[first] = 0;
    return true;
}

/* The columns that are left have as much room as there is now. */
static void fit(const struct text_table *table, int room, int *widths, const int *whole)
{
    narrow(table, room, LEAST_CUT, widths);
    while (sum(table, widths) > room && drop_one(table, widths)) {
        for (size_t column = 0; column < table->columns; column++)
            widths[column] = widths[column] ? whole[column] : 0;
        narrow(table, room, LEAST_CUT, widths);
    }
    if (table->goes)
        narrow(table, room, LEAST, widths);
}

/* Appends the cell, cut to the width of its column; returns the columns that it takes. */
static int format_cell(const char *cell, int width, struct strbuf *line)
{
    int whole = text_width(cell);
    if (whole <= width) {
        strbuf_adds(line, cell);
        return whole;
    }
    size_t from = line->length;
    strbuf_add(line, cell, text_fit(cell, width - 1));
    strbuf_adds(line, "…");
    return line->failed ? width : text_width(line->text + from);
}

/* Padding is written before the next cell, so that lines have no trailing blanks. */
static void format_row(const struct text_table *table, size_t row, const int *widths,
                       struct strbuf *line)
{
    int blanks = 0;
    for (size_t column = 0; column < table->columns; column++) {
        const char *cell = table->cells[row * table->columns + column];
        if (widths[column] == 0)
            continue;
        int used = 0;
        if (*cell) {
            strbuf_addf(line, "%*s", blanks, "");
            used = format_cell(cell, widths[column], line);
            blanks = 0;
        }
        blanks += widths[column] - used + GAP;
    }
}

static void print_row(const struct strbuf *line, bool header, struct terminal terminal, FILE *out)
{
    bool bold = header && terminal.colour;
    bool cut = terminal.columns > 0 && text_width(line->text) > terminal.columns;
    size_t length = cut ? text_fit(line->text, terminal.columns - 1) : line->length;
    fprintf(out, "%s%.*s%s%s\n", bold ? "\033[1m" : "", (int)length, line->text, cut ? "…" : "",
            bold ? "\033[0m" : "");
}

/* The widths of a table, or of its first rows. */
static int *first_widths(const struct text_table *table, int room)
{
    int *widths = calloc(2 * table->columns, sizeof(*widths));
    if (!widths)
        return NULL;
    int *whole = widths + table->columns;
    measure(table, widths);
    measure(table, whole);
    if (room > 0)
        fit(table, room, widths, whole);
    return widths;
}

/* Further rows: what fits a terminal stays so; elsewhere columns grow, so that nothing is cut. */
static void widen(struct text_table *table, int room)
{
    for (size_t i = table->columns; i < table->count && room <= 0; i++) {
        int *width = &table->widths[i % table->columns];
        int wanted = text_width(table->cells[i]);
        if (*width && wanted > *width)
            *width = wanted;
    }
}

static void drop_rows(struct text_table *table)
{
    while (table->count > table->columns)
        free(table->cells[--table->count]);
}

enum status text_table_print(struct text_table *table, FILE *out)
{
    struct terminal terminal = terminal_of(out);
    struct strbuf line;
    if (table->status != OK)
        return table->status;
    assert(table->count % table->columns == 0);
    if (table->room)
        terminal.columns = table->room;
    bool is_first = !table->widths;
    if (is_first)
        table->widths = first_widths(table, terminal.columns);
    else
        widen(table, terminal.columns);
    if (!table->widths)
        return E_NOMEM;
    strbuf_init(&line);
    for (size_t row = is_first ? 0 : 1; row < table->count / table->columns; row++) {
        strbuf_truncate(&line, 0);
        format_row(table, row, table->widths, &line);
        print_row(&line, row == 0, terminal, out);
    }
    enum status st = strbuf_status(&line);
    strbuf_release(&line);
    drop_rows(table);
    return st;
}
