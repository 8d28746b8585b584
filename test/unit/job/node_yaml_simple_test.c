/* The reader of simple YAML beside libyaml: whatever it reads, both must make the same tree of,
 * with the same positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/node_yaml_simple.h"
#include "strbuf.h"

static bool same(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->count != b->count || a->weight_nodes != b->weight_nodes ||
        a->weight_bytes != b->weight_bytes || a->line != b->line || a->column != b->column)
        return false;
    if (a->kind == NODE_SCALAR)
        return a->plain == b->plain && a->exact == b->exact && a->text_column == b->text_column &&
               a->length == b->length && strcmp(a->text, b->text) == 0;
    const struct entry *x = a->entries, *y = b->entries;
    for (; x && y; x = x->next, y = y->next) {
        if (!x->key != !y->key || (x->key && !same(x->key, y->key)) || !same(x->value, y->value))
            return false;
    }
    return !x && !y;
}

/* False: the simple reader gives the text up. */
static bool compare(int line, const char *text)
{
    struct tree ours, theirs;
    struct parse_error err = {0};
    const struct node *a = NULL, *b = NULL;
    tree_init(&ours);
    tree_init(&theirs);
    enum status st = tree_from_simple_yaml(&ours, text, strlen(text), &a);
    if (st == OK && tree_from_full_yaml(&theirs, text, strlen(text), &b, &err) != OK)
        fail_msg("line %d: libyaml refuses it: %d:%d: %s\n%s", line, err.line, err.column,
                 err.message, text);
    if (st == OK) {
        const struct entry *x = a->entries, *y = b->entries;
        for (; x && y && same(x->value, y->value); x = x->next, y = y->next)
            ;
        if (x || y)
            fail_msg("line %d: the trees differ:\n%s", line, text);
    }
    tree_release(&ours);
    tree_release(&theirs);
    return st == OK;
}

static const struct {
    int line;
    bool is_read;
    const char *text;
} texts[] = {
    {__LINE__, true, ""},
    {__LINE__, true, "# nothing\n\n"},
    {__LINE__, true, "name: a\nschedule: 0 3 * * *\nshell: echo hi\n"},
    {__LINE__, true, "---\nname: a\n---\nname: b\n"},
    {__LINE__, true, "name: a\n---\n# a comment\n\nname: b"},
    {__LINE__, true, "- name: a\n  schedule: \"*/5 * * * *\"\n- name: b\n"},
    {__LINE__, true, "name: a\ncommand: [backup, --full, \"a b\", 'c', x y]\n"},
    {__LINE__, true, "name: a\nschedules:\n  - 0 3 * * *\n  - \"@daily\"\nshell: x\n"},
    {__LINE__, true, "name: a\nschedules:\n- 0 3 * * *\n- '@daily'\nshell: x\n"},
    {__LINE__, true, "name: a\nnotify:\n  on: [failure]\n  to: [ops]\nenv:\n  A: b\n"},
    {__LINE__, true, "name: a\nafter:\n  - job: b\n    on: success\n  - job: c\nshell: x\n"},
    {__LINE__, true, "name: a\nshell: |\n  one\n    two\n\n  three\n\n\nnotes: x\n"},
    {__LINE__, true, "name: a\nshell: |\n  one\n# comment\nnotes: x\n"},
    {__LINE__, true, "- shell: |\n    one\n  name: a\n"},
    {__LINE__, true, "- |\n one\n- x\n"},
    {__LINE__, true, "name: a   \nnotes:    b c  \n"},
    {__LINE__, true, "name: a\nnotes: \346\227\245\345\277\227 \"x\"\n"},
    {__LINE__, true, "name: a\nnotes: \"\346\227\245\345\277\227\"\n"},
    {__LINE__, true, "a: null\nb: ~\nc: true\nd: 5\ne: 1.10\nf: ''\n"},
    {__LINE__, true, "a: http://x.y:80/z#q\nb: x:y\nc: it's\n"},
    {__LINE__, true, "a: b\n  # deeper\nc: d\n"},
    {__LINE__, true, "null: b\nNULL: c\n"},
    {__LINE__, false, "a: b: c\n"},
    {__LINE__, false, "a: b # comment\n"},
    {__LINE__, false, "a: b\n  c\n"},
    {__LINE__, false, "a:\nb: c\n"},
    {__LINE__, false, "a: &x b\nc: *x\n"},
    {__LINE__, false, "a: !!str 5\n"},
    {__LINE__, false, "a: \"x\\ny\"\n"},
    {__LINE__, false, "a: 'it''s'\n"},
    {__LINE__, false, "a: \"x\" y\n"},
    {__LINE__, false, "a: \"x\n  y\"\n"},
    {__LINE__, false, "a: >\n  x\n"},
    {__LINE__, false, "a: |-\n  x\n"},
    {__LINE__, false, "a: |\n  x"},
    {__LINE__, false, "a: |\n\n  x\n"},
    {__LINE__, true, "a: |\n  x\n   \n  y\n"},
    {__LINE__, false, "a: |\n  x\n  \n  y\n"},
    {__LINE__, false, "a: {b: c}\n"},
    {__LINE__, false, "a: [b, [c]]\n"},
    {__LINE__, false, "a: [b,\n  c]\n"},
    {__LINE__, false, "a: []\n"},
    {__LINE__, false, "a: [b,]\n"},
    {__LINE__, false, "{\"a\": 1}\n"},
    {__LINE__, false, "a: b\na: c\n"},
    {__LINE__, false, "a: b\n c: d\n"},
    {__LINE__, false, "a:\n    b: c\n  d: e\n"},
    {__LINE__, false, "a: b\r\nc: d\r\n"},
    {__LINE__, false, "a:\tb\n"},
    {__LINE__, false, "---\n---\na: b\n"},
    {__LINE__, false, "a: b\n...\n"},
    {__LINE__, false, "--- x\n"},
    {__LINE__, false, "%YAML 1.1\n---\na: b\n"},
    {__LINE__, false, "<<: a\n"},
    {__LINE__, false, "a: x\302\205y\n"},
    {__LINE__, false, "a: x\342\200\250y\n"},
    {__LINE__, false, "- - a\n"},
    {__LINE__, false, "-  a\n"},
    {__LINE__, false, "text\n"},
    {__LINE__, false, " a: b\n"},
};

