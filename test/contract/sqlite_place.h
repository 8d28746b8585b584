/* Folders for SQLite stores, and the store in them. */
#ifndef PEAL_SQLITE_PLACE_H
#define PEAL_SQLITE_PLACE_H

#include "store_contract.h"

extern const struct store_backend sqlite_backend;

/* Removes a folder of plain files. */
void remove_folder(const char *path);

#endif
