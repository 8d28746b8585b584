#include "text/texts.h"

const struct message zh_cluster[] = {
    {0},
};
