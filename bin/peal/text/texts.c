#include "text/texts.h"

#include "text/message.h" /* of the API */

const struct message *const texts[] = {
    zh_help,    zh_common, zh_client, zh_jobs,      zh_runs,  zh_agent,
    zh_cluster, zh_access, zh_coord,  zh_documents, messages, NULL,
};
