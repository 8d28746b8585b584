/* Always one of the processes of this program sends the mail; the others stand by and know who. */
#include <peal.h>
#include <stdio.h>

static void won(void *context, int64_t fence)
{
    (void)context;
    printf("I send mail now, fence %lld\n", (long long)fence);
    fflush(stdout);
}

static void lost(void *context, const char *why)
{
    (void)context;
    printf("I no longer send mail: %s\n", why);
    fflush(stdout);
}

static void changed(void *context, const peal_leader *leader)
{
    (void)context;
    printf("%s leads\n", leader ? leader->id : "nobody");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    peal_held *lead;
    peal_observer *observer;
    if (peal_elect(NULL, &lead, "mailer", .id = argc > 1 ? argv[1] : NULL, .won = won,
                   .lost = lost) != PEAL_OK ||
        peal_observe(NULL, "mailer", changed, NULL, &observer) != PEAL_OK) {
        fprintf(stderr, "%s\n", peal_why());
        return 1;
    }
    while (getchar() != EOF) { /* until the end of the input */
    }
    peal_observe_end(observer);
    return peal_release(lead) == PEAL_OK ? 0 : 1; /* resigns: another one leads at once */
}
