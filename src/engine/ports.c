#include "ports.h"

#include <stdio.h>

struct id made_id_next(struct made_id *last, const struct entropy *entropy, int64_t now_ms)
{
    uint8_t random[10];
    if (last->at_ms == now_ms) {
        last->id = id_next(&last->id);
        return last->id;
    }
    entropy->fill(entropy->context, random, sizeof(random));
    *last = (struct made_id){id_make((struct wall_ms){now_ms}, random), now_ms};
    return last->id;
}

struct id ports_new_id(const struct engine_ports *ports, struct wall_ms now)
{
    return made_id_next(ports->last_id, &ports->entropy, now.ms);
}

bool ports_can_run(const struct engine_ports *ports, const char *function)
{
    const struct function_book *book = &ports->functions;
    return !function || !book->has || book->has(book->context, function);
}

uint64_t ports_new_nonce(const struct engine_ports *ports)
{
    uint64_t nonce = 0;
    while (!nonce)
        ports->entropy.fill(ports->entropy.context, &nonce, sizeof(nonce));
    return nonce >> 1 ? nonce >> 1 : 1; /* fits a signed 64-bit column */
}

void ports_step(const struct engine_ports *ports, const struct clock_step *step)
{
    if (ports->clock_observer.stepped)
        ports->clock_observer.stepped(ports->clock_observer.context, step);
}

void ports_observe(const struct engine_ports *ports, const struct store_change *change)
{
    if (ports->observer.changed)
        ports->observer.changed(ports->observer.context, change);
}

void ports_log(const struct engine_ports *ports, const char *event, const char *format, ...)
{
    if (!ports->log.write)
        return;
    char particulars[512];
    va_list args;
    va_start(args, format);
    vsnprintf(particulars, sizeof(particulars), format, args);
    va_end(args);
    ports->log.write(ports->log.context, event, particulars);
}

void ports_read_pressure(const struct engine_ports *ports, struct peer *ret)
{
    ret->cpu_pressure = ret->memory_pressure = ret->cpu_load = ret->memory_used = -1;
    if (ports->pressure.read)
        ports->pressure.read(ports->pressure.context, ret);
}
