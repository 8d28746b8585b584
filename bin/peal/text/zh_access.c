#include "text/texts.h"

const struct message zh_access[] = {
    {0},
};
