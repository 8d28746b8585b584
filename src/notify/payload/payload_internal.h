/* The parts of payloads: what the kinds of receivers share, and what each of them has. */
#ifndef PEAL_PAYLOAD_INTERNAL_H
#define PEAL_PAYLOAD_INTERNAL_H

#include "channel_kind.h"

/* ---- payload.c: for all of them ---- */

enum { DIGEST = 32 };

/* The title as first line, if wanted; facts, link and output, as plain text. */
void payload_add_text(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, bool with_title, struct strbuf *out);

/* Cuts a text of more than `max` bytes at the end of a character, with dots. */
void payload_cut(struct strbuf *text, size_t max);

/* HMAC-SHA256; and a digest in base 64. */
void payload_sign(const char *key, const struct strbuf *text, uint8_t digest[DIGEST]);
void payload_add_base64(struct strbuf *out, const uint8_t digest[DIGEST]);

/* "2026-11-15T03:00:12Z"; 0: null. And "": null. */
json_t *payload_time(int64_t ms);
json_t *payload_text_or_null(const char *text);

/* `body`; NULL, and it is freed, if something has failed. */
json_t *payload_unless(bool failed, json_t *body);

/* ---- payload_webhook.c ---- */

json_t *webhook_body(const struct channel *channel, const struct notice *n,
                     const struct notice_world *world, int64_t now_ms);
enum status webhook_add_headers(const struct channel *channel, const struct notice *notice,
                                int64_t now_ms, struct payload *payload);

/* ---- payload_chat.c ---- */

json_t *slack_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms);
json_t *dingtalk_body(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, int64_t now_ms);
json_t *feishu_body(const struct channel *channel, const struct notice *notice,
                    const struct notice_world *world, int64_t now_ms);
json_t *wecom_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms);
void dingtalk_sign_url(const struct channel *channel, int64_t now_ms, struct strbuf *url);

/* ---- payload_teams.c, payload_telegram.c ---- */

json_t *teams_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms);
json_t *telegram_body(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, int64_t now_ms);
void telegram_make_url(const struct channel *channel, int64_t now_ms, struct strbuf *url);

/* ---- payload_page.c ---- */

json_t *pagerduty_body(const struct channel *channel, const struct notice *notice,
                       const struct notice_world *world, int64_t now_ms);
json_t *ntfy_body(const struct channel *channel, const struct notice *notice,
                  const struct notice_world *world, int64_t now_ms);
void ntfy_make_url(const struct channel *channel, int64_t now_ms, struct strbuf *url);
enum status ntfy_add_headers(const struct channel *channel, const struct notice *notice,
                             int64_t now_ms, struct payload *payload);

/* ---- verdict.c ---- */

enum verdict judge_code(const char *body, struct strbuf *why); /* DingTalk, WeCom, Feishu */
enum verdict judge_teams(const char *body, struct strbuf *why);
enum verdict judge_telegram(const char *body, struct strbuf *why);
enum verdict judge_pagerduty(const char *body, struct strbuf *why);

#endif
