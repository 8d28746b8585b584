/* Any configuration file is refused, with words, or read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/agent_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct agent_config config;
    struct strbuf why;
    char path[64];
    int fd = memfd_create("config", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    strbuf_init(&why);
    agent_config_init(&config);
    free(config.file);
    config.file = strdup(path);
    require(config.file != NULL);
    require(agent_config_read(&config, &why) == OK || why.length > 0);
    agent_config_release(&config);
    strbuf_release(&why);
    close(fd);
    return 0;
}
