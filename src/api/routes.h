/* The table of all routes of the API. */
#ifndef PEAL_ROUTES_H
#define PEAL_ROUTES_H

#include "router.h"

#define V1 "/api/v1"

extern const struct route api_routes[];
extern const size_t api_route_count;

#endif
