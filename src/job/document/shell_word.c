#include "document/shell_word.h"

#include <string.h>

void shell_word(struct strbuf *out, const char *word)
{
    static const char harmless[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@,+-";
    if (*word && !word[strspn(word, harmless)]) {
        strbuf_adds(out, word);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_adds(out, "'\\''");
        else
            strbuf_addc(out, *word);
    }
    strbuf_addc(out, '\'');
}
