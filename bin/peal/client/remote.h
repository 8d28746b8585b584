/* A remote agent: its URL, the token, and the trusted authorities. */
#ifndef PEAL_REMOTE_H
#define PEAL_REMOTE_H

#include <curl/curl.h>

#include "cli/cli.h"
#include "strbuf.h"

struct remote {
    struct strbuf url;   /* without a trailing slash; empty: none */
    struct strbuf token; /* "Authorization: Bearer ..."; empty: none */
    const char *ca;      /* a PEM file; NULL: the system's authorities */
    char error[CURL_ERROR_SIZE];
    bool is_distrusted; /* the last call failed because of its certificate */
};

/* From PEAL_URL, PEAL_TOKEN, PEAL_TOKEN_FILE and PEAL_CA, else the token of `peal login`. Without a
 * URL the token is for this machine's agent, which requires one from jobs; an unreadable token file
 * is ignored then. Errors are reported. Release it in any case. */
MUST_CHECK enum exit_code remote_init(struct remote *remote);
void remote_release(struct remote *remote);

/* EXIT_USAGE: secrets would be sent unencrypted; reported. */
MUST_CHECK enum exit_code remote_refuse_clear(const struct remote *remote);

/* Certificates are always checked. */
void remote_set_options(struct remote *remote, CURL *curl);

#endif
