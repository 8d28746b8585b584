/* A way to a server on this machine that breaks on demand: bytes go through a thread which can cut
 * the connection when the client sends something. */
#ifndef PEAL_CUTTER_H
#define PEAL_CUTTER_H

#include <stdbool.h>

struct cutter;

enum cut {
    CUT_REQUEST, /* what the client sent is not passed on */
    CUT_ANSWER,  /* it is, but nothing comes back */
    CUT_SHORT,   /* it is, but only the first half of what comes back arrives */
};

/* A loopback port of its own leads to `port`. What fails ends the program. */
struct cutter *cutter_new(int port);
struct cutter *cutter_free(struct cutter *cutter);
int cutter_port(const struct cutter *cutter);

/* When something comes from a client for the n-th time from now on (from 1), its connection is cut,
 * once. 0: none is. */
void cutter_plan(struct cutter *cutter, enum cut cut, int n);

/* Whether it has come to that. */
bool cutter_has_cut(const struct cutter *cutter);

#endif
