/* The world of etcd: three members, the network to them, and what is read from them. */
#ifndef PEAL_SIM_WIRE_WORLD_H
#define PEAL_SIM_WIRE_WORLD_H

#include "etcd_serve.h"
#include "kv/store_kv_revision.h"
#include "world.h"

struct epoch;

/* The file of a node in which it remembers how far etcd was. */
struct remembered {
    const struct loop *machine;
    bool is_there;
    struct revision_record record;
};

struct world {
    struct net net;
    struct etcd_serve etcd;
    struct epoch *epoch; /* of the revisions, as it is stored */
    struct cluster *cluster;
    struct remembered remembered[NODES_MAX];
    struct task topple; /* the leader's lease */
    int topples_left;
    struct task operate;  /* somebody who lets it go on after a restore */
    struct task strike;   /* and etcd is restored once more while he does */
    struct task away;     /* etcd goes away some time after a run was taken over: */
    bool waits_for_take;  /* and is restored from a backup in which it was not */
    int64_t first_backup; /* its revision: there is a job */
    int64_t lifted;       /* the revision of the last lift, and when it was */
    int64_t lifted_ms;
    uint32_t asked; /* a bit for each machine whose agent is about to go on, and has not answered */
    int times_asked;    /* since the restore */
    bool is_told;       /* who has lifted knows it, or nobody is there to be told */
    bool is_to_advance; /* it was restored, and not let go on yet */
    bool is_well;       /* all is, since: */
    int64_t well_ms;
};

/* ---- wire_oracle.c ---- */

/* From now on every revision is read, and told to the oracle. */
void wire_oracle_init(struct cluster *cluster);
void wire_oracle_release(struct cluster *cluster);
/* All of it is as a backup has it. */
void wire_oracle_restore(struct cluster *cluster);

/* ---- wire_restore.c ---- */

void wire_restore_init(struct world *world);
/* Etcd goes away: at once, or when the node has fallen asleep with a claim that is taken over. */
void wire_restore_begin(struct cluster *cluster, struct node *node, uint64_t *random);
/* A run was taken over. */
void wire_restore_taken(struct cluster *cluster);
/* From a backup that is some revisions old; and after a while somebody lets all go on. */
void wire_restore(struct cluster *cluster);
/* A replica takes the server's place, without the last commits. Each node has one of them on its
 * disk, so that each can tell, also one that is killed before it has compared. */
void wire_restore_behind(struct cluster *cluster, int64_t incarnation);
/* It is gone on with: what is in etcd says so. */
void wire_restore_lifted(struct cluster *cluster);
/* It is about to be. */
void wire_restore_swept(struct cluster *cluster);
/* That somebody does it soon. */
void wire_restore_hurry(struct cluster *cluster);

#endif
