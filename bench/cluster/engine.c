/* How many runs a second one node gets through when processes cost nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "cluster_bench.h"
#include "noop_node.h"

enum { WARM_UP_S = 2, STEPS = 4 };

int measure_engine(char **argv)
{
    struct noop_node node = {0};
    double seconds = atof(argv[3]);
    noop_node_init(&node, argv[0], argv[1], argv[2], NULL);
    noop_node_run(&node, WARM_UP_S);
    double bare = bare_transactions(argv[0], 1);
    size_t before = noop_node_started(&node);
    double start_s = now_s();
    noop_node_run(&node, seconds);
    double rate = (double)(noop_node_started(&node) - before) / (now_s() - start_s);
    bool is_idle = noop_node_drain(&node);
    noop_node_release(&node);
    if (!is_idle)
        die("some runs did not come to their end");
    bare = (bare + bare_transactions(argv[0], 1)) / 2;
    printf("%.0f %.0f\n", rate, bare / STEPS);
    return 0;
}
