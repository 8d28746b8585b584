/* Any bytes as the body of a batch: cut into items as jansson would read the whole, or refused. */
#include <stdint.h>
#include <stdlib.h>

#include "../test/unit/api/batch_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool taken;
    if (!batch_is_same((const char *)data, size, &taken))
        abort();
    return 0;
}
