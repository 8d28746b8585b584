/* The expression of a step's `when`:
 *
 *     steps.extract.rows > 0 and params.mode == "full"
 *     steps.check.state == "failed" or not params.strict
 *     params.region in ["eu", "us"] and steps.list.names contains "urgent"
 *
 *     expression = term { "or" term }
 *     term       = factor { "and" factor }
 *     factor     = "not" factor | operand [ OPERATOR operand | "in" "[" operand { "," operand } "]"
 * ] OPERATOR   = "==" "!=" "<" "<=" ">" ">=" "contains" "starts_with" operand    = a reference
 * (refs.h), a number, true, false, a text in " or ' with \ before a quote or \, or an expression in
 * parentheses
 *
 * Every value is a text. Two sides compare as numbers if both are written as JSON writes numbers,
 * and neither is a text in quotes; else as texts, byte by byte. Where a condition is expected, the
 * empty text, false and 0 are false, and all else is true. A missing output is the empty text. What
 * a comparison or an expression in parentheses yields is the text true or false.
 *
 * Pure. At most STEP_WHEN_MAX bytes (steps.h), and WHEN_DEPTH_MAX parentheses and `not` within each
 * other. */
#ifndef PEAL_WHEN_H
#define PEAL_WHEN_H

#include "workflow/refs.h"

enum { WHEN_DEPTH_MAX = 32 };

/* Is it an expression, of references that are known? `names` NULL: any are. E_INVALID: *reterr has
 * the column, from 1, and what was expected there. */
MUST_CHECK enum status when_check(const char *text, const struct ref_names *names,
                                  struct parse_error *reterr);

/* The value of the expression. E_INVALID: as when_check. E_NOMEM. */
MUST_CHECK enum status when_eval(const char *text, const struct ref_values *values, bool *ret,
                                 struct parse_error *reterr);

#endif
