/* CronJobs of Kubernetes as jobs that run the same image. */
#ifndef PEAL_CRONJOB_H
#define PEAL_CRONJOB_H

#include "foreign/foreign.h"

/* Reads what `kubectl get cronjobs -o yaml` (or json) prints, or manifests, in one or several
 * documents. Other kinds are left out, with a note. As gocron_import otherwise. */
MUST_CHECK enum status cronjob_import(const char *text, size_t length,
                                      const struct foreign_options *options, struct zone_db *zones,
                                      struct foreign *ret, struct parse_error *reterr);

#endif
