#include "etcd_call_queue.h"

#include <stdlib.h>

static void moved(void *item, uint32_t place)
{
    struct etcd_call *call = item;
    call->place = place;
}

void call_queue_init(struct etcd_client *client)
{
    client->waiting_end = &client->waiting;
    client->timer_at_ms = INT64_MAX;
    heap_init(&client->wakes, moved);
}

void call_wait_in_line(struct etcd_call *call)
{
    struct etcd_client *client = call->client;
    call->state = CALL_WAITING;
    call->next = NULL;
    call->link = client->waiting_end;
    *call->link = call;
    client->waiting_end = &call->next;
}

void call_leave_line(struct etcd_call *call)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    else
        call->client->waiting_end = call->link;
}

void call_queue_arm(struct etcd_client *client)
{
    if (client->wakes.count == 0 || client->wakes.entries[0].key >= client->timer_at_ms)
        return;
    int64_t delay_ms = client->wakes.entries[0].key - kv_now_ms();
    client->timer_at_ms = client->wakes.entries[0].key;
    loop_timer_set(client->timer, delay_ms > 0 ? delay_ms : 0);
}

void call_look_again_at(struct etcd_call *call, int64_t at_ms)
{
    heap_update(&call->client->wakes, call->place,
                at_ms < call->deadline_at_ms ? at_ms : call->deadline_at_ms);
    call_queue_arm(call->client);
}

bool call_is_overdue(const struct etcd_call *call, int64_t now_ms)
{
    bool is_late = call->state == CALL_SENT && now_ms - call->sent_ms >= call->patience_ms;
    return call->may_repeat && (is_late || call->is_lost);
}

void etcd_call_free(struct etcd_call *call)
{
    if (call->state == CALL_WAITING)
        call_leave_line(call);
    if (call->stream)
        grpc_stream_cancel(call->stream);
    heap_remove(&call->client->wakes, call->place);
    free(call->request);
    free(call->answer);
    free(call->last_error);
    free(call);
}
