/* Derives a job's name from its command line. */
#include <ctype.h>
#include <string.h>

#include "crontab/crontab.h"

struct word {
    const char *text;
    size_t length;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool word_is_one_of(struct word word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (word.length == strlen(words[i]) && strncmp(word.text, words[i], word.length) == 0)
            return true;
    }
    return false;
}

static bool word_is(struct word word, const char *text)
{
    return word_is_one_of(word, &text, 1);
}

/* The next word; `;`, `&&`, `||` and `|` are words of their own. Length 0: the end. */
static struct word next_word(const char **at)
{
    *at += strspn(*at, " \t\n({\"'");
    struct word word = {*at, strcspn(*at, " \t\n;&|)}\"'<>")};
    if (!word.length)
        word.length = strspn(*at, ";&|)}<>");
    *at += word.length;
    return word;
}

static bool ends_command(struct word word)
{
    return word.length && strchr(";&|", word.text[0]) != NULL;
}

/* The part after the last slash, ignoring slashes at the end. */
static struct word base_name(struct word word)
{
    while (word.length && word.text[word.length - 1] == '/')
        word.length--;
    for (size_t i = word.length; i-- > 0;) {
        if (word.text[i] == '/')
            return (struct word){word.text + i + 1, word.length - i - 1};
    }
    return word;
}

/* The word that names the program: skips `cd /srv &&`, `A=b` and `sudo -u www`; takes the script
 * of `python3 report.py`. */
static struct word telling_word(const char *at)
{
    static const char *const preludes[] = {"cd",     "test",  "[",       "[[",    ".",  "source",
                                           "export", "umask", "command", "sleep", "set"};
    static const char *const wrappers[] = {"sudo", "nice",    "ionice",  "nohup",  "env", "exec",
                                           "time", "chronic", "timeout", "setsid", "if"};
    static const char *const shells[] = {"sh",      "bash",    "zsh",  "dash", "ksh",  "python",
                                         "python2", "python3", "perl", "php",  "node", "ruby"};
    struct word fallback = {"", 0};
    bool wrapped = false; /* after sudo and the like, whose options may follow */
    for (struct word word = next_word(&at); word.length; word = next_word(&at)) {
        struct word base = base_name(word);
        if (ends_command(word) || strchr("<>)}-", word.text[0]) ||
            memchr(word.text, '=', word.length))
            continue;
        if (wrapped && isdigit((unsigned char)word.text[0]))
            continue;
        if (!fallback.length)
            fallback = base;
        if (word_is_one_of(base, preludes, COUNT(preludes))) {
            while (word.length && !ends_command(word))
                word = next_word(&at);
            continue;
        }
        if (word_is_one_of(base, wrappers, COUNT(wrappers))) {
            wrapped = true;
            if (word_is(base, "sudo") && strncmp(at, " -u ", 4) == 0) {
                at += 4;
                (void)next_word(&at);
            }
            continue;
        }
        if (!word_is_one_of(base, shells, COUNT(shells)))
            return base;
        wrapped = true;
    }
    return fallback;
}

void crontab_job_name(const char *command, struct strbuf *out)
{
    static const char *const endings[] = {".sh", ".bash", ".py", ".pl", ".rb", ".php", ".js"};
    enum { LONGEST = 100 };
    struct word word = telling_word(command);
    for (size_t i = 0; i < COUNT(endings); i++) {
        size_t length = strlen(endings[i]);
        if (word.length > length &&
            strncmp(word.text + word.length - length, endings[i], length) == 0)
            word.length -= length;
    }
    size_t begin = out->length;
    for (size_t i = 0; i < word.length && out->length - begin < LONGEST; i++) {
        unsigned char c = (unsigned char)word.text[i];
        bool letter = c < 0x80 && (isalnum(c) || strchr("._-", c));
        if (out->length == begin && !(c < 0x80 && isalnum(c)))
            continue;
        strbuf_addc(out, letter ? (char)c : '-');
    }
    if (out->length == begin)
        strbuf_adds(out, "job");
}
