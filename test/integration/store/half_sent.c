/* A client of PostgreSQL that has sent a pipeline up to its Sync, which never comes: as a node that
 * freezes right then. It holds the row of the feed, and no timeout of the server ends that.
 *
 *     half_sent CONNINFO SCHEMA */
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char sql[200];
    if (argc != 3)
        return 2;
    PGconn *conn = PQconnectdb(argv[1]);
    snprintf(sql, sizeof(sql), "SELECT rev FROM %s.kv_feed WHERE one FOR UPDATE", argv[2]);
    PGresult *result = NULL;
    if (PQenterPipelineMode(conn) && PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0) &&
        PQsendFlushRequest(conn) && PQflush(conn) == 0)
        result = PQgetResult(conn);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s", PQerrorMessage(conn));
        return 1;
    }
    PQclear(result);
    printf("holds it\n");
    fflush(stdout);
    do /* until it is ended */
        poll(&(struct pollfd){.fd = PQsocket(conn), .events = POLLIN}, 1, -1);
    while (PQconsumeInput(conn));
    printf("ended\n");
    PQfinish(conn);
    return 0;
}
