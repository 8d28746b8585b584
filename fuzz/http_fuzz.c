/* Any bytes as requests on one connection, in whatever pieces: what is read byte by byte is what is
 * read at once, every span lies inside the head, and a body is never longer than what came. The
 * first byte says where the rest is cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chunked.h"
#include "head.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_span(const struct http_head *head, struct http_span span)
{
    require((size_t)span.at + span.length <= head->size);
}

/* What RFC 9112 wants of a head that is taken, looked for in another way than the reader does. */
static void check_whole(const struct http_head *head, const char *bytes, size_t length)
{
    require(head->size >= 4 && head->size <= length && head->size <= HTTP_HEAD_MAX);
    require(memmem(bytes, head->size, "\r\n\r\n", 4) == bytes + head->size - 4);
    require(!memchr(bytes, 0, head->size) && bytes[head->target.at] == '/');
    require(!head->is_chunked || !head->body_length);
    for (size_t i = 0; i < head->size; i++)
        require((bytes[i] == '\n') == (i && bytes[i - 1] == '\r'));
    for (size_t i = 0; i < head->field_count; i++) {
        check_span(head, head->fields[i].name);
        check_span(head, head->fields[i].value);
        require(bytes[head->fields[i].name.at + head->fields[i].name.length] == ':');
    }
}

static enum http_head_state read_in_steps(struct http_head *head, const char *bytes, size_t length,
                                          size_t step)
{
    enum http_head_state state = HTTP_HEAD_MORE;
    http_head_init(head);
    for (size_t come = 0; come < length && state == HTTP_HEAD_MORE;) {
        come = length - come < step ? length : come + step;
        char *copy = malloc(come); /* elsewhere every time, and not a byte longer */
        require(copy != NULL);
        memcpy(copy, bytes, come);
        state = http_head_read(head, copy, come);
        free(copy);
    }
    return state;
}

static void compare(const struct http_head *a, const struct http_head *b)
{
    require(a->status == b->status && a->size == b->size && a->method == b->method);
    require(a->is_old == b->is_old && a->closes == b->closes && a->is_chunked == b->is_chunked);
    require(a->body_length == b->body_length && a->field_count == b->field_count);
}

/* Returns how many bytes the body takes; 0: it is bad, or not all of it is there. */
static size_t read_body(const char *bytes, size_t length, size_t step)
{
    struct http_chunked chunked;
    enum http_chunked_state state = HTTP_CHUNKED_MORE;
    size_t used = 0, total = 0, taken, held;
    http_chunked_init(&chunked);
    while (used < length && state == HTTP_CHUNKED_MORE) {
        size_t piece = length - used < step ? length - used : step;
        char *out = malloc(piece);
        require(out != NULL);
        state = http_chunked_read(&chunked, bytes + used, piece, out, &taken, &held);
        require(taken <= piece && held <= taken);
        require(state != HTTP_CHUNKED_MORE || taken == piece);
        used += taken;
        total += held;
        free(out);
    }
    require(total <= chunked.total);
    require(state != HTTP_CHUNKED_WHOLE || total == chunked.total);
    return state == HTTP_CHUNKED_WHOLE ? used : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    const char *bytes = (const char *)data + 1;
    if (!length || length > 40000)
        return 0;
    size_t step = data[0] ? data[0] : 1;
    length--;
    while (length) {
        struct http_head whole, cut;
        enum http_head_state state = read_in_steps(&whole, bytes, length, length);
        require(read_in_steps(&cut, bytes, length, step) == state);
        compare(&whole, &cut);
        require(state != HTTP_HEAD_REFUSED || (whole.status >= 400 && whole.why));
        if (state != HTTP_HEAD_WHOLE)
            return 0;
        check_whole(&whole, bytes, length);
        bytes += whole.size;
        length -= whole.size;
        size_t body = whole.is_chunked ? read_body(bytes, length, length ? length : 1)
                                       : (size_t)whole.body_length;
        if (whole.is_chunked)
            require(read_body(bytes, length, step) == body);
        if (body > length || (whole.is_chunked && !body))
            return 0;
        bytes += body;
        length -= body;
    }
    return 0;
}
