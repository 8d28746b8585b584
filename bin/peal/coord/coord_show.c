#include "coord/coord_show.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/listing.h"
#include "timestamp.h"

struct show {
    struct coord_place *place;
    enum coord_kind kind;
    const char *name; /* NULL: all */
    enum output output;
    bool follows, is_looking, must_look, has_told;
    struct coord_holder told;
    json_t *list; /* of all */
    enum exit_code code;
};

static json_t *state_json(const struct coord_state *state)
{
    const struct coord_holder *holder = &state->holder;
    struct strbuf since;
    strbuf_init(&since);
    timestamp_print_utc(holder->since_ms / 1000, &since);
    json_t *tree = json_pack("{s:s, s:o, s:o, s:I, s:s, s:I, s:I}", "name", state->name, "id",
                             json_text(holder->id), "host", json_text(holder->host), "pid",
                             (json_int_t)holder->pid, "since", since.text, "fence",
                             (json_int_t)holder->fence, "waiting", (json_int_t)state->waiting);
    strbuf_release(&since);
    return tree;
}

/* One that is first in the queue and has not learnt it yet does not hold yet. */
static const struct coord_state *holding(const struct coord_state *states, size_t count)
{
    return count > 0 && states[0].holder.fence > 0 ? &states[0] : NULL;
}

static bool is_same(const struct coord_holder *a, const struct coord_holder *b)
{
    return a->fence == b->fence && strcmp(a->id, b->id) == 0;
}

static enum exit_code print_one(const struct show *show, const struct coord_state *state)
{
    if (show->output != OUTPUT_JSON && show->output != OUTPUT_YAML) {
        printf("%s\n", state ? state->holder.id : "-");
        return EXIT_OK;
    }
    json_t *tree = state ? state_json(state) : json_null();
    enum exit_code code = tree ? EXIT_OK : cli_fail(E_NOMEM);
    if (tree && show->output == OUTPUT_JSON && show->follows)
        code = json_dumpf(tree, stdout, JSON_COMPACT) == 0 && putchar('\n') ? EXIT_OK : EXIT_ERROR;
    else if (tree)
        code = output_print(tree, show->output);
    json_decref(tree);
    return code;
}

static void take_one(struct show *show, const struct coord_state *states, size_t count)
{
    const struct coord_state *state = holding(states, count);
    struct coord_holder holder = state ? state->holder : (struct coord_holder){.fence = 0};
    if (!state && !show->follows) {
        if (show->kind == COORD_LOCK)
            cli_error("nobody holds %s", show->name);
        else
            cli_error("nobody leads %s", show->name);
        show->code = EXIT_NOT_FOUND;
        return;
    }
    if (show->has_told && is_same(&holder, &show->told))
        return;
    show->has_told = true;
    show->told = holder;
    show->code = print_one(show, state);
    fflush(stdout);
}

static void take_all(struct show *show, const struct coord_state *states, size_t count)
{
    show->list = json_array();
    for (size_t i = 0; show->list && i < count; i++) {
        if (states[i].holder.fence > 0 &&
            json_array_append_new(show->list, state_json(&states[i])) != 0)
            show->code = cli_fail(E_NOMEM);
    }
}

static void look(struct show *show);

static void on_seen(void *context, enum status st, const struct coord_state *states, size_t count,
                    const char *message)
{
    struct show *show = context;
    show->is_looking = false;
    if (st != OK)
        show->code =
            coord_place_fail(show->place, show->name ? show->name : "peal lock", st, message);
    else if (show->name)
        take_one(show, states, count);
    else
        take_all(show, states, count);
    if (!show->follows || show->code != EXIT_OK)
        loop_stop(show->place->loop);
    else if (show->must_look)
        look(show);
}

static void look(struct show *show)
{
    show->must_look = show->is_looking;
    if (show->is_looking)
        return;
    enum status st = coord_look(show->place->coord, show->kind, show->name, on_seen, show);
    show->is_looking = st == OK;
    if (st != OK) {
        show->code = cli_fail(st);
        loop_stop(show->place->loop);
    }
}

static void on_changed(void *context)
{
    look(context);
}

enum exit_code coord_show_all(struct coord_place *place, enum coord_kind kind, enum output output)
{
    static const struct list_column columns[] = {
        COLUMN("NAME", "name"),
        COLUMN("HOLDER", "id"),
        COLUMN("HOST", "host"),
        COLUMN("PID", "pid", .form = COLUMN_NUMBER),
        COLUMN("SINCE", "since", .form = COLUMN_TIME),
        COLUMN("FENCE", "fence", .form = COLUMN_NUMBER),
        COLUMN("WAITING", "waiting", .form = COLUMN_NUMBER),
        {0},
    };
    static const struct list_form form = {
        .name = "name", .columns = columns, .none = "no lock is held"};
    struct show show = {.place = place, .kind = kind, .output = output};
    signal(SIGPIPE, SIG_IGN);
    look(&show);
    if (show.is_looking)
        loop_run(place->loop);
    if (show.code == EXIT_OK)
        show.code = show.list ? list_print(show.list, output, &form) : cli_fail(E_NOMEM);
    json_decref(show.list);
    return show.code;
}

enum exit_code coord_show_one(struct coord_place *place, enum coord_kind kind, const char *name,
                              enum output output)
{
    struct show show = {.place = place, .kind = kind, .name = name, .output = output};
    signal(SIGPIPE, SIG_IGN);
    look(&show);
    if (show.is_looking)
        loop_run(place->loop);
    return show.code;
}

/* A reader that is gone ends it, by SIGPIPE's stand-in: a failed write. */
enum exit_code coord_show_changes(struct coord_place *place, enum coord_kind kind, const char *name,
                                  enum output output)
{
    struct show show = {
        .place = place, .kind = kind, .name = name, .output = output, .follows = true};
    struct coord_watch *watch = NULL;
    signal(SIGPIPE, SIG_IGN);
    enum status st = coord_watch(place->coord, kind, name, on_changed, &show, &watch);
    if (st != OK)
        return cli_fail(st);
    look(&show);
    while (show.code == EXIT_OK && !ferror(stdout))
        loop_run_once(place->loop);
    coord_watch_free(watch);
    return show.code;
}
