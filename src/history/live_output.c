#include "live_output.h"

#include <stdlib.h>

void live_read_release(struct live_read *read)
{
    for (size_t i = 0; i < read->count; i++)
        free((void *)read->chunks[i].bytes);
    free(read->chunks);
    read->chunks = NULL;
    read->count = 0;
}
