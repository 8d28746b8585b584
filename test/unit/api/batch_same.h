/* A body as the scanner of batches reads it, and as jansson reads the whole. */
#ifndef PEAL_TEST_BATCH_SAME_H
#define PEAL_TEST_BATCH_SAME_H

#include <stdbool.h>
#include <stddef.h>

/* True if both refuse it, or both take it with the same items; a text with a zero byte must be
 * refused. *ret_taken: they take it. */
bool batch_is_same(const char *text, size_t length, bool *ret_taken);

#endif
