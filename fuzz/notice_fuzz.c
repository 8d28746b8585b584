/* Any message in the journal of notifications is refused or read; what was read can be written and
 * read again, and be told in all languages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "notice.h"
#include "notice_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check(const struct notice *notice)
{
    struct notice again;
    char key[NOTICE_KEY_MAX + 1];
    notice_key(notice, key);
    for (int language = LANGUAGE_EN; language <= LANGUAGE_ZH; language++) {
        struct strbuf title;
        strbuf_init(&title);
        notice_title(notice, (enum language)language, &title);
        strbuf_release(&title);
    }
    json_t *json = notice_encode(notice);
    if (!json) /* a name that was cut within a letter */
        return;
    require(notice_decode(json, &again) == OK);
    require(again.state == notice->state && again.reason == notice->reason);
    notice_release(&again);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct notice notice;
    json_t *json = json_loadb((const char *)bytes, length, 0, NULL);
    if (json && notice_decode(json, &notice) == OK) {
        check(&notice);
        notice_release(&notice);
    }
    json_decref(json);
    return 0;
}
