/* The settings as a sample file. */
#include <string.h>

#include "config/settings.h"

/* Length of the map that the setting is in, with its dot; 0: none. */
static size_t map_length(const struct setting *setting)
{
    return (size_t)(setting_leaf(setting) - setting->name);
}

/* Does a new map begin with this setting? */
static bool begins_map(const struct setting *setting)
{
    size_t length = map_length(setting);
    return length && (setting == settings || strncmp(setting->name, setting[-1].name, length) != 0);
}

static const char *const sample_head[LANGUAGES] = {
    [LANGUAGE_EN] =
        "# The configuration of a peal agent: docs/CONFIG.md, peal.yaml(5).\n"
        "# Every key may be left out. `peal config validate FILE` checks the file, and\n"
        "# `peal config show --origin` prints what counts, and where it comes from.\n"
        "# Files *.yaml in the folder conf.d beside this one are read after it.\n"
        "# [reload]: SIGHUP takes it over; others wait for the next start.\n",
    [LANGUAGE_ZH] = "# peal agent 的配置：docs/CONFIG.md，peal.yaml(5)。\n"
                    "# 每个键都可以省略。`peal config validate FILE` 检查文件，\n"
                    "# `peal config show --origin` 显示生效的值及其来源。\n"
                    "# 同目录下 conf.d 中的 *.yaml 在本文件之后读取。\n"
                    "# [reload]：SIGHUP 即生效；其他的在下次启动时生效。\n",
};

/* As comments of at most WIDTH bytes, as far as there are blanks. */
static void print_comment(const char *text, struct strbuf *out)
{
    enum { WIDTH = 96 };
    size_t column = 0;
    for (const char *at = text; *at;) {
        size_t word = strcspn(at, " ");
        if (column && column + 1 + word > WIDTH) {
            strbuf_addc(out, '\n');
            column = 0;
        }
        strbuf_adds(out, column ? " " : "# ");
        strbuf_add(out, at, word);
        column += word + (column ? 1 : 2);
        at += word + strspn(at + word, " ");
    }
    strbuf_addc(out, '\n');
}

static void print_sample_row(const struct setting *setting, enum language language,
                             struct strbuf *out)
{
    size_t map = map_length(setting);
    struct strbuf comment;
    if (begins_map(setting) || (!map && setting != settings && map_length(setting - 1)))
        strbuf_addc(out, '\n');
    if (begins_map(setting))
        strbuf_addf(out, "#%.*s:\n", (int)map - 1, setting->name);
    strbuf_init(&comment);
    strbuf_addf(&comment, "%s%s", setting->help[language], setting->reloads ? " [reload]" : "");
    print_comment(comment.text, out);
    out->failed |= comment.failed;
    strbuf_release(&comment);
    strbuf_addf(out, "#%s%s: %s\n", map ? "  " : "", setting_leaf(setting), setting->sample);
}

void settings_print_sample(enum language language, struct strbuf *out)
{
    strbuf_adds(out, sample_head[language]);
    strbuf_addc(out, '\n');
    for (const struct setting *each = settings; each->name; each++)
        print_sample_row(each, language, out);
}
