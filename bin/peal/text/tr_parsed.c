#include "text/tr_parsed.h"

#include <string.h>

#include "text/parsed.h" /* of the API */
#include "text/tr.h"

void tr_parsed(char *message, size_t size)
{
    struct strbuf out;
    strbuf_init(&out);
    if (message_translate(tr_language(), message, &out) && !out.failed && out.length < size)
        memcpy(message, out.text, out.length + 1);
    strbuf_release(&out);
}

void tr_parsed_text(const char *message, struct strbuf *out)
{
    (void)message_translate(tr_language(), message, out);
}
