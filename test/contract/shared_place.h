/* Folders for shared SQLite stores, and the stores in them. */
#ifndef PEAL_SHARED_PLACE_H
#define PEAL_SHARED_PLACE_H

#include "store_contract.h"

extern const struct store_backend shared_backend;

#endif
