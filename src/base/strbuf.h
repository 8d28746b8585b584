/* A growing string. Appends never report failure one by one: out of memory is remembered and asked
 * for once at the end (strbuf_status), so that code which builds text stays readable. */
#ifndef PEAL_STRBUF_H
#define PEAL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct strbuf {
    char *text; /* always NUL-terminated; "" when empty; never NULL */
    size_t length;
    size_t capacity; /* 0: text is not on the heap */
    bool failed;
};

void strbuf_init(struct strbuf *buf);

/* Frees the memory; the buffer is empty and usable afterwards. */
void strbuf_release(struct strbuf *buf);
void strbuf_wipe(struct strbuf *buf); /* the same, of a text that is a secret */

void strbuf_reset(struct strbuf *buf);                /* empty, keeps its memory */
void strbuf_reserve(struct strbuf *buf, size_t more); /* room for so many bytes more, at once */
void strbuf_truncate(struct strbuf *buf, size_t length);
void strbuf_add(struct strbuf *buf, const void *bytes, size_t length);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addc(struct strbuf *buf, char c);
void strbuf_add_number(struct strbuf *buf, int64_t number); /* many times as fast as %lld */
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_addv(struct strbuf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* E_NOMEM if any append since init, reset or release failed. */
MUST_CHECK enum status strbuf_status(const struct strbuf *buf);

/* The text as a heap string that is the caller's, or NULL if an append failed; the buffer is empty
 * afterwards. */
MUST_CHECK char *strbuf_detach(struct strbuf *buf);

#endif
