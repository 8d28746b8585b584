/* What tests want of the machine. What can't be had ends the test. */
#ifndef PEAL_TEST_MACHINE_H
#define PEAL_TEST_MACHINE_H

/* A port of the loopback address that nobody uses now. */
int free_port(void);

/* Runs a shell command that has to succeed. */
void run_command(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
