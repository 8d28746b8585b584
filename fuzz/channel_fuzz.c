/* Any definition of a channel is refused, with words that say where, or read; what was read can be
 * written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct channel *channel = NULL;
    struct job_error error = {0};
    json_t *json = json_loadb((const char *)bytes, length, 0, NULL);
    if (json && channel_decode("ops", json, NULL, &channel, &error) == OK) {
        struct strbuf url;
        strbuf_init(&url);
        require(channel->type < CHANNEL_TYPES && channel->url);
        channel_print_url(channel, &url);
        strbuf_release(&url);
        channel_free(channel);
    }
    json_decref(json);
    return 0;
}
