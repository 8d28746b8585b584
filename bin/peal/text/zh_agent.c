#include "text/texts.h"

const struct message zh_agent[] = {
    {0},
};
