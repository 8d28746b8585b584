#include "text/texts.h"

const struct message zh_client[] = {
    {0},
};
