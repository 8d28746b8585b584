#include "zone/zone_suggest.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "zone/zone_file.h"

enum {
    DEPTH_MAX = 4, /* America/Argentina/Buenos_Aires has 3; also ends loops of links */
    LETTERS_PER_MISTAKE = 4,
};

/* How far a name is from the wanted one; smaller is nearer. */
enum {
    SCORE_SAME = 0,
    SCORE_SAME_LAST_PART = 1,
    SCORE_MISTAKES = 2, /* and one more for each mistake */
    SCORE_FAR = INT_MAX,
};

struct search {
    const char *dir;
    char wanted[ZONE_SUGGESTION_SIZE];
    int scores[ZONE_SUGGESTIONS_MAX];
    struct zone_suggestions found;
};

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete or replace; case does not matter. Both are shorter than
 * ZONE_SUGGESTION_SIZE. */
static int edit_distance(const char *a, const char *b)
{
    int row[ZONE_SUGGESTION_SIZE];
    int b_length = (int)strlen(b);
    for (int j = 0; j <= b_length; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            row[j] = min(replaced, 1 + min(row[j], row[j - 1]));
        }
    }
    return row[b_length];
}

static int score_mistakes(const char *wanted, const char *name)
{
    int mistakes = edit_distance(wanted, name);
    if (mistakes > (int)strlen(wanted) / LETTERS_PER_MISTAKE)
        return SCORE_FAR;
    return SCORE_MISTAKES + mistakes;
}

static int score(const char *wanted, const char *name)
{
    if (strcasecmp(wanted, name) == 0)
        return SCORE_SAME;
    if (strcasecmp(last_part(wanted), last_part(name)) == 0)
        return SCORE_SAME_LAST_PART;
    return min(score_mistakes(wanted, name), score_mistakes(last_part(wanted), last_part(name)));
}

/* Nearer first, then by the alphabet, so that the answer does not depend on the directory's order.
 */
static bool is_before(int score_a, const char *a, int score_b, const char *b)
{
    return score_a != score_b ? score_a < score_b : strcmp(a, b) < 0;
}

static void keep_if_near(struct search *search, const char *name)
{
    struct zone_suggestions *found = &search->found;
    int name_score = score(search->wanted, name);
    int at = found->count;
    while (at > 0 && is_before(name_score, name, search->scores[at - 1], found->names[at - 1]))
        at--;
    bool near = name_score != SCORE_FAR && at < ZONE_SUGGESTIONS_MAX;
    /* Opening files is expensive: only near names are opened, and others until any zone is
     * found. */
    if ((!near && found->any_zone) || !zone_file_exists(search->dir, name))
        return;
    found->any_zone = true;
    if (!near)
        return;
    found->count = min(found->count + 1, ZONE_SUGGESTIONS_MAX);
    for (int i = found->count - 1; i > at; i--) {
        memcpy(found->names[i], found->names[i - 1], ZONE_SUGGESTION_SIZE);
        search->scores[i] = search->scores[i - 1];
    }
    snprintf(found->names[at], ZONE_SUGGESTION_SIZE, "%s", name);
    search->scores[at] = name_score;
}

/* posix/ repeats all zones, right/ counts leap seconds, and the listed files are no zones. */
static bool is_skipped(const char *name)
{
    static const char *const skipped[] = {"posix", "right", "localtime", "posixrules"};
    for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
        if (strcmp(name, skipped[i]) == 0)
            return true;
    return !zone_name_is_safe(name);
}

static void walk(struct search *search, const char *prefix, int depth)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", search->dir, prefix) >= (int)sizeof(path))
        return;
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char name[ZONE_SUGGESTION_SIZE];
        struct stat info;
        int length = snprintf(name, sizeof(name), "%s%s", prefix, entry->d_name);
        if (length >= (int)sizeof(name) - 1 || is_skipped(name) ||
            fstatat(dirfd(dir), entry->d_name, &info, 0) != 0)
            continue;
        if (S_ISREG(info.st_mode)) {
            keep_if_near(search, name);
        } else if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX) {
            name[length] = '/';
            name[length + 1] = '\0';
            walk(search, name, depth + 1);
        }
    }
    closedir(dir);
}

/* Only the best kind of match is suggested: next to a name that differs in case alone, guesses are
 * noise. */
static void drop_lesser_kinds(struct search *search)
{
    struct zone_suggestions *found = &search->found;
    if (found->count && search->scores[0] < SCORE_MISTAKES)
        while (search->scores[found->count - 1] != search->scores[0])
            found->count--;
}

struct zone_suggestions zone_suggest(const char *dir, const char *wanted)
{
    struct search search = {.dir = dir};
    /* A name that is too long to be near any zone may be cut: it still matches none. */
    snprintf(search.wanted, sizeof(search.wanted), "%s", wanted);
    for (char *c = search.wanted; *c; c++)
        if (*c == ' ')
            *c = '_';
    walk(&search, "", 1);
    drop_lesser_kinds(&search);
    return search.found;
}
