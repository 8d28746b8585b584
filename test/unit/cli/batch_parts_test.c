/* Which jobs are sent together: those that wait for each other, whatever the size of a call. */
#include "client/batch/batch_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static void test_split(void **state)
{
    static const struct {
        int line;
        const char *definitions, *want; /* names of each list */
        size_t size, bytes;
    } cases[] = {
        {__LINE__, "[]", "[]", 2, SIZE_MAX},
        {__LINE__, "[{'name':'a'},{'name':'b'},{'name':'c'}]", "[['a','b'],['c']]", 2, SIZE_MAX},
        {__LINE__, "[{'name':'a','after':'c'},{'name':'b'},{'name':'c'}]", "[['a','c'],['b']]", 1,
         SIZE_MAX},
        {__LINE__,
         "[{'name':'a','after':['c']},{'name':'b'},{'name':'c','after':[{'job':'d'}]},"
         "{'name':'d'}]",
         "[['a','c','d'],['b']]", 1, SIZE_MAX},
        {__LINE__, "[{'name':'a','after':'elsewhere'},{'name':'b','after':'b'},{'name':'a'}]",
         "[['a'],['b'],['a']]", 1, SIZE_MAX},
        {__LINE__, "[{'name':'aaaaaaaa'},{'name':'b'},{'name':'c'}]", "[['aaaaaaaa'],['b','c']]", 9,
         18},
        {__LINE__, "[{'name':1},{},{'name':'b','after':7}]", "[[1,null],['b']]", 2, SIZE_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *definitions, *want, *lists, *list, *definition;
        char text[512];
        size_t at, in_list;
        const char *texts[] = {cases[i].definitions, cases[i].want};
        json_t **values[] = {&definitions, &want};
        for (size_t k = 0; k < 2; k++) {
            size_t length = 0;
            for (const char *c = texts[k]; *c; c++)
                text[length++] = *c == '\'' ? '"' : *c;
            *values[k] = json_loadb(text, length, 0, NULL);
            assert_non_null(*values[k]);
        }
        assert_int_equal(batch_split(definitions, cases[i].size, cases[i].bytes, &lists), OK);
        json_array_foreach (lists, at, list) {
            json_array_foreach (list, in_list, definition) {
                json_t *name = json_object_get(definition, "name");
                json_array_set_new(list, in_list, name ? json_incref(name) : json_null());
            }
        }
        if (!json_equal(lists, want))
            fail_msg("line %d: %s", cases[i].line, json_dumps(lists, JSON_COMPACT));
        json_decref(lists);
        json_decref(want);
        json_decref(definitions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
