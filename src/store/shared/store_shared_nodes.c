/* This node among the others: joining, what the feed tells of nodes, and who leads. All of it in
 * files, so that a heartbeat costs no flush; what must be decided once is decided under the write
 * lock of the database. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame.h"
#include "shared/store_shared.h"

enum {
    BACK_MS = 5000,  /* how long a node that is restarted keeps its place */
    LEASE_MS = 5000, /* of the leader */
    RENEW_MS = 1500,
};

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void set_membership(struct store_shared *store, enum status st, const char *why)
{
    pthread_mutex_lock(&store->mutex);
    store->membership = st;
    strbuf_reset(&store->membership_text);
    strbuf_adds(&store->membership_text, why);
    pthread_mutex_unlock(&store->mutex);
}

/* ---- what the feed tells ---- */

static void tell(struct feed *feed, const struct peer *peer, bool is_alive)
{
    struct peer told = *peer;
    told.is_alive = is_alive;
    feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_PEER, .peer = &told});
}

static void tell_self(struct store_shared *store, bool is_alive, struct feed *changes)
{
    struct peer self = store->nodes.self;
    self.joined = store->nodes.seat.head.joined_us;
    self.beats_ms = STORE_SILENT_MS / 2;
    tell(changes, &self, is_alive);
}

/* Deaths first: a name may have gone over to a new life. */
static void tell_others(struct shared_nodes *nodes, struct feed *feed)
{
    for (struct seat *seat = nodes->others; seat; seat = seat->next)
        if (seat->is_node && !seat->is_alive)
            tell(feed, &seat->peer, false);
    seats_forget_dead(&nodes->others);
    for (struct seat *seat = nodes->others; seat; seat = seat->next) {
        if (!seat->is_node || seat->is_told)
            continue;
        tell(feed, &seat->peer, true);
        seat->is_told = true;
    }
}

/* ---- joining ---- */

/* Another seat with this node's name that is alive; NULL: none. An earlier life of the same home
 * that only keeps its place is over now. */
static const struct seat *find_rival(struct shared_nodes *nodes)
{
    for (struct seat *seat = nodes->others; seat; seat = seat->next) {
        if (!seat->is_node || !seat->is_alive || strcmp(seat->head.node, nodes->self.name) != 0)
            continue;
        if (seat->head.back_by_ms == 0 || seat->peer.home != nodes->self.home)
            return seat;
        seat_remove(&nodes->seat, seat);
    }
    return NULL;
}

static void explain_conflict(struct store_shared *store, const struct seat *rival)
{
    struct strbuf why;
    strbuf_init(&why);
    strbuf_addf(&why,
                "node id %s is in use by another program (pid %lld): give this one another node id",
                store->nodes.self.name, (long long)rival->head.pid);
    set_membership(store, E_CONFLICT, why.text);
    strbuf_release(&why);
}

static enum status write_self(struct shared_nodes *nodes)
{
    strbuf_reset(&nodes->seat.json);
    enum status st = peer_encode(&nodes->self, &nodes->seat.json);
    if (st == OK)
        st = strbuf_status(&nodes->seat.json);
    return st == OK ? own_seat_write(&nodes->seat) : st;
}

/* Under the write lock: of two nodes with the same name one is first. */
static void join(struct store_shared *store, struct feed *changes)
{
    struct shared_nodes *nodes = &store->nodes;
    if (shared_begin(store) != OK)
        return; /* the next step tries again */
    const struct seat *rival = NULL;
    enum status st = seats_read(&nodes->others, &nodes->seat);
    if (st == OK)
        rival = find_rival(nodes);
    if (rival) {
        explain_conflict(store, rival);
    } else if (st == OK) {
        nodes->seat.head.joined_us = clock_boot_us();
        memcpy(nodes->seat.head.node, nodes->self.name, sizeof(nodes->seat.head.node));
        st = write_self(nodes);
    }
    nodes->is_in = st == OK && !rival;
    if (sqlite_db_commit(store->db) != OK || !nodes->is_in) {
        nodes->seat.head.joined_us = 0;
        nodes->is_in = false;
        return;
    }
    set_membership(store, OK, "");
    tell_self(store, true, changes);
    bell_ring_beat(&store->bell);
}

