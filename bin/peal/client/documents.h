/* Shared by the commands of small documents: calendars, channels, users, tokens. A command has a
 * form and the rows of its subcommands; list, show and delete are common to all. */
#ifndef PEAL_CLIENT_DOCUMENTS_H
#define PEAL_CLIENT_DOCUMENTS_H

#include "cli/listing.h"

/* The start of each command's request. */
struct doc_request {
    struct request_base base;
    const char *name;
    bool yes;
    enum output output;
};

struct doc_form {
    const char *noun; /* "calendar": name of the command; with an s in paths */
    struct list_form list;
    const char *deleted_too; /* added to the question before a delete: ", and their tokens" */
    void (*print)(const json_t *item); /* for show; NULL: as YAML */
    const char *const *not_in_yaml;    /* omitted members, NULL-terminated, or NULL */
    void (*tell)(const json_t *item, const char *what); /* reports a change; NULL: "NAME: what" */
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

/* Subcommands; `place` is a request that starts with a doc_request. */
enum exit_code doc_list(struct client *client, void *place);
enum exit_code doc_show(struct client *client, void *place);
enum exit_code doc_delete(struct client *client, void *place);

/* "/calendars/NAME", followed by `rest`. */
const char *doc_path(const struct doc_request *request, const char *rest, struct strbuf *out);

/* Sends a call for the document that the request names. If it is missing, the error mentions the
 * list command. */
MUST_CHECK enum exit_code doc_call(struct client *client, const struct doc_request *request,
                                   struct client_request call, const char *rest, struct reply *ret);

/* Sends a change, and reports it: "otto: changed, viewer". `what` is English. */
MUST_CHECK enum exit_code doc_change(struct client *client, const struct doc_request *request,
                                     const char *method, const json_t *body, const char *what);

#endif
