#include "cli/json_out.h"

#include <stdio.h>
#include <string.h>

#include "cli/text_width.h"

json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    struct strbuf safe;
    if (value)
        return value;
    strbuf_init(&safe);
    text_print_safe(text, strlen(text), &safe);
    if (strbuf_status(&safe) == OK)
        value = json_string(safe.text);
    strbuf_release(&safe);
    return value;
}

json_t *json_warnings(const struct schedule *schedule, enum language language, int64_t now_s)
{
    unsigned warnings = schedule_warnings(schedule, now_s);
    json_t *list = json_array();
    struct strbuf text;
    int failed = 0;
    strbuf_init(&text);
    for (enum warning w = 0; w < WARNINGS; w++) {
        if (!(warnings & 1U << w))
            continue;
        json_t *warning = json_object();
        strbuf_truncate(&text, 0);
        schedule_warning_explain(schedule, w, now_s, language, &text);
        failed |= json_object_set_new(warning, "id", json_text(warning_name(w)));
        failed |= json_object_set_new(warning, "text", json_text(text.text));
        failed |= json_array_append_new(list, warning);
    }
    failed |= strbuf_status(&text) != OK;
    strbuf_release(&text);
    if (failed) {
        json_decref(list);
        return NULL;
    }
    return list;
}

enum status json_print(const json_t *root)
{
    /* Straight to the stream: json_dumps drops characters when it runs out of memory. */
    if (json_dumpf(root, stdout, JSON_INDENT(2)) != 0 && !ferror(stdout))
        return E_NOMEM;
    putchar('\n');
    return OK;
}