/* The seat is gone, or others take it for that: a program has closed its lock, or removed it. */
static void take_seat_again(struct store_shared *store, struct feed *changes)
{
    struct shared_nodes *nodes = &store->nodes;
    struct strbuf why;
    strbuf_init(&why);
    if (nodes->is_in)
        tell_self(store, false, changes);
    nodes->is_in = false;
    nodes->is_asked = nodes->self.name[0] != '\0';
    nodes->seat.head.joined_us = 0;
    strbuf_reset(&nodes->seat.json);
    atomic_store(&store->leads_until_ms, 0);
    own_seat_leave(&nodes->seat, false);
    if (own_seat_take(&nodes->seat, store->folder.text, &why) != OK)
        set_membership(store, E_IO, why.text);
    strbuf_release(&why);
}

/* ---- the leader ---- */

struct lead {
    char seat[SEAT_NAME_SIZE];
    char node[64];
    int64_t until_ms; /* boot time */
};

static int open_lead(const struct store_shared *store)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/leader", store->folder.text);
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_release(&path);
    return fd;
}

/* What can't be read is nobody's: its writer died over it. */
static struct lead read_lead(int fd)
{
    struct lead lead = {.until_ms = 0};
    char *payload;
    size_t length;
    if (frame_read(fd, 0, &payload, &length) != OK)
        return lead;
    if (length == sizeof(lead))
        memcpy(&lead, payload, sizeof(lead));
    lead.seat[sizeof(lead.seat) - 1] = lead.node[sizeof(lead.node) - 1] = '\0';
    free(payload);
    return lead;
}

static bool write_lead(int fd, const struct lead *lead)
{
    struct strbuf payload, frame;
    strbuf_init(&payload);
    strbuf_init(&frame);
    strbuf_add(&payload, lead, sizeof(*lead));
    frame_add(&frame, &payload);
    bool is_written = strbuf_status(&frame) == OK &&
                      pwrite(fd, frame.text, frame.length, 0) == (ssize_t)frame.length;
    strbuf_release(&payload);
    strbuf_release(&frame);
    return is_written;
}

static bool is_own(const struct shared_nodes *nodes, const struct lead *lead)
{
    return strcmp(lead->seat, nodes->seat.name) == 0;
}

static bool is_vacant(const struct shared_nodes *nodes, const struct lead *lead)
{
    if (lead->until_ms <= now_ms())
        return true;
    if (is_own(nodes, lead))
        return !nodes->is_in || !peer_can_lead(&nodes->self);
    const struct seat *seat = nodes->others;
    while (seat && strcmp(seat->name, lead->seat) != 0)
        seat = seat->next;
    return !seat || !seat->is_alive || !seat->is_node || !peer_can_lead(&seat->peer);
}

/* Under the write lock, where nobody else writes it. */
static void take_lead(struct store_shared *store, int fd, struct lead *lead)
{
    struct shared_nodes *nodes = &store->nodes;
    if (shared_begin(store) != OK)
        return;
    *lead = read_lead(fd);
    if (is_vacant(nodes, lead) || is_own(nodes, lead)) {
        struct lead mine = {.until_ms = now_ms() + LEASE_MS};
        memcpy(mine.seat, nodes->seat.name, sizeof(mine.seat));
        memcpy(mine.node, nodes->self.name, sizeof(mine.node));
        nodes->renewed_ms = now_ms();
        if (write_lead(fd, &mine)) {
            *lead = mine;
            atomic_store(&store->leads_until_ms, mine.until_ms);
        }
    }
    if (sqlite_db_commit(store->db) != OK) /* nothing was written: it only ends */
        sqlite_db_rollback(store->db);
}

