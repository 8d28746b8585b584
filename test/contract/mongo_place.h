/* Where a test's history in MongoDB lives: a database of its own in a server that all tests of the
 * program share. */
#ifndef PEAL_MONGO_PLACE_H
#define PEAL_MONGO_PLACE_H

#include "history_contract.h"
#include "mongo_server.h"

extern struct mongo_server mongo_server;
extern struct history_backend mongo_backend;

/* Starts the server. False: there is none here, which was said. FerretDB looks at every document
 * for every question, and is slow. */
bool mongo_place_start(void);

/* The URL of a place, which is the name of its database. */
void mongo_place_url(const char *place, char url[512]);

/* A command, as JSON, to the place's database. */
void mongo_place_command(const char *place, const char *json);

#endif
