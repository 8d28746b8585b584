#include "print/log_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/patience.h"
#include "print/run_table.h"
#include "text/tr.h"

enum { CHUNK_BYTES = 262144 };

/* Bytes of a base64 text, appended. False: it is none. */
static bool base64_decode(const char *text, struct strbuf *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int have = 0;
    for (; *text && *text != '='; text++) {
        const char *at = strchr(letters, *text);
        if (!at)
            return false;
        bits = bits << 6 | (unsigned)(at - letters);
        have += 6;
        if (have >= 8) {
            have -= 8;
            strbuf_addc(out, (char)(bits >> have & 0xff));
        }
    }
    return text[strspn(text, "=")] == '\0';
}

static void start_line(const struct log_printer *printer, const char *at, FILE *to)
{
    if (printer->prefix)
        fputs(printer->prefix, to);
    if (printer->timestamps)
        fprintf(to, "%s ", at);
}

static FILE *goes_to(const struct log_printer *printer, int stream)
{
    return stream == 1 && !printer->merged ? stderr : stdout;
}

/* Without a prefix, bytes pass as they are. */
static void write_bytes(struct log_printer *printer, int stream, const char *at, const char *bytes,
                        size_t length)
{
    FILE *to = goes_to(printer, stream);
    if (to == stderr)
        fflush(stdout); /* both may go to the same pipe */
    if (!printer->prefix && !printer->timestamps) {
        fwrite(bytes, 1, length, to);
        return;
    }
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end ? (size_t)(end - bytes) + 1 : length;
        if (!printer->inside_line[stream])
            start_line(printer, at, to);
        fwrite(bytes, 1, part, to);
        printer->inside_line[stream] = !end;
        bytes += part;
        length -= part;
    }
}

/* `bytes` NULL: there are no more. */
static void print_bytes(struct log_printer *printer, int stream, const char *at, const char *bytes,
                        size_t length)
{
    struct strbuf shown;
    if (!isatty(fileno(goes_to(printer, stream)))) {
        if (bytes)
            write_bytes(printer, stream, at, bytes, length);
        return;
    }
    strbuf_init(&shown);
    if (bytes)
        output_text_add(&printer->texts[stream], bytes, length, &shown);
    else
        output_text_end(&printer->texts[stream], &shown);
    write_bytes(printer, stream, at, shown.text, shown.length);
    strbuf_release(&shown);
}

static void print_chunk(struct log_printer *printer, const json_t *chunk)
{
    int stream = strcmp(answer_text(chunk, "stream"), "stderr") == 0;
    const char *at = answer_text(chunk, "at");
    const json_t *text = json_object_get(chunk, "text");
    int64_t gap = answer_int(chunk, "gap", 0);
    if (gap > 0) {
        fprintf(stderr, tr("[... %" PRId64 " bytes were not kept ...]"), gap);
        fputc('\n', stderr);
    }
    if (json_is_string(text)) {
        print_bytes(printer, stream, at, json_string_value(text), json_string_length(text));
        return;
    }
    struct strbuf bytes;
    strbuf_init(&bytes);
    if (base64_decode(answer_text(chunk, "base64"), &bytes))
        print_bytes(printer, stream, at, bytes.text, bytes.length);
    strbuf_release(&bytes);
}

/* Ends an open line, so that the prompt is on its own. */
static void end_lines(struct log_printer *printer)
{
    for (int stream = 0; stream < 2; stream++)
        print_bytes(printer, stream, "", NULL, 0);
    if (printer->inside_line[0])
        putchar('\n');
    if (printer->inside_line[1])
        fputc('\n', printer->merged ? stdout : stderr);
    printer->inside_line[0] = printer->inside_line[1] = false;
}

static enum exit_code print_page(struct client *client, const char *path,
                                 struct log_printer *printer, struct patience *patience,
                                 json_t **ret_run, bool *ret_more)
{
    json_t *answer;
    const json_t *chunk;
    size_t i;
    enum exit_code code = patience ? client_get_patiently(client, path, patience, &answer)
                                   : client_get(client, path, &answer);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (json_object_get(answer, "chunks"), i, chunk) {
        print_chunk(printer, chunk);
    }
    fflush(stdout);
    int64_t next = answer_int(answer, "next_offset", printer->offset);
    *ret_more = next > printer->offset;
    printer->offset = next;
    printer->complete = json_is_true(json_object_get(answer, "complete"));
    printer->is_cut |= json_array_size(json_object_get(answer, "incomplete")) > 0;
    if (ret_run) {
        json_decref(*ret_run);
        *ret_run = json_incref(json_object_get(answer, "run"));
    }
    json_decref(answer);
    return EXIT_OK;
}

/* `patience` NULL: none. */
static enum exit_code print_more(struct client *client, const char *run_id,
                                 struct log_printer *printer, struct patience *patience,
                                 json_t **ret_run)
{
    struct strbuf path;
    json_t *run = NULL;
    bool more = true;
    enum exit_code code = EXIT_OK;
    strbuf_init(&path);
    while (more && code == EXIT_OK) {
        run_path(&path, run_id, "/log");
        strbuf_addf(&path, "?offset=%" PRId64 "&limit=%d", printer->offset, CHUNK_BYTES);
        code = print_page(client, path.text, printer, patience, &run, &more);
        more = more && !printer->complete;
    }
    if (printer->complete)
        end_lines(printer);
    strbuf_release(&path);
    if (code == EXIT_OK && ret_run)
        *ret_run = json_incref(run);
    json_decref(run);
    return code;
}

enum exit_code log_print_more(struct client *client, const char *run_id,
                              struct log_printer *printer, json_t **ret_run)
{
    return print_more(client, run_id, printer, NULL, ret_run);
}

enum exit_code log_follow(struct client *client, const char *run_id, struct log_printer *printer,
                          int64_t deadline_ms, json_t **ret)
{
    struct patience patience = {.is_new = printer->is_new};
    int delay_ms = 0;
    for (;;) {
        int64_t before = printer->offset;
        json_t *run = NULL;
        enum exit_code code = print_more(client, run_id, printer, &patience, &run);
        if (code != EXIT_OK)
            return code;
        if (printer->complete) {
            *ret = run;
            return EXIT_OK;
        }
        json_decref(run);
        if (deadline_ms != NO_TIME && now_ms() >= deadline_ms) {
            cli_error("still not over: %s; it goes on", run_id);
            return EXIT_TIMED_OUT;
        }
        if (printer->offset > before)
            delay_ms = 0;
        pause_longer(&delay_ms);
    }
}
