/* What commands that list something share: the options that narrow the list down, and the list in
 * the form that -o asks for. */
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

enum { LIST_COUNT_DEFAULT = 20 };
extern const struct option_row list_options[]; /* of such a request */

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
