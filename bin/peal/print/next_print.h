/* The list of `peal next`, as a table or as JSON. */
#ifndef PEAL_NEXT_PRINT_H
#define PEAL_NEXT_PRINT_H

#include "fires.h"
#include "jobs/schedule_args.h"

struct next_list {
    struct specs specs;
    struct schedule_set set; /* of the specs, in the same order */
    int64_t from_s, until_s; /* after `from_s`, up to `until_s` inclusive */
    bool jitter;             /* show when each run starts */
    struct fire *fires;
    size_t count;
    bool more; /* fires were left out */
};

enum next_output { NEXT_TABLE, NEXT_JSON }; /* in the order of the words for -o */

void next_list_init(struct next_list *list);
void next_list_release(struct next_list *list);

/* Fills in the fires, at most `limit`, from everything above them. */
MUST_CHECK enum status next_list_collect(struct next_list *list, size_t limit);

MUST_CHECK enum status next_list_print(const struct next_list *list, enum next_output output);

#endif
