/* The client of the agent's API (docs/API.md), over the UNIX socket in its data folder, or to
 * another machine by URL. Errors are reported to the user here, so that commands only pass on the
 * exit code. */
#ifndef PEAL_CLIENT_H
#define PEAL_CLIENT_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "strbuf.h"

struct client;

/* Options of every command that talks to an agent: places in a request_base, or the environment. */
extern const struct option_row client_options[];
#define ONE_JOB "which job? One at a time"    /* too_few, and too_many */
extern const struct option_row data_option[]; /* only --data */

/* `data` is the value of --data; NULL: $PEAL_URL, else the default. Nothing is sent yet. */
MUST_CHECK enum exit_code client_open(const char *data, struct client **ret);
struct client *client_close(struct client *client);

/* Was it opened by a URL? */
bool client_is_remote(const struct client *client);

/* Reports that the agent of this folder is another user's: EXIT_UNREACHABLE. */
enum exit_code client_not_for_us(const char *folder);

/* EXIT_USAGE: it is this machine's agent; reported. */
MUST_CHECK enum exit_code client_must_be_remote(const struct client *client);

/* Uses a session cookie instead of a token, like a browser. EXIT_USAGE: the agent is not remote, or
 * secrets would be sent unencrypted; reported. */
MUST_CHECK enum exit_code client_keep_cookies(struct client *client);

const char *client_data(const struct client *client); /* the folder, or the URL of a remote agent */

struct reply {
    long status;       /* HTTP status; 0: no answer */
    json_t *body;      /* NULL: none */
    char revision[24]; /* of the job, from its ETag */
    char cookie[400];  /* from Set-Cookie, as NAME=VALUE; empty: none */
};
void reply_release(struct reply *reply);

struct client_request {
    const char *method; /* NULL: GET */
    const char *path;   /* below /api/v1 */
    const json_t *body; /* NULL: none, or the text */
    const char *text;   /* the body as JSON text; NULL: none */
    const char *if_match;
    bool if_none_match; /* only if it does not exist yet */
};

/* Sends and waits. OK: any answer came. E_UNREACHABLE: nobody listens. E_UNKNOWN: the connection
 * broke, and the request may have been done. Nothing is reported. */
MUST_CHECK enum status client_try(struct client *client, const struct client_request *request,
                                  struct reply *ret);

/* The same; anything but a status below 300 is reported. */
MUST_CHECK enum exit_code client_call(struct client *client, const struct client_request *request,
                                      struct reply *ret);
MUST_CHECK enum exit_code client_get(struct client *client, const char *path, json_t **ret);
MUST_CHECK enum exit_code client_post(struct client *client, const char *path, const json_t *body,
                                      json_t **ret);

/* Tells which nodes an answer lacks; once per command, however many pages it reads. */
void client_tell_incomplete(struct client *client, const json_t *body);

/* The exit code of an answer with this HTTP status. */
enum exit_code client_code_of(long status);

/* Reports the result of client_try; returns its exit code. */
enum exit_code client_report(struct client *client, enum status st, const struct reply *reply);

/* All items of a paged list, at most `limit` (0: no limit). `path` includes its "?". */
MUST_CHECK enum exit_code client_list(struct client *client, const char *path, size_t limit,
                                      json_t **ret);

/* The same, page by page. `is_last`: there is no further one. EXIT_OK from `page` goes on. */
typedef enum exit_code client_page(void *context, const json_t *items, bool is_last);
MUST_CHECK enum exit_code client_pages(struct client *client, const char *path, size_t limit,
                                       client_page *page, void *context);

/* Appends `text`, percent-encoded for a path or a query. */
void url_escape(struct strbuf *out, const char *text);

/* Appends "NAME=TEXT&" to a path that includes its "?". */
void url_param(struct strbuf *path, const char *name, const char *text);

/* The values of all rows that have a field, as parameters of these names. */
void url_options(struct strbuf *path, const struct option_row *rows, const void *request);

/* Appends job=NAME after checking that the job exists or existed: a mistyped name would give an
 * empty list. */
MUST_CHECK enum exit_code url_job_param(struct client *client, const char *name,
                                        struct strbuf *path);

/* `path`, which has its "?", with the parameters of url_options and, unless it is NULL,
 * url_job_param in *out, which is empty before. */
MUST_CHECK enum exit_code url_query(struct client *client, const char *path,
                                    const struct option_row *rows, const void *request,
                                    const char *job, struct strbuf *out);

/* "/jobs/NAME" and what follows, in *out, which is emptied before. */
const char *job_path(struct strbuf *out, const char *name, const char *rest);
const char *run_path(struct strbuf *out, const char *run_id, const char *rest);

/* Gets a job. A missing one is reported with the nearest existing name. */
MUST_CHECK enum exit_code client_job(struct client *client, const char *name, struct reply *ret);
/* The same for a path below it: "/versions". */
MUST_CHECK enum exit_code client_job_part(struct client *client, const char *name, const char *rest,
                                          struct reply *ret);

/* Tells that none of the items, a list, has this name, and which is the nearest; EXIT_NOT_FOUND.
 * `noun` is English. */
enum exit_code client_no_such(const char *noun, const char *name, const json_t *items,
                              const char *member, const char *see);

/* POST /jobs/NAME/ACTION, told in the same way. *ret may be NULL. */
MUST_CHECK enum exit_code client_job_action(struct client *client, const char *name,
                                            const char *action, const json_t *body, json_t **ret);

#endif
