/* Every command, in the order of `peal --help`. X(NAME) stands for cmd_NAME of cmd_NAME.c. */
#ifndef PEAL_COMMANDS_H
#define PEAL_COMMANDS_H

#define COMMANDS(X)                                                                                \
    X(next)                                                                                        \
    X(explain)                                                                                     \
    X(validate)                                                                                    \
    X(version)

#endif
