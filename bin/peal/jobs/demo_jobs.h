/* The jobs that `peal dev` shows. */
#ifndef PEAL_DEMO_JOBS_H
#define PEAL_DEMO_JOBS_H

extern const char demo_jobs_yaml[];

#endif
