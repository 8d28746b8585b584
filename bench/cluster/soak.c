/* Many runs through one node whose processes cost nothing: what it holds must not grow with them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster_bench.h"
#include "etcd_server.h"
#include "kv/store_kv.h"
#include "noop_node.h"

enum {
    CHORES_S = 2,   /* between prunings */
    KEEP_RUNS = 10, /* of each job */
    STALLED_S = 60, /* without a run */
    SLACK_PERCENT = 25,
};

enum figure { MEMORY_KB, DESCRIPTORS, ETCD_KB, HISTORY_KB, OPEN_RUNS, FIGURES };

static const struct {
    const char *name;
    long slack; /* grows by so much without being a leak: caches, pages that are half full */
} figures[FIGURES] = {
    [MEMORY_KB] = {"resident memory, KB", 8192},
    [DESCRIPTORS] = {"descriptors", 2},
    [ETCD_KB] = {"etcd's file, KB", 8192},
    [HISTORY_KB] = {"history.db with its log, KB", 4096},
    [OPEN_RUNS] = {"open runs", 1000},
};

struct soak {
    struct noop_node node;
    struct etcd_cluster etcd;
    const char *folder;
    struct history_prune prune;
    bool is_pruning;
    long samples[3][FIGURES]; /* after a tenth, in the middle, at the end */
};

/* ---- what it holds ---- */

static long memory_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kb;
}

static long descriptors(void)
{
    long count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static long file_kb(const char *folder, const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return stat(path, &info) == 0 ? (long)(info.st_size / 1024) : 0;
}

static void take_sample(struct soak *soak, int which)
{
    long *sample = soak->samples[which];
    sample[MEMORY_KB] = memory_kb();
    sample[DESCRIPTORS] = descriptors();
    sample[ETCD_KB] = file_kb(soak->etcd.folder, "m0/member/snap/db");
    sample[HISTORY_KB] =
        file_kb(soak->folder, "history.db") + file_kb(soak->folder, "history.db-wal");
    sample[OPEN_RUNS] = (long)engine_open_runs(soak->node.engine);
}

/* ---- chores, as an agent has them ---- */

static void pruned(struct history_prune *prune, enum status st)
{
    struct soak *soak = prune->context;
    soak->is_pruning = false;
    if (st != OK)
        die("the history can't be pruned");
}

static void do_chores(struct soak *soak)
{
    if (soak->is_pruning)
        return;
    soak->prune = (struct history_prune){.keep_runs = KEEP_RUNS, .done = pruned, .context = soak};
    soak->is_pruning = true;
    history_prune(soak->node.history, &soak->prune);
}

static void run_until(struct soak *soak, size_t runs)
{
    size_t before = 0;
    double moved_s = now_s();
    while (noop_node_started(&soak->node) < runs) {
        noop_node_run(&soak->node, CHORES_S);
        do_chores(soak);
        if (noop_node_started(&soak->node) != before)
            moved_s = now_s();
        else if (now_s() - moved_s > STALLED_S)
            die("nothing was started for a minute");
        before = noop_node_started(&soak->node);
    }
}

/* ---- the table ---- */

/* What is there in the end may be a little more than in the middle, not twice as much. */
static bool is_flat(const struct soak *soak, enum figure figure)
{
    long middle = soak->samples[1][figure], end = soak->samples[2][figure];
    return end <= middle + middle * SLACK_PERCENT / 100 + figures[figure].slack;
}

static bool print_table(const struct soak *soak, size_t runs, double seconds)
{
    bool all_flat = true;
    printf("%zu runs in %.0f s\n\n| | after a tenth | middle | end | |\n"
           "| --- | ---: | ---: | ---: | --- |\n",
           runs, seconds);
    for (int i = 0; i < FIGURES; i++) {
        bool flat = is_flat(soak, (enum figure)i);
        all_flat &= flat;
        printf("| %s | %ld | %ld | %ld | %s |\n", figures[i].name, soak->samples[0][i],
               soak->samples[1][i], soak->samples[2][i], flat ? "flat" : "GROWS");
    }
    return all_flat;
}

int soak_node(char **argv)
{
    size_t runs = (size_t)atol(argv[0]);
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        return 77;
    }
    struct soak *soak = calloc(1, sizeof(*soak));
    if (!soak)
        die("memory");
    soak->etcd.count = 1;
    soak->folder = argv[2];
    soak->etcd.arguments[0] = "--auto-compaction-mode=periodic"; /* as docs/CLUSTER.md has it */
    soak->etcd.arguments[1] = "--auto-compaction-retention=5s";
    etcd_cluster_start(&soak->etcd);
    noop_node_init(&soak->node, soak->etcd.members[0].endpoint + strlen("http://"), "soak", argv[1],
                   soak->folder);
    double start_s = now_s();
    run_until(soak, runs / 10);
    take_sample(soak, 0);
    run_until(soak, runs / 2);
    take_sample(soak, 1);
    run_until(soak, runs);
    take_sample(soak, 2);
    double seconds = now_s() - start_s;
    size_t started = noop_node_started(&soak->node);
    bool is_idle = noop_node_drain(&soak->node);
    while (soak->is_pruning)
        noop_node_run(&soak->node, 0.1);
    noop_node_release(&soak->node);
    etcd_cluster_remove(&soak->etcd);
    bool all_flat = print_table(soak, started, seconds);
    free(soak);
    if (!is_idle)
        die("some runs did not come to their end");
    return all_flat ? 0 : 1;
}
