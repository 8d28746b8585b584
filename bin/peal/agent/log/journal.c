#include "log/journal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log/particulars.h"
#include "strbuf.h"

enum { FIELD_NAME_MAX = 64 };

int journal_connect(const char *path, const char *stream, int fd)
{
    unsigned long long device, inode;
    struct stat file;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!stream || sscanf(stream, "%20llu:%20llu", &device, &inode) != 2 || fstat(fd, &file) != 0 ||
        file.st_dev != device || file.st_ino != inode || strlen(path) >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (journal >= 0 && connect(journal, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(journal);
        journal = -1;
    }
    return journal;
}

/* "PEAL_JOB=backup". What is too long for the name of a field is in the message alone. */
static void add_field(struct strbuf *entry, const struct particular *one)
{
    static const char prefix[] = "PEAL_";
    if (!one->key || one->key_length + sizeof(prefix) - 1 > FIELD_NAME_MAX)
        return;
    strbuf_adds(entry, prefix);
    for (size_t i = 0; i < one->key_length; i++)
        strbuf_addc(entry, (char)toupper((unsigned char)one->key[i]));
    strbuf_addc(entry, '=');
    strbuf_add(entry, one->value, one->value_length);
    strbuf_addc(entry, '\n');
}

bool journal_send(int journal, const char *event, const char *particulars)
{
    struct strbuf entry;
    struct particular one;
    strbuf_init(&entry);
    strbuf_addf(&entry, "MESSAGE=%s%s%s\n", event, *particulars ? " " : "", particulars);
    strbuf_addf(&entry, "PRIORITY=6\nSYSLOG_IDENTIFIER=peal\nPEAL_EVENT=%s\n", event);
    while (particulars_next(&particulars, &one))
        add_field(&entry, &one);
    bool is_sent = strbuf_status(&entry) == OK &&
                   send(journal, entry.text, entry.length, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                       (ssize_t)entry.length;
    strbuf_release(&entry);
    return is_sent;
}
