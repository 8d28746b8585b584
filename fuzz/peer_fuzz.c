/* Whatever stands below a node's key is refused or read; what was read can be written and read
 * again as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct peer peer, again;
    struct strbuf text;
    char *json = malloc(length ? length : 1); /* of the exact size */
    require(json != NULL);
    memcpy(json, bytes, length);
    if (peer_decode("n1", json, length, &peer) == OK) {
        require(peer.capacity >= 1 && strlen(peer.labels) < sizeof(peer.labels));
        require(*peer_refusal_text(peer.refusal) != '\0');
        strbuf_init(&text);
        if (peer_encode(&peer, &text) == OK) {
            require(peer_decode("n1", text.text, text.length, &again) == OK);
            require(again.refusal == peer.refusal && again.running == peer.running);
            require(id_compare(&again.instance, &peer.instance) == 0);
        }
        strbuf_release(&text);
    }
    free(json);
    return 0;
}
