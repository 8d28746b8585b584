/* Fills in the title and the text of a message as people want them, of a job or of its channel
 * (job's expect/message_template.h reads them). Pure. */
#ifndef PEAL_TEMPLATE_H
#define PEAL_TEMPLATE_H

#include "notice_text.h"

/* Fills in the fields; one that the notice has no value for is empty. `$$` is `$`. */
void template_fill(const char *template, const struct notice *notice, enum language language,
                   const struct notice_world *world, struct strbuf *out);

#endif
