#include "kv/store_kv_revision.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool revision_file_read(const char *path, struct revision_record *ret)
{
    char name[ID_TEXT + 1];
    struct revision_record read = {.revision = 0};
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    int fields =
        fscanf(file,
               "peal-revision 1 %26s %" SCNd64 " %" SCNd64 " %" SCNx64 " %" SCNu64 " %" SCNx64
               " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
               name, &read.generation, &read.revision, &read.cluster_id, &read.term, &read.stamp,
               &read.key_revision, &read.mark.revision, &read.mark.tag, &read.mark.incarnation);
    fclose(file);
    if (fields < 10)
        read.mark = (struct kv_mark){0};
    if (fields < 3 || id_parse(name, &read.lineage) != OK)
        return false;
    *ret = read;
    return true;
}

static enum status write_whole(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return E_IO;
    size_t length = strlen(text);
    bool is_written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    return close(fd) == 0 && is_written ? OK : E_IO;
}

enum status revision_file_write(const char *path, const struct revision_record *record)
{
    char name[ID_TEXT + 1], text[256], *fresh;
    id_format(&record->lineage, name);
    snprintf(text, sizeof(text),
             "peal-revision 1 %s %" PRId64 " %" PRId64 " %" PRIx64 " %" PRIu64 " %" PRIx64
             " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
             name, record->generation, record->revision, record->cluster_id, record->term,
             record->stamp, record->key_revision, record->mark.revision, record->mark.tag,
             record->mark.incarnation);
    if (asprintf(&fresh, "%s.new", path) < 0)
        return E_NOMEM;
    enum status st = write_whole(fresh, text);
    if (st == OK && rename(fresh, path) != 0)
        st = E_IO;
    free(fresh);
    return st;
}