static void elect(struct store_shared *store, struct feed *changes)
{
    struct shared_nodes *nodes = &store->nodes;
    int fd = open_lead(store);
    if (fd < 0)
        return;
    bool may_lead = nodes->is_in && peer_can_lead(&nodes->self);
    if (!may_lead)
        atomic_store(&store->leads_until_ms, 0);
    struct lead lead = read_lead(fd);
    bool is_vacancy = is_vacant(nodes, &lead);
    bool is_due = is_own(nodes, &lead) && now_ms() - nodes->renewed_ms >= RENEW_MS;
    if (may_lead && (is_vacancy || is_due)) {
        take_lead(store, fd, &lead);
        is_vacancy = is_vacant(nodes, &lead);
    }
    close(fd);
    const char *leader = is_vacancy ? "" : lead.node;
    if (strcmp(leader, nodes->leader) == 0)
        return;
    snprintf(nodes->leader, sizeof(nodes->leader), "%s", leader);
    feed_add(changes, &(struct store_change){.kind = STORE_CHANGE_LEADER, .leader = leader});
    if (is_own(nodes, &lead))
        bell_ring_beat(&store->bell);
}

/* ---- the steps ---- */

enum status shared_nodes_first(struct store_shared *store, struct strbuf *why)
{
    struct shared_nodes *nodes = &store->nodes;
    enum status st = seats_read(&nodes->others, &nodes->seat);
    if (st != OK) {
        strbuf_addf(why, "can't read %s: %s", store->folder.text, strerror(errno));
        return st;
    }
    tell_others(nodes, &store->first);
    return OK;
}

static void write_heartbeat(struct store_shared *store, struct feed *changes)
{
    struct shared_nodes *nodes = &store->nodes;
    if (!nodes->is_in) {
        join(store, changes);
        nodes->is_asked = !nodes->is_in;
        return;
    }
    if (!peer_can_lead(&nodes->self)) /* first: who reads it takes the lead at once */
        atomic_store(&store->leads_until_ms, 0);
    if (write_self(nodes) != OK)
        return; /* with the next step */
    nodes->is_asked = false;
    tell_self(store, true, changes);
    bell_ring_beat(&store->bell);
}

void shared_nodes_step(struct store_shared *store, bool is_news, struct feed *changes)
{
    struct shared_nodes *nodes = &store->nodes;
    if (!own_seat_holds(&nodes->seat))
        take_seat_again(store, changes);
    if (nodes->seat.fd < 0)
        return;
    bool has_heartbeat = nodes->is_asked;
    if (has_heartbeat)
        write_heartbeat(store, changes);
    if (is_news && seats_read(&nodes->others, &nodes->seat) == OK)
        tell_others(nodes, changes);
    if (is_news || has_heartbeat)
        elect(store, changes);
}

/* The node key of R8: who has lost its seat claims, takes and begins nothing. */
bool shared_nodes_may_claim(struct store_shared *store)
{
    struct shared_nodes *nodes = &store->nodes;
    return !nodes->self.name[0] || (nodes->is_in && own_seat_holds(&nodes->seat));
}

void shared_nodes_leave(struct store_shared *store)
{
    struct shared_nodes *nodes = &store->nodes;
    bool is_kept = nodes->is_in && nodes->self.refusal == PEER_STOPPING && nodes->self.running > 0;
    if (is_kept) {
        nodes->seat.head.back_by_ms = now_ms() + BACK_MS;
        is_kept = own_seat_write(&nodes->seat) == OK;
    }
    bool was_there = nodes->seat.fd >= 0;
    own_seat_leave(&nodes->seat, is_kept);
    if (was_there)
        bell_ring_beat(&store->bell);
    seats_release(&nodes->others);
    strbuf_release(&nodes->seat.json);
}
