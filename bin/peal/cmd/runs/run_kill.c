#include "cmd/runs/run_kill.h"

#include <stdio.h>

#include "cli/when.h"
#include "print/run_table.h"
#include "text/tr.h"

enum exit_code run_kill(struct client *client, enum run_kind kind, const char *run_id)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_post(client, run_path(&path, run_id, "/kill"), NULL, NULL);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    if (kind == KIND_INSTANCE)
        fprintf(stderr, tr("%s: told to end; its final steps still run"), run_id);
    else
        fprintf(stderr, tr("%s: told to end"), run_id);
    fputc('\n', stderr);
    return code;
}

enum exit_code run_kill_all(struct client *client, enum run_kind kind, const char *job)
{
    struct strbuf path;
    json_t *runs = NULL;
    const json_t *run;
    size_t i;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?state=" OPEN_STATES "&");
    url_param(&path, "job", job);
    enum exit_code worst = client_list(client, path.text, 0, &runs);
    strbuf_release(&path);
    if (worst == EXIT_OK && json_array_size(runs) == 0) {
        if (kind == KIND_INSTANCE)
            cli_error("%s has no instance that is under way", job);
        else
            cli_error("%s is not running", job);
        worst = EXIT_NOT_FOUND;
    }
    json_array_foreach (runs, i, run) {
        enum exit_code code = run_kill(client, kind, answer_text(run, "run_id"));
        worst = code != EXIT_OK ? code : worst;
    }
    json_decref(runs);
    return worst;
}
