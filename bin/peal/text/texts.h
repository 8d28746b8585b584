/* All texts of the command line, with those of the API, for tr_begin. Each table ends with {0}; a
 * text is in one of them only. */
#ifndef PEAL_TEXTS_H
#define PEAL_TEXTS_H

#include "language.h"

extern const struct message zh_help[];      /* help of options, cli and main.c */
extern const struct message zh_common[];    /* options, cli, print */
extern const struct message zh_client[];    /* client */
extern const struct message zh_jobs[];      /* cmd/jobs, jobs */
extern const struct message zh_runs[];      /* cmd/runs */
extern const struct message zh_agent[];     /* cmd/agent, service */
extern const struct message zh_cluster[];   /* cmd/cluster */
extern const struct message zh_access[];    /* cmd/access */
extern const struct message zh_coord[];     /* cmd/coord, coord */
extern const struct message zh_documents[]; /* jobs/documents */

extern const struct message *const texts[]; /* ends with NULL */

#endif
