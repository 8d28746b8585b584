#include "head.h"

#include <string.h>
#include <strings.h>

/* A line of the head, without its end. */
struct line {
    const char *text;
    size_t at, length;
};

static bool refuse(struct http_head *head, int status, const char *why)
{
    head->status = status;
    head->why = why;
    return false;
}

/* ---- letters ---- */

/* A byte of a method or a field name: "!#$%&'*+-.^_`|~", a digit or a letter. */
static bool is_token_byte(unsigned char c)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr(marks, c));
}

static size_t token_length(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && is_token_byte((unsigned char)text[i]))
        i++;
    return i;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncasecmp(word, text, length) == 0;
}

static struct http_span span(size_t at, size_t length)
{
    return (struct http_span){(uint16_t)at, (uint16_t)length};
}

/* ---- the first line ---- */

static bool read_method(struct http_head *head, const char *text, size_t length)
{
    static const struct {
        const char *name;
        enum http_method method;
    } methods[] = {
        {"GET", HTTP_GET},         {"HEAD", HTTP_HEAD},   {"POST", HTTP_POST},
        {"PUT", HTTP_PUT},         {"PATCH", HTTP_PATCH}, {"DELETE", HTTP_DELETE},
        {"OPTIONS", HTTP_OPTIONS},
    };
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strlen(methods[i].name) == length && memcmp(methods[i].name, text, length) == 0) {
            head->method = methods[i].method;
            return true;
        }
    }
    return refuse(head, 501, "a method that is not known here");
}

static bool read_version(struct http_head *head, const char *text, size_t length)
{
    if (length != 8 || memcmp(text, "HTTP/", 5) != 0 || !is_digit(text[5]) || text[6] != '.' ||
        !is_digit(text[7]))
        return refuse(head, 400, "a first line that is not METHOD /PATH HTTP/1.1");
    if (text[5] != '1' || text[7] > '1')
        return refuse(head, 505, "a version of HTTP that is neither 1.1 nor 1.0");
    head->is_old = head->closes = text[7] == '0';
    return true;
}

static bool is_target(const char *text, size_t length)
{
    if (!length || text[0] != '/')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x21 || text[i] > 0x7E || text[i] == '#')
            return false;
    }
    return true;
}

static bool read_first_line(struct http_head *head, struct line line)
{
    size_t method = token_length(line.text, line.length);
    const char *target = line.text + method + 1;
    const char *end = method < line.length ? memchr(target, ' ', line.length - method - 1) : NULL;
    if (!method || line.text[method] != ' ' || !end)
        return refuse(head, 400, "a first line that is not METHOD /PATH HTTP/1.1");
    size_t length = (size_t)(end - target);
    if (!is_target(target, length))
        return refuse(head, 400, "a target that is no /PATH of visible ASCII letters");
    head->target = span(line.at + method + 1, length);
    return read_version(head, end + 1, line.length - method - length - 2) &&
           read_method(head, line.text, method);
}

/* ---- fields that say where the request ends, and those that must not be there twice ---- */

static bool read_content_length(struct http_head *head, const char *value, size_t length)
{
    enum { DIGITS = 15 };
    bool is_number = length && length <= DIGITS && (length == 1 || value[0] != '0');
    for (size_t i = 0; is_number && i < length; i++) {
        is_number = is_digit(value[i]);
        head->body_length = 10 * head->body_length + (uint64_t)(value[i] - '0');
    }
    return is_number || refuse(head, 400, "a Content-Length that is no plain number");
}

static bool read_coding(struct http_head *head, const char *value, size_t length)
{
    head->is_chunked = length == strlen("chunked") && memcmp(value, "chunked", length) == 0;
    return head->is_chunked || refuse(head, 501, "a Transfer-Encoding that is not `chunked`");
}

static bool read_expect(struct http_head *head, const char *value, size_t length)
{
    head->expects_continue = is_word("100-continue", value, length);
    return head->expects_continue || refuse(head, 417, "an expectation that is not `100-continue`");
}

/* A list; all that matters here is whether `close` is in it. */
static bool read_connection(struct http_head *head, const char *value, size_t length)
{
    while (length) {
        size_t word = token_length(value, length);
        if (is_word("close", value, word))
            head->closes = true;
        size_t step = word ? word : 1;
        value += step;
        length -= step;
    }
    return true;
}

