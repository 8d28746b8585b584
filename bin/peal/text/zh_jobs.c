#include "text/texts.h"

const struct message zh_jobs[] = {
    {0},
};
