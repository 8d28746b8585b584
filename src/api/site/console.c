/* Serves the web console. Its files are public, since they hold no secrets: the console gets its
 * data from the API, with the rights of the user who is logged in. */
#include "site/console.h"

#include <stdlib.h>
#include <string.h>

#include "handlers.h"

/* Allows only this server's own files: no inline script or style, no other host, no frame. */
#define PAGE_POLICY                                                                                \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; font-src 'self'; manifest-src 'self'; base-uri 'none'; "                \
    "form-action 'self'; frame-ancestors 'none'"

static const struct console_file *find_file(const char *path)
{
    for (size_t i = 0; i < console_file_count; i++) {
        if (strcmp(console_files[i].path, path) == 0)
            return &console_files[i];
    }
    return NULL;
}

static void say_none(struct call *call)
{
    static const char text[] = "This peal was built without its web console (PEAL_CONSOLE=OFF).\n"
                               "The HTTP API is below /api/v1; /api describes it.\n";
    call_reply_text(call, 200, "text/plain; charset=utf-8", strdup(text), strlen(text));
}

void get_console(struct call *call)
{
    const struct console_file *file = find_file(call->path);
    if (!file && strcmp(call->path, "/") == 0) {
        say_none(call);
        return;
    }
    if (!file) {
        call_fail(call, 404, "the console has no file %.200s; reload the page", call->path);
        return;
    }
    call_header(call, "Content-Security-Policy", PAGE_POLICY);
    call_header(call, "Cross-Origin-Opener-Policy", "same-origin");
    call_header(call, "Cache-Control",
                file->is_hashed ? "public, max-age=31536000, immutable" : "no-cache");
    struct packed packed = {
        .type = file->type,
        .tag = file->tag,
        .gzip = file->gzip,
        .gzip_length = file->gzip_length,
        .length = file->length,
    };
    call_reply_packed(call, &packed);
}
