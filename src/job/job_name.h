/* How long the name of a job can be. */
#ifndef PEAL_JOB_NAME_H
#define PEAL_JOB_NAME_H

enum { JOB_NAME_MAX = 128, JOB_NAME_SIZE = JOB_NAME_MAX + 1 };

#endif
