#include "cli/listing.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "cli/when.h"
#include "text/tr.h"

enum { COUNT_MAX = 100000 };

const struct option_row list_options[] = {
    OPTION_NUMBER(list_request, count, 'n', "count", 1, COUNT_MAX,
                  "the maximum number of rows, newest first (20)"),
    OPTION_WHEN(list_request, since, "since", "start of the time range", .field = "since"),
    OPTION_WHEN(list_request, until, "until", "end of the time range", .field = "until"),
    OPTION_OUTPUT(list_request, output, OUTPUT_TEXT),
    OPTION_GROUP(list_request, base, client_options),
    {0},
};

static void print_names(const json_t *list, const char *name)
{
    const json_t *item;
    size_t i;
    json_array_foreach (list, i, item) {
        const json_t *value = json_object_get(item, name);
        if (json_is_integer(value))
            printf("%" PRId64 "\n", (int64_t)json_integer_value(value));
        else
            printf("%s\n", answer_text(item, name));
    }
}

void words_print(const json_t *list, const char *between, struct strbuf *out)
{
    const json_t *item;
    size_t i;
    json_array_foreach (list, i, item) {
        strbuf_adds(out, i ? between : "");
        strbuf_adds(out, json_string_value(item));
    }
}

static void print_field(const json_t *item, const struct list_column *column, struct strbuf *out)
{
    const char *field = column->field, *dot;
    for (; (dot = strchr(field, '.')); field = dot + 1)
        item = json_object_getn(item, field, (size_t)(dot - field));
    switch (column->form) {
    case COLUMN_TEXT:
        strbuf_adds(out, answer_text(item, field));
        break;
    case COLUMN_NUMBER:
    case COLUMN_NUMBER_IF:
        if (column->form == COLUMN_NUMBER || answer_int(item, field, 0))
            strbuf_addf(out, "%" PRId64, answer_int(item, field, 0));
        break;
    case COLUMN_WORDS:
        words_print(json_object_get(item, field), ",", out);
        break;
    case COLUMN_TIME:
        when_print_local(answer_time(item, field), out);
        break;
    case COLUMN_LEFT:
        when_print_left(answer_time(item, field), now_ms(), out);
        break;
    case COLUMN_TAKEN:
        when_print_taken(0, answer_int(item, field, NO_TIME), out);
        break;
    }
}

static void add_cell(struct text_table *table, const json_t *item, const struct list_column *column)
{
    struct strbuf text;
    strbuf_init(&text);
    if (column->print)
        column->print(item, &text);
    else
        print_field(item, column, &text);
    text_table_cell(table, text.text);
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

void list_printer_init(struct list_printer *printer, enum output output,
                       const struct list_form *form)
{
    const char *headers[LIST_COLUMNS_MAX + 1] = {NULL};
    *printer = (struct list_printer){.form = form};
    if (output > OUTPUT_WIDE)
        return;
    for (const struct list_column *column = form->columns; column->header; column++) {
        if (column->is_wide && output != OUTPUT_WIDE)
            continue;
        assert(printer->count < LIST_COLUMNS_MAX);
        headers[printer->count] = column->header;
        printer->goes[printer->count] = column->goes;
        printer->shown[printer->count++] = column;
    }
    text_table_init(&printer->table, headers);
    printer->table.goes = form->keeps_last ? printer->goes : NULL;
}

enum exit_code list_printer_add(struct list_printer *printer, const json_t *part, bool is_last)
{
    struct text_table *table = &printer->table;
    const json_t *item;
    size_t i;
    if (!printer->count) {
        print_names(part, printer->form->name);
        return EXIT_OK;
    }
    json_array_foreach (part, i, item) {
        for (size_t k = 0; k < printer->count; k++)
            add_cell(table, item, printer->shown[k]);
    }
    table->goes_on = !is_last;
    return cli_fail(text_table_print(table, stdout));
}

void list_printer_release(struct list_printer *printer)
{
    text_table_release(&printer->table);
}

enum exit_code list_print(const json_t *list, enum output output, const struct list_form *form)
{
    struct list_printer printer;
    if (output == OUTPUT_JSON || output == OUTPUT_YAML)
        return output_print(list, output);
    if (output <= OUTPUT_WIDE && json_array_size(list) == 0 && form->none) {
        fprintf(stderr, "%s\n", tr(form->none));
        return EXIT_OK;
    }
    list_printer_init(&printer, output, form);
    enum exit_code code = list_printer_add(&printer, list, true);
    list_printer_release(&printer);
    return code;
}

enum exit_code list_show(struct client *client, const char *path, enum output output,
                         const struct list_form *form)
{
    json_t *answer;
    enum exit_code code = client_get(client, path, &answer);
    if (code != EXIT_OK)
        return code;
    code = list_print(json_object_get(answer, "items"), output, form);
    json_decref(answer);
    return code;
}
