/* Talks to the agent over the UNIX socket in its data folder, or to one of another machine by its
 * URL: one request, one answer (docs/API.md). Whatever goes wrong is told to the user here, so that
 * a command only hands on the exit code. */
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
extern const struct option_row data_option[]; /* of them --data alone */

/* `data` is the value of --data, or NULL: then $PEAL_URL goes before the default. Nothing is sent
 * yet. */
MUST_CHECK enum exit_code client_open(const char *data, struct client **ret);
struct client *client_close(struct client *client);

/* It was named by a URL. */
bool client_is_remote(const struct client *client);

/* Tells that the agent of this folder is another user's: EXIT_UNREACHABLE. */
enum exit_code client_not_for_us(const char *folder);

/* EXIT_USAGE: it is this machine's own, which has been told. */
MUST_CHECK enum exit_code client_must_be_remote(const struct client *client);

/* From now on it has a session rather than a token, as a browser would. EXIT_USAGE: the agent is
 * none of another machine, or would be told secrets in the clear; which has been told. */
MUST_CHECK enum exit_code client_keep_cookies(struct client *client);

const char *client_data(const struct client *client); /* the folder; of a remote one its URL */

struct reply {
    long status;       /* of HTTP; 0: no answer came */
    json_t *body;      /* NULL: none */
    char revision[24]; /* of the job, from its ETag */
    char cookie[400];  /* that it sets, as NAME=VALUE; empty: none */
};
void reply_release(struct reply *reply);

struct client_request {
    const char *method; /* NULL: GET */
    const char *path;   /* below /api/v1 */
    const json_t *body; /* NULL: none */
    const char *if_match;
    bool if_none_match; /* only if there is none yet */
};

/* Sends and waits. OK: an answer came, whatever it says. E_UNREACHABLE: nobody listens. E_UNKNOWN:
 * the connection broke, and the request may have been carried out. Nothing is told to the user. */
MUST_CHECK enum status client_try(struct client *client, const struct client_request *request,
                                  struct reply *ret);

/* The same, where anything but a status below 300 is told to the user. */
MUST_CHECK enum exit_code client_call(struct client *client, const struct client_request *request,
                                      struct reply *ret);
MUST_CHECK enum exit_code client_get(struct client *client, const char *path, json_t **ret);
MUST_CHECK enum exit_code client_post(struct client *client, const char *path, const json_t *body,
                                      json_t **ret);

/* Tells what client_try came back with, and the exit code that stands for it. */
enum exit_code client_report(struct client *client, enum status st, const struct reply *reply);

/* All items of a list that comes in pages, at most `limit` (0: no limit). `path` has its "?". */
MUST_CHECK enum exit_code client_list(struct client *client, const char *path, size_t limit,
                                      json_t **ret);

/* Appends `text` so that it can stand in a path or a query. */
void url_escape(struct strbuf *out, const char *text);

/* Appends "NAME=TEXT&" to a path that has its "?". */
void url_param(struct strbuf *path, const char *name, const char *text);

/* The values of all rows that have a field, as parameters of these names. */
void url_options(struct strbuf *path, const struct option_row *rows, const void *request);

/* The parameter job=NAME, once there is such a job, or one that was deleted and is still known: a
 * mistyped name would be an empty list. */
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

/* Asks for a job. What is not there is told together with the nearest name that is. */
MUST_CHECK enum exit_code client_job(struct client *client, const char *name, struct reply *ret);
/* The same of what is below it: "/versions". */
MUST_CHECK enum exit_code client_job_part(struct client *client, const char *name, const char *rest,
                                          struct reply *ret);

/* Tells that none of the items, a list, has this name, and which is the nearest; EXIT_NOT_FOUND. */
enum exit_code client_no_such(const char *noun, const char *name, const json_t *items,
                              const char *member, const char *see);

/* POST /jobs/NAME/ACTION, told in the same way. *ret may be NULL. */
MUST_CHECK enum exit_code client_job_action(struct client *client, const char *name,
                                            const char *action, const json_t *body, json_t **ret);

#endif
