/* The reader of stored definitions beside jansson: both must make the same tree of a text, and
 * refuse the same ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/node.h"

static bool same(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->count != b->count || a->weight_nodes != b->weight_nodes)
        return false;
    if (a->kind == NODE_SCALAR)
        return a->plain == b->plain && a->length == b->length && strcmp(a->text, b->text) == 0;
    const struct entry *x = a->entries, *y = b->entries;
    for (; x && y; x = x->next, y = y->next) {
        if (!x->key != !y->key || (x->key && !same(x->key, y->key)) || !same(x->value, y->value))
            return false;
    }
    return !x && !y;
}

static const struct {
    int line;
    const char *text;
} texts[] = {
    {__LINE__, "{}"},
    {__LINE__, "[]"},
    {__LINE__, " { \"a\" : [ 1 , -2 , 0 ] , \"b\" : { } }\r\n\t"},
    {__LINE__, "[null,true,false]"},
    {__LINE__, "[\"\",\"x\",\"5\",\"null\"]"},
    {__LINE__, "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"},
    {__LINE__, "[\"\\u0041\\u00e9\\u20ac\\uD83D\\uDe00\"]"},
    {__LINE__, "[\"\\u007f\\u0080\\u07ff\\u0800\\uffff\\ud800\\udc00\\udbff\\udfff\"]"},
    {__LINE__, "[\"\303\251\342\202\254\360\237\230\200\177\"]"},
    {__LINE__, "[9223372036854775807,-9223372036854775808]"},
    {__LINE__, "[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]"},
    {__LINE__, "{\"a\":{\"b\":{\"c\":[{\"d\":\"e\"}]}}}"},
};

static void makes_the_tree_that_jansson_makes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tree tree;
        struct parse_error err = {0};
        const struct node *ours, *theirs;
        json_error_t where;
        json_t *value = json_loads(texts[i].text, JSON_REJECT_DUPLICATES, &where);
        tree_init(&tree);
        if (!value || tree_from_json(&tree, value, &theirs, &err) != OK)
            fail_msg("line %d: jansson refuses it: %s", texts[i].line, where.text);
        if (tree_from_json_text(&tree, texts[i].text, &ours, &err) != OK)
            fail_msg("line %d: column %d: %s", texts[i].line, err.column, err.message);
        if (!same(ours, theirs))
            fail_msg("line %d: the trees differ", texts[i].line);
        json_decref(value);
        tree_release(&tree);
    }
}

static const struct {
    int line;
    const char *text;
    int column;
} refused[] = {
    {__LINE__, "", 1},
    {__LINE__, "{", 2},
    {__LINE__, "[1,]", 4},
    {__LINE__, "[1 2]", 4},
    {__LINE__, "{\"a\"}", 5},
    {__LINE__, "{\"a\":}", 6},
    {__LINE__, "{\"a\":1,}", 8},
    {__LINE__, "{a:1}", 2},
    {__LINE__, "{\"a\":1,\"a\":2}", 11},
    {__LINE__, "[01]", 2},
    {__LINE__, "[-]", 2},
    {__LINE__, "[1.]", 2},
    {__LINE__, "[1e]", 2},
    {__LINE__, "[+1]", 2},
    {__LINE__, "[tru]", 2},
    {__LINE__, "[nullx]", 6},
    {__LINE__, "[\"a]", 2},
    {__LINE__, "[\"a\\", 2},
    {__LINE__, "[\"\\x\"]", 2},
    {__LINE__, "[\"\\u12\"]", 2},
    {__LINE__, "[\"\\u0000\"]", 2},
    {__LINE__, "[\"\\ud83d\"]", 2},
    {__LINE__, "[\"\\ud83d\\u0041\"]", 2},
    {__LINE__, "[\"\\udc00\"]", 2},
    {__LINE__, "[\"a\tb\"]", 2},
    {__LINE__, "[\"\377\"]", 2},
    {__LINE__, "[\"\303\"]", 2},
    {__LINE__, "[\"\355\240\200\"]", 2},
    {__LINE__, "[\"\\\303\"]", 2},
    {__LINE__, "{} x", 4},
    {__LINE__, "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", 17},
};

static void refuses_what_is_no_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct tree tree;
        struct parse_error err = {0};
        const struct node *node;
        tree_init(&tree);
        enum status st = tree_from_json_text(&tree, refused[i].text, &node, &err);
        if (st != E_INVALID || err.column != refused[i].column || err.line != 1)
            fail_msg("line %d: status %d, column %d: %s", refused[i].line, (int)st, err.column,
                     err.message);
        tree_release(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_tree_that_jansson_makes),
        cmocka_unit_test(refuses_what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
