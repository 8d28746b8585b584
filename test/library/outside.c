/* A program whose jobs run outside of it: commands, and HTTP calls of the server at argv[2]. Files
 * of the commands are in argv[1]. With a third argument a field is among them that needs a spawner.
 * What the library logs goes to stdout. */
#include <peal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void say(void *context, enum peal_level level, const char *message)
{
    (void)context;
    (void)level;
    printf("%s\n", message);
    fflush(stdout);
}

static void must(int added)
{
    if (added != PEAL_OK)
        printf("refused: %s\n", peal_why());
    fflush(stdout);
}

static int beat(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "beat");
    return 0;
}

static int talks(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "first");
    peal_log(run, "second");
    while (peal_sleep(run, 1000) == PEAL_OK)
        ;
    return 1;
}

static void add_commands(peal_node *node, int has_spawner)
{
    must(peal_add(node, "says", NULL,
                  .command =
                      "echo one; echo two >&2; printf 'three\\n'; echo \"$PEAL_JOB $GREETING "
                      "${PEAL_PARAM_who}\"; exit 3",
                  .more = "env: {GREETING: hello}\nparams: {who: {default: world}}"));
    must(peal_add(node, "tree", NULL,
                  .command = "sleep 1000 & echo $! >$WORK/child; echo $$ >$WORK/main; wait"));
    must(peal_add(node, "stubborn", NULL, .timeout_ms = 1000, .more = "grace: 1s",
                  .command = "trap '' TERM; echo $$ >$WORK/stubborn; while :; do sleep 0.1; done"));
    must(peal_add(node, "long", NULL,
                  .command = "echo $$ >$WORK/long; echo begun; until [ -e $WORK/go ]; do sleep "
                             "0.1; done; echo went on; exit 7"));
    must(peal_add(node, "near", NULL, .local = true, .command = "echo of $PEAL_JOB; exit 5"));
    if (has_spawner)
        must(peal_add(node, "limited", NULL, .command = "ulimit -n; echo two >&2; echo three",
                      .more = "{\"limits\": {\"open_files\": 64}, \"output\": \"merged\"}"));
}

static void add_calls(peal_node *node, const char *url)
{
    char text[300];
    snprintf(text, sizeof(text), "%s/status/200", url);
    must(peal_add(node, "get", NULL, .http = text));
    snprintf(text, sizeof(text),
             "{method: PUT, url: %s/echo, headers: {X-Job: '${PEAL_JOB}'}, body: the body, status: "
             "[200, 201]}",
             url);
    must(peal_add(node, "put", NULL, .http = text));
    snprintf(text, sizeof(text), "{url: %s/status/200, status: 204}", url);
    must(peal_add(node, "wrong", NULL, .http = text));
    snprintf(text, sizeof(text), "%s/silent", url);
    must(peal_add(node, "silent", NULL, .http = text, .timeout_ms = 1000));
    must(peal_add(node, "mistaken", NULL, .http = "{url: 'ftp://example.org/'}"));
}

static peal_node *node_of_signal;

static void stop(int number)
{
    (void)number;
    peal_stop(node_of_signal);
}

int main(int argc, char **argv)
{
    setenv("WORK", argv[1], 1);
    peal_node *node = peal_open(.program = "outside", .log = say);
    if (!node) {
        printf("refused: %s\n", peal_why());
        return 1;
    }
    node_of_signal = node;
    signal(SIGTERM, stop);
    add_commands(node, argc > 3);
    add_calls(node, argv[2]);
    must(peal_add(node, "beat", "* * * * * *", beat));
    must(peal_add(node, "talks", NULL, talks));
    must(peal_trigger(node, "near", NULL, NULL));
    int failed = peal_wait(node);
    peal_close(node);
    return failed;
}