static const struct rule {
    const char *name;
    const char *twice; /* the refusal of a second one; NULL: the field may be repeated */
    bool (*read)(struct http_head *head, const char *value,
                 size_t length); /* NULL: the value does not matter */
} rules[] = {
    {"Host", "more than one Host", NULL},
    {"Content-Length", "more than one Content-Length", read_content_length},
    {"Transfer-Encoding", "more than one Transfer-Encoding", read_coding},
    {"Expect", "more than one Expect", read_expect},
    {"Connection", NULL, read_connection},
    {"Authorization", "more than one Authorization", NULL},
    {"Origin", "more than one Origin", NULL},
    {"Content-Type", "more than one Content-Type", NULL},
    {"Content-Encoding", "more than one Content-Encoding", NULL},
};

/* The bits of struct http_head.met, by the place in the table. */
enum { MET_HOST = 1 << 0, MET_LENGTH = 1 << 1, MET_CODING = 1 << 2 };

static bool apply_rule(struct http_head *head, const char *name, size_t name_length,
                       const char *value, size_t length)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (!is_word(rules[i].name, name, name_length))
            continue;
        if (rules[i].twice && head->met & 1U << i)
            return refuse(head, 400, rules[i].twice);
        head->met |= 1U << i;
        return !rules[i].read || rules[i].read(head, value, length);
    }
    return true;
}

static bool read_field(struct http_head *head, struct line line)
{
    size_t name = token_length(line.text, line.length), from = name + 1, to = line.length;
    if (is_blank(line.text[0]))
        return refuse(head, 400, "a field that is folded over several lines");
    if (!name || name == line.length || line.text[name] != ':')
        return refuse(head, 400, "a field that is not NAME: VALUE");
    if (head->field_count == HTTP_FIELDS_MAX)
        return refuse(head, 431, "more than 100 fields");
    while (from < to && is_blank(line.text[from]))
        from++;
    while (from < to && is_blank(line.text[to - 1]))
        to--;
    head->fields[head->field_count++] =
        (struct http_field){span(line.at, name), span(line.at + from, to - from)};
    return apply_rule(head, line.text, name, line.text + from, to - from);
}

/* ---- the whole ---- */

/* Checks that need all fields. */
static bool check_whole(struct http_head *head)
{
    static const unsigned without_body = HTTP_GET | HTTP_HEAD | HTTP_OPTIONS;
    if (!(head->met & MET_HOST) && !head->is_old)
        return refuse(head, 400, "no Host");
    if (head->met & MET_CODING && head->met & MET_LENGTH)
        return refuse(head, 400, "a Transfer-Encoding and a Content-Length");
    if (head->met & MET_CODING && head->is_old)
        return refuse(head, 400, "a Transfer-Encoding in HTTP/1.0");
    if (head->method & without_body && (head->is_chunked || head->body_length))
        return refuse(head, 400, "a body with a method that has none");
    head->expects_continue &= !head->is_old;
    return true;
}

/* One whole line; false: it is refused. */
static bool read_line(struct http_head *head, struct line line)
{
    if (!line.at)
        return read_first_line(head, line);
    if (line.length)
        return read_field(head, line);
    head->size = head->scanned;
    return check_whole(head);
}

/* Bytes that may stand in a line: visible ones, space, tab, and those of other alphabets. */
static bool is_text(unsigned char c)
{
    return (c >= 0x20 && c != 0x7F) || c == '\t';
}

/* Moves head->scanned to the end of the next line; false: the line is incomplete or refused. */
static bool find_line_end(struct http_head *head, const char *bytes, size_t end)
{
    while (head->scanned < end && is_text((unsigned char)bytes[head->scanned]))
        head->scanned++;
    if (head->scanned == end)
        return false;
    if (bytes[head->scanned] == '\n')
        return refuse(head, 400, "a line that ends in LF alone");
    if (bytes[head->scanned] != '\r')
        return refuse(head, 400, "a control character");
    if (head->scanned + 1 == end)
        return false;
    if (bytes[head->scanned + 1] != '\n')
        return refuse(head, 400, "a CR without its LF");
    head->scanned += 2;
    return true;
}

void http_head_init(struct http_head *head)
{
    memset(head, 0, offsetof(struct http_head, fields));
    head->scanned = head->line = 0;
    head->met = 0;
}

enum http_head_state http_head_read(struct http_head *head, const char *bytes, size_t length)
{
    size_t end = length < HTTP_HEAD_MAX ? length : HTTP_HEAD_MAX;
    while (find_line_end(head, bytes, end)) {
        struct line line = {bytes + head->line, head->line, head->scanned - head->line - 2};
        if (!read_line(head, line))
            return HTTP_HEAD_REFUSED;
        if (head->size)
            return HTTP_HEAD_WHOLE;
        head->line = head->scanned;
    }
    if (!head->status && length > HTTP_HEAD_MAX)
        refuse(head, 431, "a head of more than 16 KiB");
    return head->status ? HTTP_HEAD_REFUSED : HTTP_HEAD_MORE;
}
