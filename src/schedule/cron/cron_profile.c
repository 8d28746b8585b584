#include "cron/cron_profile.h"

static const struct cron_dialect dialects[] = {
    [CRON_PEAL] =
        {
            .name = "peal",
            .title = "peal",
            .min_fields = 5,
            .max_fields = 7,
            .weekday_max = 7,
            .year_max = YEAR_MAX,
            .features = CRON_HAS_HASH | CRON_HAS_RANDOM | CRON_HAS_QUESTION | CRON_HAS_LAST |
                        CRON_HAS_AND | CRON_HAS_WRAP | CRON_HAS_OPEN_STEP | CRON_HAS_ZONE |
                        CRON_HAS_MACROS | CRON_HAS_INTERVALS | CRON_HAS_OWN_MACROS |
                        CRON_STEP_IS_STAR,
        },
    [CRON_QUARTZ] =
        {
            .name = "quartz",
            .title = "Quartz",
            .min_fields = 6,
            .max_fields = 7,
            .weekday_max = 7,
            .year_max = 2099,
            .features = CRON_HAS_QUESTION | CRON_HAS_LAST | CRON_HAS_WRAP | CRON_HAS_OPEN_STEP |
                        CRON_ONE_QUESTION | CRON_BARE_LAST_IS_SATURDAY | CRON_SUNDAY_IS_1,
        },
    [CRON_AWS] =
        {
            .name = "aws",
            .title = "AWS",
            .min_fields = 6,
            .max_fields = 6,
            .weekday_max = 7,
            .year_max = 2199,
            .features = CRON_HAS_QUESTION | CRON_HAS_LAST | CRON_HAS_WRAP | CRON_HAS_OPEN_STEP |
                        CRON_ONE_QUESTION | CRON_BARE_LAST_IS_SATURDAY | CRON_SUNDAY_IS_1 |
                        CRON_YEAR_SIXTH,
        },
    [CRON_JENKINS] =
        {
            .name = "jenkins",
            .title = "Jenkins",
            .min_fields = 5,
            .max_fields = 5,
            .weekday_max = 7,
            .year_max = YEAR_MAX,
            .features = CRON_HAS_HASH | CRON_HAS_ZONE | CRON_HAS_MACROS | CRON_ALWAYS_AND,
        },
    [CRON_K8S] =
        {
            .name = "k8s",
            .title = "Kubernetes",
            .min_fields = 5,
            .max_fields = 5,
            .weekday_max = 6,
            .year_max = YEAR_MAX,
            .features = CRON_HAS_QUESTION | CRON_QUESTION_ANYWHERE | CRON_HAS_OPEN_STEP |
                        CRON_HAS_MACROS | CRON_HAS_INTERVALS,
        },
    [CRON_OCPS_STRICT] =
        {
            .name = "ocps-strict",
            .title = "OCPS",
            .min_fields = 5,
            .max_fields = 7,
            .weekday_max = 7,
            .year_max = YEAR_MAX,
            .features = CRON_HAS_QUESTION | CRON_HAS_LAST | CRON_HAS_AND | CRON_HAS_MACROS |
                        CRON_STEP_IS_STAR,
        },
};

const struct cron_dialect *cron_dialect(enum cron_profile profile)
{
    return &dialects[profile];
}