static void reads_what_it_knows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (compare(texts[i].line, texts[i].text) != texts[i].is_read)
            fail_msg("line %d: %s", texts[i].line, texts[i].is_read ? "not read" : "read");
    }
}

/* ---- any text ---- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const char *const starts[] = {"",     "",       "",      "- ",    "- ",  "a: ", "b: ",
                                     "on: ", "name: ", "- a: ", "- b: ", "a:",  "b:",  "- a:",
                                     "---",  "# ",     "- - ",  "a:  ",  "-  ", "c:",  "-",
                                     "?",    "...",    "--- ",  "|",     "[",   "d: ", "e: "};
static const char *const values[] = {"x",
                                     "x y",
                                     "0 3 * * *",
                                     "\"x\"",
                                     "'y z'",
                                     "[a, b]",
                                     "[a]",
                                     "[\"q\", -x]",
                                     "|",
                                     "null",
                                     "~",
                                     "5",
                                     "- x",
                                     "a: b",
                                     "x # y",
                                     "x#y",
                                     "x:",
                                     "x: ",
                                     "\"a\\n\"",
                                     "''",
                                     "[a b]",
                                     "[-, a]",
                                     "[a,b , c]",
                                     "*",
                                     "&a x",
                                     "!x",
                                     "{}",
                                     "[]",
                                     "|-",
                                     ">",
                                     "\346\227\245",
                                     "it's",
                                     "\"x",
                                     "[a",
                                     "x  ",
                                     "-x",
                                     "--",
                                     "?x",
                                     ":x",
                                     ",",
                                     "[?, a]",
                                     "%x",
                                     "@x",
                                     "`",
                                     "\t",
                                     "",
                                     "",
                                     "\"x\" ",
                                     "[a]  ",
                                     "[ a ]",
                                     "| ",
                                     "=",
                                     "<<: x",
                                     "[a:b]",
                                     "[=, a]",
                                     "[a#b]"};

#define PICK(list) list[random_next(&seed) % (sizeof(list) / sizeof(list[0]))]

static void makes_the_tree_that_libyaml_makes(void **state)
{
    enum { TEXTS = 300000 };
    uint64_t seed = 88172645463325252ULL;
    size_t read = 0;
    struct strbuf text;
    (void)state;
    strbuf_init(&text);
    for (int i = 0; i < TEXTS; i++) {
        size_t lines = 1 + random_next(&seed) % 6;
        strbuf_reset(&text);
        for (size_t line = 0; line < lines; line++) {
            uint64_t how = random_next(&seed) % 8;
            size_t indent = how < 3 ? 0 : how < 6 ? 2 : random_next(&seed) % 5;
            strbuf_addf(&text, "%*s%s%s", (int)indent, "", PICK(starts), PICK(values));
            if (line + 1 < lines || random_next(&seed) % 4)
                strbuf_addc(&text, '\n');
        }
        read += compare(i, text.text);
    }
    if (read < TEXTS / 100)
        fail_msg("only %zu of %d texts were read", read, TEXTS);
    strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_knows),
        cmocka_unit_test(makes_the_tree_that_libyaml_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
