/* Replies, as freeReplyObject frees them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_play.h"

static redisReply *make(int type)
{
    redisReply *reply = calloc(1, sizeof(*reply));
    if (!reply)
        abort();
    reply->type = type;
    return reply;
}

static redisReply *with_bytes(int type, const void *bytes, size_t length)
{
    redisReply *reply = make(type);
    reply->str = malloc(length + 1);
    if (!reply->str)
        abort();
    if (length)
        memcpy(reply->str, bytes, length);
    reply->str[length] = '\0';
    reply->len = length;
    return reply;
}

redisReply *reply_int(long long number)
{
    redisReply *reply = make(REDIS_REPLY_INTEGER);
    reply->integer = number;
    return reply;
}

redisReply *reply_bytes(const void *bytes, size_t length)
{
    return with_bytes(REDIS_REPLY_STRING, bytes, length);
}

redisReply *reply_text(const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return reply_bytes(text, (size_t)length);
}

redisReply *reply_error(const char *text)
{
    return with_bytes(REDIS_REPLY_ERROR, text, strlen(text));
}

redisReply *reply_status(const char *text)
{
    return with_bytes(REDIS_REPLY_STATUS, text, strlen(text));
}

redisReply *reply_nil(void)
{
    return make(REDIS_REPLY_NIL);
}

redisReply *reply_array(size_t count)
{
    redisReply *reply = make(REDIS_REPLY_ARRAY);
    reply->element = calloc(count + 1, sizeof(redisReply *));
    if (!reply->element)
        abort();
    reply->elements = count;
    return reply;
}

void reply_add(redisReply *array, redisReply *element)
{
    array->element = realloc(array->element, (array->elements + 1) * sizeof(redisReply *));
    if (!array->element)
        abort();
    array->element[array->elements++] = element;
}
