/* The sandbox of peal-call, which talks to anybody: should one of them take it over, it can't
 * become another program, look into others, or write anywhere but to its folder. Reading is not
 * restricted: jobs name files of certificates and keys, wherever they are. */
#ifndef PEAL_CALLER_SANDBOX_H
#define PEAL_CALLER_SANDBOX_H

#include <stdbool.h>

/* Each as far as the kernel can, for the thread that calls it and those that it makes; there is no
 * way back. False: errno, and nothing is restricted. */
bool sandbox_files(int folder_fd); /* landlock: Linux 5.13 */
bool sandbox_calls(void);          /* seccomp; ENOSYS: not for this kind of machine */

#endif
