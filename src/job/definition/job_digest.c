#include "definition/job_digest.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"

/* Half of a SHA-256: nobody can make a second definition with the digest of a given one. */
void definition_digest(const char *text, size_t length, char ret[JOB_DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)text, length, sum);
    for (int i = 0; i < (JOB_DIGEST_TEXT - 1) / 2; i++) {
        ret[2 * i] = digits[sum[i] >> 4];
        ret[2 * i + 1] = digits[sum[i] & 15];
    }
    ret[JOB_DIGEST_TEXT - 1] = '\0';
}

enum status job_digest(const struct job *job, char ret[JOB_DIGEST_TEXT])
{
    char *text = job_encode_definition(job);
    if (!text)
        return E_NOMEM;
    definition_digest(text, strlen(text), ret);
    free(text);
    return OK;
}
