/* The handlers, by the file that has them; routes.c is the table of routes. */
#ifndef PEAL_HANDLERS_H
#define PEAL_HANDLERS_H

#include "call.h"

/* cluster/this_agent.c */
void get_agent(struct call *call);
void drain_agent(struct call *call);

/* access/entry.c */
void get_auth(struct call *call);
void get_me(struct call *call);
void make_link(struct call *call);

/* access/login.c */
void set_up(struct call *call);
void log_in(struct call *call);
void log_out(struct call *call);

/* documents/documents.c, for the kind that the path names */
void list_docs(struct call *call);
void get_doc(struct call *call);
void add_doc(struct call *call);
void put_doc(struct call *call);
void change_doc(struct call *call);
void delete_doc(struct call *call);

/* hooks/hooks.c */
void list_webhooks(struct call *call);

/* documents/calendar_preview.c */
void preview_calendar(struct call *call);
void get_webhook(struct call *call);
void add_webhook(struct call *call);
void change_webhook(struct call *call);
void rotate_webhook(struct call *call);
void delete_webhook(struct call *call);

/* hooks/hook_receive.c */
void receive_hook(struct call *call);

/* documents/channels.c */
void list_channels(struct call *call);
void test_channel(struct call *call);

/* documents/mutes.c */
void list_mutes(struct call *call);
void mute_job(struct call *call);
void ack_job(struct call *call);
void unmute_job(struct call *call);

/* documents/messages.c */
void list_messages(struct call *call);
void list_channel_messages(struct call *call);

/* runs/audit.c */
void list_audit(struct call *call);

/* runs/stats.c */
void get_stats(struct call *call);

/* cluster/nodes.c */
void list_nodes(struct call *call);
void get_node(struct call *call);
void drain_node(struct call *call);
void undrain_node(struct call *call);

/* cluster/node_loads.c */
void get_node_load(struct call *call);
void list_loads(struct call *call);

/* cluster/cluster.c */
void get_cluster(struct call *call);
void advance_cursors(struct call *call);

/* site/console.c */
void get_console(struct call *call);

/* site/openapi.c */
void get_openapi(struct call *call);
void get_api_page(struct call *call);

/* live/watch.c */
void watch_change(void *context, const struct store_change *change); /* for the engine */
void watch_step(void *context, const struct clock_step *step);
void get_events(struct call *call);
void get_metrics(struct call *call);
void get_livez(struct call *call);
void get_readyz(struct call *call);

/* jobs/jobs_list.c */
void list_jobs(struct call *call);

/* herd/herd_read.c */
void get_herd(struct call *call);

/* jobs/jobs_versions.c */
void list_versions(struct call *call);
void get_version(struct call *call);
void diff_versions(struct call *call);
void rollback_job(struct call *call);

/* jobs/jobs_read.c */
void get_job(struct call *call);
void get_next(struct call *call);
void get_dependencies(struct call *call);
void get_graph(struct call *call);

/* jobs/jobs_write.c */
void put_job(struct call *call);
void post_job(struct call *call);
void patch_job(struct call *call);

/* batch/jobs_batch.c */
void batch_jobs(struct call *call);
void decode_job(struct call *call);

/* definition/crontab_read.c */
void import_jobs(struct call *call);

/* jobs/jobs_act.c */
void act_on_jobs(struct call *call);

/* jobs/jobs_facets.c */
void get_facets(struct call *call);

/* jobs/jobs_actions.c */
void delete_job(struct call *call);
void undelete_job(struct call *call);
void pause_job(struct call *call);
void resume_job(struct call *call);
void skip_next(struct call *call);

/* jobs/jobs_rename.c */
void rename_job(struct call *call);

/* jobs/jobs_run.c */
void run_job(struct call *call);
void retry_run(struct call *call);

/* jobs/jobs_backfill.c */
void backfill_job(struct call *call);

/* runs/jobs_causes.c */
void list_causes(struct call *call);

/* runs/jobs_recent.c */
void list_recent(struct call *call);

/* runs/jobs_why.c */
void why_job(struct call *call);

/* runs/timeline.c */
void get_timeline(struct call *call);

/* runs/runs.c */
void list_runs(struct call *call);
void get_run(struct call *call);
void kill_run(struct call *call);
void fail_no_run(struct call *call); /* 404: neither open nor recorded */

/* workflow/steps.c */
void get_steps(struct call *call);

/* workflow/instances.c */
void list_instances(struct call *call);

/* runs/log.c */
void get_log(struct call *call);

/* runs/log_stream.c */
void stream_log(struct call *call);

/* definition/schedule.c */
void explain_schedule(struct call *call);
void next_of_schedule(struct call *call);
void validate_schedule(struct call *call);

/* facade/facade_dkron.c */
void dkron_get_status(struct call *call);
void dkron_list_members(struct call *call);
void dkron_get_leader(struct call *call);
void dkron_is_leader(struct call *call);
void dkron_list_busy(struct call *call);
void dkron_list_jobs(struct call *call);
void dkron_put_job(struct call *call);
void dkron_get_job(struct call *call);
void dkron_delete_job(struct call *call);
void dkron_run_job(struct call *call);
void dkron_toggle_job(struct call *call);
void dkron_list_executions(struct call *call);

/* facade/facade_tutorial.c */
void tutorial_save_job(struct call *call);
void tutorial_delete_job(struct call *call);
void tutorial_list_jobs(struct call *call);
void tutorial_kill_job(struct call *call);
void tutorial_list_logs(struct call *call);
void tutorial_list_workers(struct call *call);

#endif
