#include "print/state_words.h"

#include <string.h>

#include "run_words.h"
#include "text/tr.h"

const char *state_word(const char *name)
{
    enum run_state state;
    if (tr_language() == LANGUAGE_EN || run_state_by_name(name, &state) != OK)
        return name;
    return run_state_text(state, tr_language());
}

const char *cause_word(const char *name)
{
    for (enum run_cause cause = 0; cause < CAUSES && tr_language() != LANGUAGE_EN; cause++) {
        if (strcmp(run_cause_name(cause), name) == 0)
            return run_cause_text(cause, tr_language());
    }
    return name;
}

const char *reason_word(const char *name)
{
    enum run_reason reason;
    return run_reason_by_name(name, &reason) == OK ? run_reason_brief(reason, tr_language()) : name;
}

const char *reason_text(const char *name)
{
    enum run_reason reason;
    if (tr_language() == LANGUAGE_EN || run_reason_by_name(name, &reason) != OK)
        return name;
    return run_reason_text(reason, tr_language());
}

/* A name, and its words as they are looked up. */
struct word {
    const char *name, *text;
};

static const char *find_word(const struct word *words, const char *name)
{
    for (; words->name && tr_language() != LANGUAGE_EN; words++) {
        if (strcmp(words->name, name) == 0)
            return tr(words->text);
    }
    return name;
}

const char *why_word(const char *name)
{
    static const struct word words[] = {
        {"none", TR("no tick yet")},
        {"waiting", TR("waiting")},
        {"upcoming", TR("upcoming")},
        {"not_a_tick", TR("not a tick")},
        {"before_creation", TR("before the creation")},
        {"unknown", TR("unknown")},
        {0},
    };
    return state_word(find_word(words, name));
}

const char *node_word(const char *name)
{
    static const struct word words[] = {
        {"ready", TR("ready")},
        {"draining", TR("draining")},
        {"drained", TR("drained")},
        {"gone", TR("gone")},
        {"api", TR("API only")},
        {"stopping", TR("stopping")},
        {"clock", TR("clock skew")},
        {"clock_doubt", TR("clock not trusted")},
        {"spawner", TR("can't start runs")},
        {"full", TR("full")},
        {"shut_out", TR("duplicate name")},
        {0},
    };
    return find_word(words, name);
}

const char *agent_word(const char *name)
{
    static const struct word words[] = {
        {"running", TR("running")},
        {"loading", TR("loading")},
        {"draining", TR("stopping")},
        {"shut_out", TR("duplicate name")},
        {0},
    };
    return find_word(words, name);
}

const char *absence_word(const char *why)
{
    static const struct word words[] = {
        {"is away", TR("is away")},
        {"did not answer in time", TR("did not answer in time")},
        {"could not be reached", TR("could not be reached")},
        {"does not answer", TR("does not answer")},
        {"does not share its history (--peer-listen)",
         TR("does not share its history (--peer-listen)")},
        {"opens no port for other nodes (--peer-listen)",
         TR("opens no port for other nodes (--peer-listen)")},
        {"runs an older peal, which passes no output on",
         TR("runs an older peal, which passes no output on")},
        {"runs an older peal, which can't be asked that",
         TR("runs an older peal, which can't be asked that")},
        {"has not handed all its records over yet", TR("has not handed all its records over yet")},
        {"has found no agent that passes its output on",
         TR("has found no agent that passes its output on")},
        {0},
    };
    return find_word(words, why);
}

const char *history_word(const char *name)
{
    static const struct word words[] = {{"shared", TR("shared")}, {"own", TR("own")}, {0}};
    return absence_word(find_word(words, name));
}

const char *event_word(const char *name)
{
    static const struct word words[] = {
        {"failure", TR("failure")},     {"lost", TR("lost")},       {"recovery", TR("recovery")},
        {"late", TR("late")},           {"success", TR("success")}, {"too_long", TR("too long")},
        {"too_short", TR("too short")}, {"overdue", TR("overdue")}, {0},
    };
    return find_word(words, name);
}

const char *message_state_word(const char *name)
{
    static const struct word words[] = {
        {"waiting", TR("waiting")},   {"held", TR("held back")}, {"sent", TR("sent")},
        {"given_up", TR("given up")}, {"muted", TR("muted")},    {0},
    };
    return find_word(words, name);
}

