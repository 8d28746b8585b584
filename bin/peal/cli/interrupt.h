/* Ctrl-C while a command waits: says what goes on without it. */
#ifndef PEAL_INTERRUPT_H
#define PEAL_INTERRUPT_H

/* From now on SIGINT and SIGTERM print the text on stderr before they end the process. */
void interrupt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* They end it silently again. */
void interrupt_end(void);

#endif
