#include "runs/last_line.h"

#include <stdbool.h>
#include <string.h>

enum { ESCAPE = 0x1b };

static bool is_space(unsigned char c)
{
    return c <= ' ' || c == 0x7f;
}

/* The end of the escape sequence that begins at `at`: of "ESC [ … letter", or of ESC and the
 * character behind it. */
static size_t escape_end(const char *text, size_t length, size_t at)
{
    at++;
    if (at < length && text[at] == '[') {
        at++;
        while (at < length && !(text[at] >= '@' && text[at] <= '~'))
            at++;
    }
    return at < length ? at + 1 : length;
}

/* Printable characters of a line, with one space for each run of others. True: there were some. */
static bool clean(const char *text, size_t length, char ret[LINE_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < LINE_SIZE;) {
        if (text[i] == ESCAPE) {
            i = escape_end(text, length, i);
            continue;
        }
        bool blank = is_space((unsigned char)text[i]);
        if (!blank || (used && ret[used - 1] != ' '))
            ret[used++] = blank ? ' ' : text[i];
        i++;
    }
    while (used && ret[used - 1] == ' ')
        used--;
    ret[used] = '\0';
    return used > 0;
}

/* The last line of the chunks of one stream; a line may begin in one chunk and end in another, of
 * which the later one decides. */
static bool find_line(const struct output_chunk *chunks, size_t count, enum output_stream stream,
                      char ret[LINE_SIZE])
{
    for (size_t i = count; i-- > 0;) {
        if (chunks[i].stream != stream)
            continue;
        const char *text = chunks[i].bytes;
        for (size_t end = chunks[i].length; end > 0;) {
            const char *newline = memrchr(text, '\n', end);
            size_t start = newline ? (size_t)(newline - text) + 1 : 0;
            if (clean(text + start, end - start, ret))
                return true;
            end = newline ? start - 1 : 0;
        }
    }
    return false;
}

void last_line(const struct output_chunk *chunks, size_t count, char ret[LINE_SIZE])
{
    ret[0] = '\0';
    if (!find_line(chunks, count, OUTPUT_STDERR, ret))
        find_line(chunks, count, OUTPUT_STDOUT, ret);
}