const char *action_word(const char *name)
{
    static const struct word words[] = {
        {"create", TR("create")},
        {"change", TR("change")},
        {"delete", TR("delete")},
        {"undelete", TR("undelete")},
        {"pause", TR("pause")},
        {"resume", TR("resume")},
        {"skip_next", TR("skip the next tick")},
        {"rollback", TR("roll back")},
        {"run", TR("run")},
        {"retry", TR("run again")},
        {"kill", TR("kill")},
        {"backfill", TR("backfill")},
        {"drain", TR("drain")},
        {"undrain", TR("undrain")},
        {"advance_cursors", TR("continue after a restore")},
        {"user_create", TR("create")},
        {"user_change", TR("change")},
        {"user_delete", TR("delete")},
        {"token_create", TR("create")},
        {"token_revoke", TR("revoke")},
        {"login", TR("login")},
        {"login_failed", TR("failed login")},
        {"logout", TR("logout")},
        {"calendar_create", TR("create")},
        {"calendar_change", TR("change")},
        {"calendar_delete", TR("delete")},
        {"channel_create", TR("create")},
        {"channel_change", TR("change")},
        {"channel_delete", TR("delete")},
        {"webhook_create", TR("create webhook")},
        {"webhook_change", TR("change webhook")},
        {"webhook_rotate", TR("new webhook secret")},
        {"webhook_delete", TR("delete webhook")},
        {"secret_create", TR("create")},
        {"secret_change", TR("change")},
        {"secret_delete", TR("delete")},
        {"maintenance_add", TR("add")},
        {"maintenance_end", TR("end")},
        {"mute", TR("mute")},
        {"acknowledge", TR("acknowledge")},
        {"unmute", TR("unmute")},
        {"group_create", TR("create")},
        {"group_change", TR("change")},
        {"group_delete", TR("delete")},
        {0},
    };
    return find_word(words, name);
}

const char *kind_word(const char *name)
{
    static const struct word words[] = {
        {"job", TR("job")},           {"run", TR("run")},
        {"node", TR("node")},         {"cluster", TR("cluster")},
        {"user", TR("user")},         {"token", TR("token")},
        {"calendar", TR("calendar")}, {"channel", TR("channel")},
        {"secret", TR("secret")},     {"maintenance", TR("maintenance")},
        {"group", TR("group")},       {0},
    };
    return find_word(words, name);
}

/* Is it of this kind? *ret_clock is what follows, of *ret_length bytes. */
static bool is_note(const char *note, const char *kind, const char **ret_clock, int *ret_length)
{
    size_t length = strlen(kind);
    *ret_clock = note + length;
    if (strncmp(note, kind, length) != 0)
        return false;
    *ret_length = (int)strcspn(*ret_clock, " ;");
    return true;
}

/* One note, "KIND: CLOCK ..."; one of another kind stays as it is. */
static void add_note(const char *note, size_t length, struct strbuf *out)
{
    const char *clock;
    int width;
    if (length == strlen("left out: maintenance") &&
        is_note(note, "left out: maintenance", &clock, &width))
        strbuf_adds(out, tr("left out: maintenance"));
    else if (length == strlen("left out: pause") &&
             is_note(note, "left out: pause", &clock, &width))
        strbuf_adds(out, tr("left out: a pause of the cluster or of its namespace"));
    else if (is_note(note, "moved: ", &clock, &width))
        strbuf_addf(out, tr("moved: %.*s does not exist on this day"), width, clock);
    else if (is_note(note, "first of two: ", &clock, &width))
        strbuf_addf(out, tr("first of two: %.*s happens twice on this day"), width, clock);
    else if (is_note(note, "second of two: ", &clock, &width))
        strbuf_addf(out, tr("second of two: %.*s happens twice on this day"), width, clock);
    else if (is_note(note, "left out: ", &clock, &width))
        strbuf_addf(out, tr("left out: %.*s"), width, clock);
    else
        strbuf_add(out, note, length);
}

void note_words(const char *note, struct strbuf *out)
{
    while (*note) {
        const char *end = strstr(note, "; ");
        size_t length = end ? (size_t)(end - note) : strlen(note);
        add_note(note, length, out);
        if (end)
            strbuf_adds(out, tr("; "));
        note += length + (end ? strlen("; ") : 0);
    }
}
