/* An agent of another machine: its URL, the token that lets us in, and whom we believe. */
#ifndef PEAL_REMOTE_H
#define PEAL_REMOTE_H

#include <curl/curl.h>

#include "cli/cli.h"
#include "strbuf.h"

struct remote {
    struct strbuf url;   /* without a slash at its end; empty: there is none */
    struct strbuf token; /* "Authorization: Bearer ..."; empty: none */
    const char *ca;      /* a file; NULL: those that the system believes */
    char error[CURL_ERROR_SIZE];
    bool is_distrusted; /* the last call failed since its certificate is not believed */
};

/* From PEAL_URL, PEAL_TOKEN, PEAL_TOKEN_FILE and PEAL_CA, else the token of `peal login`. Without a
 * URL the token is for the agent of this machine, which wants one of jobs; a file that can't be
 * read is none, then. What is wrong has been told. Release it in any case. */
MUST_CHECK enum exit_code remote_init(struct remote *remote);
void remote_release(struct remote *remote);

/* EXIT_USAGE: what is secret would be read on the way, which has been told. */
MUST_CHECK enum exit_code remote_refuse_clear(const struct remote *remote);

/* Certificates are always checked. */
void remote_set_options(struct remote *remote, CURL *curl);

#endif
