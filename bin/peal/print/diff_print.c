#include "print/diff_print.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/when.h"

void diff_print(const char *diff)
{
    bool colour = terminal_of(stdout).colour;
    while (*diff) {
        size_t length = strcspn(diff, "\n");
        const char *tint = *diff == '-' ? "\033[31m" : *diff == '+' ? "\033[32m" : "";
        if (*diff == '@')
            tint = "\033[36m";
        bool tinted = colour && *tint;
        printf("%s%.*s%s\n", tinted ? tint : "", (int)length, diff, tinted ? "\033[0m" : "");
        diff += length + (diff[length] == '\n');
    }
}

enum exit_code diff_print_revisions(struct client *client, const char *job, const char *from,
                                    const char *to, bool *ret_differs)
{
    struct strbuf path;
    json_t *diff = NULL;
    strbuf_init(&path);
    job_path(&path, job, "/versions/");
    url_escape(&path, from);
    strbuf_adds(&path, "/diff?");
    if (to)
        url_param(&path, "to", to);
    enum exit_code code = cli_fail(strbuf_status(&path));
    if (code == EXIT_OK)
        code = client_get(client, path.text, &diff);
    if (code == EXIT_OK) {
        const char *text = answer_text(diff, "text");
        *ret_differs = json_array_size(json_object_get(diff, "changes")) > 0;
        diff_print(text);
        if (*ret_differs && !*text)
            cli_note("one of them can't be shown as YAML by this version");
    }
    json_decref(diff);
    strbuf_release(&path);
    return code;
}
