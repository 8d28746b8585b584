/* The words of answers of the agent for people. In English they are the names, as in JSON. A name
 * that this version does not know stays as it is. */
#ifndef PEAL_STATE_WORDS_H
#define PEAL_STATE_WORDS_H

const char *state_word(const char *name);  /* "timed_out"; 超时 */
const char *cause_word(const char *name);  /* "catch_up"; 补跑 */
const char *reason_word(const char *name); /* "queue_full"; 队列已满 */

#endif
