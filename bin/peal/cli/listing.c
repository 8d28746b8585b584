#include "cli/listing.h"

#include <inttypes.h>

#include "cli/when.h"

enum { COUNT_MAX = 100000 };

const struct option_row list_options[] = {
    OPTION_NUMBER(list_request, count, 'n', "count", 1, COUNT_MAX,
                  "at most so many, newest first (20)"),
    OPTION_WHEN(list_request, since, "since", "from this time on", .field = "since"),
    OPTION_WHEN(list_request, until, "until", "until this time", .field = "until"),
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

static enum exit_code print_table(const json_t *list, const struct list_form *form, bool wide)
{
    struct text_table table;
    const json_t *item;
    size_t i;
    text_table_init(&table, wide && form->wide_headers ? form->wide_headers : form->headers);
    json_array_foreach (list, i, item) {
        form->add_row(&table, item, wide);
    }
    enum status st = text_table_print(&table, stdout);
    text_table_release(&table);
    return cli_fail(st);
}

enum exit_code list_print(const json_t *list, enum output output, const struct list_form *form)
{
    switch (output) {
    case OUTPUT_TABLE:
    case OUTPUT_WIDE:
        if (json_array_size(list) || !form->none)
            return print_table(list, form, output == OUTPUT_WIDE);
        fprintf(stderr, "%s\n", form->none);
        break;
    case OUTPUT_JSON:
    case OUTPUT_YAML:
        return output_print(list, output);
    case OUTPUT_NAME:
        print_names(list, form->name);
        break;
    }
    return EXIT_OK;
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
