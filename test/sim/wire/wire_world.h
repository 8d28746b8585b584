/* The world of etcd: three members, the network to them, and what is read from them. */
#ifndef PEAL_SIM_WIRE_WORLD_H
#define PEAL_SIM_WIRE_WORLD_H

#include "etcd_serve.h"
#include "world.h"

struct epoch;

struct world {
    struct net net;
    struct etcd_serve etcd;
    struct epoch *epoch; /* of the revisions, as it is stored */
    struct cluster *cluster;
    struct task topple; /* the leader's lease */
    int topples_left;
};

/* ---- wire_oracle.c ---- */

/* From now on every revision is read, and told to the oracle. */
void wire_oracle_init(struct cluster *cluster);
void wire_oracle_release(struct cluster *cluster);

#endif
