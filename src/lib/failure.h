/* What has failed, for the thread that asked: peal_why(). */
#ifndef PEAL_FAILURE_H
#define PEAL_FAILURE_H

#include "peal.h"
#include "status.h"

/* The error for the program; keeps the words, or those of the status if there are none. OK: 0. */
int lib_fail(enum status st, const char *why);

/* The same with an error that no status stands for. */
int lib_fail_as(enum peal_error error, const char *why);

int lib_fail_forked(void);

#endif
