/* A program that embeds the library, for program_test.sh: PROGRAM FOLDER. */
#include <peal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *folder;

static int exists(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int tick(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "swept by %d", (int)getpid());
    return 0;
}

/* Counts until it is let go or killed. */
static int slow(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "pid %d", (int)getpid());
    peal_log(run, "first");
    for (int i = 1; !exists("go"); i++) {
        peal_progress(run, i < 40 ? i : 40, "rows");
        peal_log(run, "line %d", i);
        if (peal_sleep(run, 20) != PEAL_OK) {
            peal_log(run, "told to stop");
            return 3;
        }
    }
    peal_log(run, "last");
    peal_progress(run, 100, "rows");
    return 0;
}

static int greet(peal_run *run, void *arg)
{
    const char *who = peal_param(run, "who");
    (void)arg;
    peal_log(run, "hello %s", who ? who : "nobody");
    return strcmp(who ? who : "", "trouble") == 0 ? 7 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    if (peal_every("sweep", "* * * * * *", tick) != PEAL_OK ||
        peal_every("slow", NULL, slow, .overlap = PEAL_ALLOW) != PEAL_OK ||
        peal_every("greet", NULL, greet, .more = "params: {who: {default: nobody}}\nnotify: ops") !=
            PEAL_OK) {
        fprintf(stderr, "%s\n", peal_why());
        return 1;
    }
    return peal_run_forever();
}
