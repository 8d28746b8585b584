/* A secret as the store has it: a document of the kind SECRET_DOC with its name. Its value is
 * encrypted; all else is readable, and authenticated with it. */
#ifndef PEAL_SECRET_DOC_H
#define PEAL_SECRET_DOC_H

#include "params/secret_use.h"
#include "secret_key.h"
#include "store.h"

#define SECRET_DOC "secret"

enum { SECRET_VALUE_MAX = 16 * 1024, SECRET_SHARES_MAX = 64 };

struct secret {
    char name[DOC_NAME_SIZE];
    int64_t revision; /* of the document */
    int64_t version;  /* of the value: 1 at first, one more with each new one */
    int64_t set_ms;   /* when, and by whom, the value was set */
    char by[64];
    char *
        *shares; /* NULL-terminated: namespaces whose jobs may use it, too; NULL: none; "*": all */
    char key_id[KEY_ID_SIZE];
    unsigned char nonce[SEAL_NONCE];
    unsigned char *sealed;
    size_t sealed_length;
};

void secret_release(struct secret *secret);

/* E_CORRUPT: it is no secret, or of a newer version. */
MUST_CHECK enum status secret_decode(const char *name, const char *json, struct secret *ret);

/* NULL: out of memory. */
char *secret_encode(const struct secret *secret);

/* Encrypts the value with the first key: after all other members are set. */
MUST_CHECK enum status secret_set_value(struct secret *secret, const struct secret_keys *keys,
                                        const char *value, size_t length);

/* *ret is a text on the heap: wipe it. E_NOT_FOUND: its key is not there. E_CORRUPT: somebody
 * without the key has changed it. */
MUST_CHECK enum status secret_value(const struct secret *secret, const struct secret_keys *keys,
                                    char **ret, size_t *ret_length);

/* What is wrong with a value; NULL: nothing. */
const char *secret_value_complaint(const char *value, size_t length);

/* May the job use it? */
bool secret_serves(const struct secret *secret, const char *job_name);

#endif
