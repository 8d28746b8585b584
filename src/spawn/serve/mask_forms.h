/* The forms in which the value of a secret is masked: as it is, line by line; percent-encoded, as
 * in a URL; and in base 64, by itself or as a part of something longer, like "user:password". */
#ifndef PEAL_SERVE_MASK_FORMS_H
#define PEAL_SERVE_MASK_FORMS_H

#include "serve/masker.h"

enum { MASKED_MIN = 4 }; /* shorter lines and values are not masked */

/* E_NOMEM: the masks are not usable any more. */
MUST_CHECK enum status mask_forms_add(struct masks *masks, const char *value, size_t length);

#endif
