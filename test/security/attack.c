/* attack framing TARGET | attack swallow|hold|silent TARGET TOKEN */
#include "attack.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    struct target target = argc > 2 ? target_read(argv[2]) : (struct target){0};
    if (argc == 3 && strcmp(argv[1], "framing") == 0)
        return attack_framing(&target);
    if (argc == 4 && strcmp(argv[1], "swallow") == 0)
        return attack_swallow(&target, argv[3]);
    if (argc == 4 && strcmp(argv[1], "hold") == 0)
        return attack_hold(&target, argv[3]);
    if (argc == 4 && strcmp(argv[1], "silent") == 0)
        return attack_silent(&target, argv[3]);
    fputs("usage: attack framing|swallow|hold|silent [tls:]PORT [TOKEN]\n", stderr);
    return 2;
}
