#include "text/texts.h"

const struct message zh_runs[] = {
    {0},
};
