#include "nth_alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int left; /* the one that brings it to 0 fails */
static atomic_bool failed;

void nth_alloc_plan(int n)
{
    atomic_store(&failed, false);
    atomic_store(&left, n);
}

bool nth_alloc_failed(void)
{
    return atomic_load(&failed);
}

static bool fails(void)
{
    int now = atomic_load(&left);
    while (now > 0 && !atomic_compare_exchange_weak(&left, &now, now - 1))
        ;
    if (now != 1)
        return false;
    atomic_store(&failed, true);
    errno = ENOMEM;
    return true;
}

/* ---- in front of libc's, see --wrap in ld(1) ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_asprintf(char **ret, const char *format, ...);
int __real_vasprintf(char **ret, const char *format, va_list arguments);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : __real_strndup(text, length);
}

__attribute__((format(printf, 2, 0))) int __wrap_vasprintf(char **ret, const char *format,
                                                           va_list arguments)
{
    return fails() ? -1 : __real_vasprintf(ret, format, arguments);
}

__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(ret, format, arguments);
    va_end(arguments);
    return length;
}
