/* The words of answers of the agent for people. In English they are the names, as in JSON. A name
 * that this version does not know stays as it is. */
#ifndef PEAL_STATE_WORDS_H
#define PEAL_STATE_WORDS_H

#include "strbuf.h"

const char *state_word(const char *name);  /* "timed_out"; 超时 */
const char *cause_word(const char *name);  /* "catch_up"; 补跑 */
const char *reason_word(const char *name); /* "queue_full"; 队列已满 */
const char *reason_text(const char *name); /* "queue_full"; 等待队列已满（overlap: queue） */
const char *why_word(const char *name);    /* state of a run, or why there is none: "upcoming" */

const char *node_word(const char *name);    /* state of a node: "clock_doubt"; 时钟不可信 */
const char *agent_word(const char *name);   /* state of an agent: "loading"; 加载中 */
const char *history_word(const char *name); /* of a node: "shared", or why it can't be read */
const char *absence_word(const char *why);  /* "did not answer in time"; 未及时应答 */
const char *action_word(const char *name);  /* of the audit log: "skip_next"; 跳过下一次 */
const char *kind_word(const char *name);    /* of its targets: "channel"; 通知渠道 */

const char *event_word(const char *name);         /* of a message: "recovery"; 恢复 */
const char *message_state_word(const char *name); /* "given_up"; 已放弃 */

/* Notes on a tick: "moved: 02:30 does not exist on this day"; 已顺移：这一天没有 02:30 */
void note_words(const char *note, struct strbuf *out);

#endif
