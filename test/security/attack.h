/* The attacks. Each prints what it found, and returns the status of the program: 0 if the server
 * withstood it. */
#ifndef PEAL_TEST_ATTACK_H
#define PEAL_TEST_ATTACK_H

#include "peer.h"

/* Requests that can be read in two ways: each is refused, and nothing behind it is read. */
int attack_framing(const struct target *target);

/* Requests with an unfinished one in their body, sent through a proxy: whoever asks next gets the
 * answer to what they asked. `token` is the next one's. */
int attack_swallow(const struct target *target, const char *token);

/* Strangers who send half of large requests, and many who send half of small ones: the server still
 * answers others. */
int attack_hold(const struct target *target, const char *token);

/* Strangers who take all connections, and say nothing: likewise. */
int attack_silent(const struct target *target, const char *token);

#endif
