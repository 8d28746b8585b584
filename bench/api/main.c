#include "api_bench.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv + 2);
    if (argc == 5 && strcmp(argv[1], "subscribe") == 0)
        return subscribe(argv + 2);
    if (argc == 3 && strcmp(argv[1], "timer") == 0)
        return timer(argv + 2);
    fputs("usage: api_bench serve DIR JOBS DUE | subscribe PORT COUNT TOPICS | timer SECONDS\n",
          stderr);
    return 2;
}
