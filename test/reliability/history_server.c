/* A PostgreSQL for a test that is a script: says its address, and does to it what it is told until
 * its input ends.
 *
 *     history_server
 *     > postgresql://...
 *     < stop       in order
 *     < kill       with -9
 *     < start      with the same data; waits until it serves
 *     < pause      SIGSTOP to all its processes
 *     < resume     SIGCONT
 *     > done       after each
 *
 * The server ends with it, and it ends with the script. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "postgres_server.h"

enum { EXIT_SKIPPED = 77 };

static const struct {
    const char *word;
    void (*act)(struct postgres_server *server);
} orders[] = {
    {"stop", postgres_server_stop},     {"kill", postgres_server_kill},
    {"start", postgres_server_restart}, {"pause", postgres_server_pause},
    {"resume", postgres_server_resume},
};

static void on_term(int signal)
{
    (void)signal; /* the call that waits for orders is interrupted */
}

static const char *obey(struct postgres_server *server, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (strcmp(orders[i].word, line) == 0) {
            orders[i].act(server);
            return "done";
        }
    }
    return "not understood";
}

int main(void)
{
    struct postgres_server server = {.is_durable = false};
    char line[64], url[256];
    if (!postgres_server_available()) {
        printf("there is no PostgreSQL here; Debian has it in postgresql\n");
        return EXIT_SKIPPED;
    }
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    postgres_server_start(&server);
    /* By its socket, which is reached from every network namespace. */
    snprintf(url, sizeof(url),
             "postgresql://" POSTGRES_USER ":correct%%20horse@/postgres?host=%s&port=%d",
             server.folder, server.port);
    printf("%s\n", url);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        printf("%s\n", obey(&server, line));
        fflush(stdout);
    }
    postgres_server_remove(&server);
    return 0;
}
