#include "routes.h"

#include "handlers.h"

/* clang-format off */
const struct route api_routes[] = {
    /* method, path, right, flags, parameters, fields of the body, handler, what it is */
    {HTTP_GET, "/", RIGHT_PUBLIC, ROUTE_EARLY | ROUTE_PAGE, "", "", get_console, "The web console"},
    {HTTP_GET, "/assets/{name}", RIGHT_PUBLIC, ROUTE_EARLY | ROUTE_PAGE, "", "", get_console,
     "Its files"},

    {HTTP_GET, "/livez", RIGHT_PUBLIC, ROUTE_EARLY, "", "", get_livez, "Whether it answers"},
    {HTTP_GET, "/readyz", RIGHT_PUBLIC, ROUTE_EARLY, "", "", get_readyz,
     "Whether it can do its work: 503 if not"},
    {HTTP_GET, "/metrics", RIGHT_VIEW, ROUTE_EARLY | ROUTE_TEXT, "jobs", "", get_metrics,
     "Numbers for Prometheus"},
    {HTTP_GET, "/openapi.json", RIGHT_VIEW, ROUTE_EARLY, "", "", get_openapi,
     "This description, for programs"},
    {HTTP_GET, "/api", RIGHT_VIEW, ROUTE_EARLY | ROUTE_TEXT, "", "", get_api_page,
     "The same, for people"},

    {HTTP_GET, V1 "/agent", RIGHT_VIEW, ROUTE_EARLY, "", "", get_agent,
     "This node's agent, its store and its history"},
    {HTTP_POST, V1 "/agent/drain", RIGHT_ADMIN, ROUTE_EARLY, "", "", drain_agent,
     "Start nothing new on this node"},
    {HTTP_GET, V1 "/nodes", RIGHT_VIEW, 0, "", "", list_nodes, "Nodes, by name"},
    {HTTP_GET, V1 "/nodes/{id}", RIGHT_VIEW, 0, "", "", get_node, "One node"},
    {HTTP_POST, V1 "/nodes/{id}/drain", RIGHT_ADMIN, 0, "", "", drain_node,
     "Let a node start nothing new"},
    {HTTP_POST, V1 "/nodes/{id}/undrain", RIGHT_ADMIN, 0, "", "", undrain_node,
     "Let it start again"},
    {HTTP_GET, V1 "/cluster", RIGHT_VIEW, ROUTE_EARLY, "", "", get_cluster,
     "The store, the leader, how the nodes are"},
    {HTTP_POST, V1 "/cluster/advance-cursors", RIGHT_ADMIN, ROUTE_EARLY, "", "", advance_cursors,
     "Go on with a store that was restored from a backup"},
    {HTTP_GET, V1 "/me", RIGHT_VIEW, ROUTE_EARLY, "", "", get_me,
     "Who asks, and what they may do"},

    {HTTP_GET, V1 "/events", RIGHT_VIEW, ROUTE_STREAM, "topics last_event_id", "", get_events,
     "What happens, as server-sent events"},

    {HTTP_GET, V1 "/jobs", RIGHT_VIEW, 0, "limit cursor q label owner status sort fields deleted", "", list_jobs,
     "Jobs, by name"},
    {HTTP_POST, V1 "/jobs:batch", RIGHT_EDIT, ROUTE_LARGE, "", "put delete dry_run", batch_jobs,
     "Put and delete many jobs: all are checked before any is written"},
    {HTTP_GET, V1 "/jobs/{name}", RIGHT_VIEW, 0, "", "", get_job, "One job"},
    {HTTP_PUT, V1 "/jobs/{name}", RIGHT_EDIT, 0, "dry_run require_match", ANY_BODY, put_job,
     "Create a job, or replace its definition"},
    {HTTP_PATCH, V1 "/jobs/{name}", RIGHT_EDIT, 0, "dry_run require_match", ANY_BODY, patch_job,
     "Change some fields of a job (JSON merge patch)"},
    {HTTP_DELETE, V1 "/jobs/{name}", RIGHT_EDIT, 0, "require_match", "", delete_job,
     "Delete a job"},
    {HTTP_POST, V1 "/jobs/{name}/undelete", RIGHT_EDIT, 0, "", "", undelete_job,
     "Bring a deleted job back"},
    {HTTP_POST, V1 "/jobs/{name}/pause", RIGHT_OPERATE, 0, "", "", pause_job,
     "Skip its ticks from now on"},
    {HTTP_POST, V1 "/jobs/{name}/resume", RIGHT_OPERATE, 0, "", "", resume_job,
     "Run its ticks again"},
    {HTTP_POST, V1 "/jobs/{name}/skip-next", RIGHT_OPERATE, 0, "", "count", skip_next,
     "Skip its next ticks"},
    {HTTP_POST, V1 "/jobs/{name}/run", RIGHT_OPERATE, 0, "", "", run_job, "Run it now"},
    {HTTP_POST, V1 "/jobs/{name}/backfill", RIGHT_OPERATE, 0, "", "from to dry_run limit",
     backfill_job, "Run past ticks that did not run"},
    {HTTP_GET, V1 "/jobs/{name}/next", RIGHT_VIEW, 0, "n", "", get_next, "Its coming ticks"},
    {HTTP_GET, V1 "/jobs/{name}/why", RIGHT_VIEW, 0, "tick", "", why_job,
     "Why a tick ran, or did not"},

    {HTTP_GET, V1 "/runs", RIGHT_VIEW, 0,
     "job state since until node q min_duration ledger limit cursor", "", list_runs,
     "Runs, newest first"},
    {HTTP_GET, V1 "/runs/{id}", RIGHT_VIEW, 0, "", "", get_run, "One run"},
    {HTTP_POST, V1 "/runs/{id}/kill", RIGHT_OPERATE, 0, "", "", kill_run, "Kill a run"},
    {HTTP_POST, V1 "/runs/{id}/retry", RIGHT_OPERATE, 0, "", "", retry_run,
     "Run the job of a run again, now"},
    {HTTP_GET, V1 "/runs/{id}/log", RIGHT_VIEW, 0, "offset limit raw", "", get_log,
     "What a run has printed"},
    {HTTP_GET, V1 "/runs/{id}/log/stream", RIGHT_VIEW, ROUTE_STREAM, "offset", "", stream_log,
     "The same as server-sent events, to its end"},

    {HTTP_GET, V1 "/timeline", RIGHT_VIEW, 0, "from to job limit herd", "", get_timeline,
     "Past runs and coming ticks on one axis"},

    {HTTP_GET, V1 "/schedule/explain", RIGHT_VIEW, ROUTE_EARLY, "spec tz lang", "",
     explain_schedule, "A schedule in words"},
    {HTTP_GET, V1 "/schedule/next", RIGHT_VIEW, ROUTE_EARLY, "spec tz n from", "",
     next_of_schedule, "The coming ticks of a schedule"},
    {HTTP_GET, V1 "/schedule/validate", RIGHT_VIEW, ROUTE_EARLY, "spec tz lang", "",
     validate_schedule, "Whether a schedule is right, and what is wrong"},
};
/* clang-format on */

const size_t api_route_count = sizeof(api_routes) / sizeof(api_routes[0]);
