/* What commands that list something share: the options that narrow the list down, and the list in
 * the form that -o asks for. A table is rows of columns: a header and a member of the items. */
#ifndef PEAL_LISTING_H
#define PEAL_LISTING_H

#include "cli/text_table.h"
#include "cli/when.h"
#include "client/client.h"

struct list_request {
    struct request_base base;
    const char *job;
    int64_t count;
    enum output output;
    struct when_text since, until;
};

enum { LIST_COUNT_DEFAULT = 20, LIST_COLUMNS_MAX = 20 };
extern const struct option_row list_options[]; /* of such a request */

enum column_form {
    COLUMN_TEXT,
    COLUMN_NUMBER,    /* 0 if there is none */
    COLUMN_NUMBER_IF, /* empty if it is 0 */
    COLUMN_WORDS,     /* of a list, with commas */
    COLUMN_TIME,      /* by the clock of this machine */
    COLUMN_LEFT,      /* how long until then, or ago */
    COLUMN_TAKEN,     /* milliseconds as a span */
};

struct list_column {
    const char *header; /* NULL ends a table of columns */
    const char *field;  /* "status.next_at" is a member of a member */
    void (*print)(const json_t *item, struct strbuf *out); /* instead of it; NULL: by its form */
    enum column_form form;
    bool is_wide;       /* only with -o wide */
    unsigned char goes; /* order in which columns go on a narrow terminal, as in a text_table */
};

/* clang-format off */
#define COLUMN(title, member, ...) {.header = (title), .field = (member), __VA_ARGS__}
#define COLUMN_BY(title, function, ...) {.header = (title), .print = (function), __VA_ARGS__}
/* clang-format on */

/* How a list is shown. */
struct list_form {
    const char *name; /* the member that -o name prints, a text or a number */
    const struct list_column *columns;
    bool keeps_last;  /* columns go by their order, instead of from the end of the line */
    const char *none; /* instead of a table without rows; NULL: its header */
};

MUST_CHECK enum exit_code list_print(const json_t *list, enum output output,
                                     const struct list_form *form);

/* The same for a long list, part by part: what is there is shown before the rest was read. Not for
 * JSON and YAML, which are one value. */
struct list_printer {
    const struct list_form *form;
    struct text_table table;
    const struct list_column *shown[LIST_COLUMNS_MAX];
    unsigned char goes[LIST_COLUMNS_MAX];
    size_t count; /* of the columns; 0: names only */
};
void list_printer_init(struct list_printer *printer, enum output output,
                       const struct list_form *form);
MUST_CHECK enum exit_code list_printer_add(struct list_printer *printer, const json_t *part,
                                           bool is_last);
void list_printer_release(struct list_printer *printer);

/* Texts of a list, one after the other. */
void words_print(const json_t *list, const char *between, struct strbuf *out);

/* The `items` of one answer. */
MUST_CHECK enum exit_code list_show(struct client *client, const char *path, enum output output,
                                    const struct list_form *form);

#endif
