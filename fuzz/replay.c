/* Stands in for libFuzzer: runs every file of the directories (or files) named as arguments through
 * the fuzzer's entry point, so that any compiler can replay a corpus. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path);
    /* Exactly as long as the input, so that the sanitizer sees a read past its end. */
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size)
        die(path);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout); /* the last line names the input that crashed */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

/* Number of inputs below a path. */
static int replay(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        die(path);
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path, (size_t)info.st_size);
        return 1;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        die(path);
    int inputs = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *below;
            if (asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0)
                die(path);
            inputs += replay(below);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return inputs;
}

int main(int argc, char **argv)
{
    int inputs = 0;
    for (int i = 1; i < argc; i++)
        inputs += replay(argv[i]);
    if (!inputs) {
        fprintf(stderr, "no inputs to replay\n");
        return 1;
    }
    printf("%d inputs replayed\n", inputs);
    return 0;
}
