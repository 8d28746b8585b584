/* What commands that list something share: the options that narrow the list down, and the list in
 * the form that -o asks for. */
#ifndef PEAL_LISTING_H
#define PEAL_LISTING_H

#include "cli/text_table.h"
#include "client/client.h"

struct list_request {
    const char *data;
    int64_t count;
    enum output output;
    struct strbuf path; /* grows by the parameters */
};

enum { OPTION_SINCE = OPTION_LONG_ONLY + 600, OPTION_UNTIL, LIST_COUNT_DEFAULT = 20 };
/* clang-format off */
#define LIST_OPTIONS                                                                               \
    CLIENT_OPTIONS, OUTPUT_OPTION, {"count", required_argument, NULL, 'n'},                        \
        {"since", required_argument, NULL, OPTION_SINCE},                                          \
        {"until", required_argument, NULL, OPTION_UNTIL}
/* clang-format on */

/* One of these options. False: it is none, or wrong, which has been reported. */
bool list_option(const struct command *self, int opt, struct list_request *request);

/* How a list is shown. */
struct list_form {
    const char *name;                /* the member that -o name prints, a text or a number */
    const char *const *headers;      /* end with NULL */
    const char *const *wide_headers; /* NULL: the same */
    const char *none;                /* instead of a table without rows; NULL: its header */
    void (*add_row)(struct text_table *table, const json_t *item, bool wide);
};

MUST_CHECK enum exit_code list_print(const json_t *list, enum output output,
                                     const struct list_form *form);

/* The `items` of one answer. */
MUST_CHECK enum exit_code list_show(struct client *client, const char *path, enum output output,
                                    const struct list_form *form);

#endif
