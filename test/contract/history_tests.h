/* The tests of the suite, for its list in history_contract.c. */
#ifndef PEAL_HISTORY_TESTS_H
#define PEAL_HISTORY_TESTS_H

void test_paging(void **state);
void test_rows_are_whole(void **state);
void test_text_of_many_jobs(void **state);
void test_limits(void **state);

void test_output_binary(void **state);
void test_output_input(void **state);
void test_output_ranges(void **state);
void test_output_gaps(void **state);
void test_output_amended(void **state);

void test_stats_add_up(void **state);
void test_stats_amended(void **state);
void test_stats_spans(void **state);
void test_stats_pruned(void **state);

void test_changes_are_whole(void **state);
void test_changes_once(void **state);
void test_changes_filters(void **state);
void test_changes_pages(void **state);
void test_changes_large(void **state);
void test_changes_pruned(void **state);

#endif
