#include "principal.h"

const char *right_name(enum right right)
{
    switch (right) {
    case RIGHT_PUBLIC:
        return "none";
    case RIGHT_VIEW:
        return "viewer";
    case RIGHT_OPERATE:
        return "operator";
    case RIGHT_EDIT:
        return "editor";
    case RIGHT_DEFINE:
        return "define";
    case RIGHT_ADMIN:
        return "admin";
    }
    return "none";
}

const char *role_name(unsigned rights)
{
    return rights & RIGHT_ADMIN     ? "admin"
           : rights & RIGHT_EDIT    ? "editor"
           : rights & RIGHT_OPERATE ? "operator"
           : rights & RIGHT_VIEW    ? "viewer"
                                    : "none";
}
