/* What the commands of small documents share: calendars, channels, users, tokens. A command is its
 * form and the rows of its subcommands; list, show and delete are the same for all. */
#ifndef PEAL_CLIENT_DOCUMENTS_H
#define PEAL_CLIENT_DOCUMENTS_H

#include "cli/listing.h"

/* What the request of each of them starts with. */
struct doc_request {
    struct request_base base;
    const char *name;
    bool yes;
    enum output output;
};

struct doc_form {
    const char *noun;        /* "calendar": the command, and with an s the path */
    struct list_form list;   /* its name is a member of all of them */
    const char *deleted_too; /* what the question before a delete adds: ", and their tokens" */
    void (*print)(const json_t *item);                  /* to show it; NULL: as YAML */
    const char *const *not_in_yaml;                     /* members, end with NULL; NULL: none */
    void (*tell)(const json_t *item, const char *what); /* NULL: "NAME: what" */
};

extern const struct option_row doc_output_options[], doc_delete_options[];

/* clang-format off */
#define DOC_LIST(form, kind, text) \
    {.name = kind " list", .summary = (text), .options = doc_output_options, \
     .too_many = "peal " kind " list takes no name", .with_agent = doc_list, .documents = (form)}
#define DOC_SHOW(form, kind, rows, text) \
    {.name = kind " show", .summary = (text), .arguments = (rows), .options = doc_output_options, \
     .wrong_count = "name one " kind, .with_agent = doc_show, .documents = (form)}
#define DOC_DELETE(form, kind, rows, text) \
    {.name = kind " delete", .summary = (text), .arguments = (rows), .options = doc_delete_options, \
     .wrong_count = "name one " kind, .with_agent = doc_delete, .documents = (form)}
/* clang-format on */

/* Subcommands; the request starts with a doc_request. */
enum exit_code doc_list(struct client *client, void *place);
enum exit_code doc_show(struct client *client, void *place);
enum exit_code doc_delete(struct client *client, void *place);

/* "/calendars/NAME", and what follows. */
const char *doc_path(const struct doc_request *request, const char *rest, struct strbuf *out);

/* Asks about the one that the request names; one that is not there is told with where those are
 * that are. */
MUST_CHECK enum exit_code doc_call(struct client *client, const struct doc_request *request,
                                   struct client_request call, const char *rest, struct reply *ret);

/* Sends it, and tells that it is done: "otto: changed, viewer". */
MUST_CHECK enum exit_code doc_change(struct client *client, const struct doc_request *request,
                                     const char *method, const json_t *body, const char *what);

#endif
