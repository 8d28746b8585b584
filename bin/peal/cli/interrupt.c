#include "cli/interrupt.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text/tr.h"

/* A handler gets nothing but the number of the signal. */
static char last_words[256];

/* The default action follows: it was restored by SA_RESETHAND. */
static void on_signal(int number)
{
    if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0) {
        /* the terminal is gone; the end is the same */
    }
    raise(number);
}

/* A signal that whoever started the command has turned off stays so. */
static void set(int number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

void interrupt_say(const char *format, ...)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    va_list args;
    sigemptyset(&action.sa_mask);
    va_start(args, format);
    vsnprintf(last_words, sizeof(last_words), tr(format), args);
    va_end(args);
    set(SIGINT, &action);
    set(SIGTERM, &action);
}

void interrupt_end(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    set(SIGINT, &action);
    set(SIGTERM, &action);
}
