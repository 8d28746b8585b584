# Mistakes that are planted into copies of the product's files, one per program, each of which must
# be found. peal_sim_mistake(NAME WORLD MIX FILE FROM TO BREAKS): in the world `memory` within 8,000
# drills with this mix of faults, in the others within 2,000: most of them in seconds, the rarest in minutes.
# A file of SQL becomes a text of the program, as it is in the product.
function(peal_sim_mistake name world mix file from to breaks)
    get_filename_component(kind ${file} LAST_EXT)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/mistakes/${name}${kind})
    set(target sim_mistake_${name})
    add_custom_command(OUTPUT ${copy}
        COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/src/${file} -DOUT=${copy}
                "-DFROM=${from}" "-DTO=${to}" -P ${CMAKE_CURRENT_SOURCE_DIR}/plant.cmake
        DEPENDS ${CMAKE_SOURCE_DIR}/src/${file} plant.cmake
        VERBATIM)
    if(kind STREQUAL .sql)
        get_filename_component(text ${file} NAME_WE)
        add_custom_command(OUTPUT ${copy}.c
            COMMAND ${CMAKE_COMMAND} -DINPUT=${copy} -DOUTPUT=${copy}.c -DNAME=${text}_sql
                    -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
            DEPENDS ${copy} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
            VERBATIM)
        set(copy ${copy}.c)
    endif()
    cmake_language(CALL peal_plain_${world} ${target} ${copy})
    target_compile_options(${target} PRIVATE -w) # a mistake leaves things unused
    set(drills 2000)
    if(world STREQUAL memory)
        set(drills 8000)
    endif()
    peal_script_test(sim_finds_${name} LABEL sim TIMEOUT 600
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/must_find.sh
                $<TARGET_FILE:${target}> ${mix} ${drills} ${name} "${breaks}")
endfunction()

# ---- the engine, and what a store does for it ----

peal_sim_mistake(no_window memory races engine/stages/runner/runner.c
    "if (now.boot.ms >= deadline.ms)" "if (0)"
    "a start after the window of its begin: P1")
peal_sim_mistake(cursor_stays memory races store/rules/rules_run.c
    "job.cursor_ms = claim->tick_ms;" ""
    "a tick that is claimed again and again: P1")
peal_sim_mistake(begin_without_nonce memory races store/rules/rules_run.c
    "row.run.state != RUN_CLAIMED || row.run.nonce != begin->nonce" "row.run.state != RUN_CLAIMED"
    "a node begins what another has taken over: P1")
peal_sim_mistake(late_window memory races engine/engine_feed.c
    "open->begin_sent = open->first_begin" "(void)0"
    "the window counts from a begin that came too late: P1")
peal_sim_mistake(repeat_is_new memory races engine/stages/runner/runner.c
    "open->begin_sent = open->first_begin" "(void)0"
    "the window of a begin whose answer was lost counts from its repetition: P1")
peal_sim_mistake(two_of_one memory races engine/stages/claimer.c
    "if (open_runs_find(claimer->runs, &claim->run.id))" "if (0)"
    "a claim that the feed has told of is taken for another: P1")
peal_sim_mistake(orphan_begun_again memory races engine/engine_feed.c
    "return OPEN_ORPHAN" "return OPEN_CLAIMED"
    "an agent that comes back starts what it had begun: P1")
peal_sim_mistake(old_definition memory races store/rules/rules_run.c
    "job.revision != claim->job_revision ||" ""
    "a tick is claimed from a definition that is gone: P4")
peal_sim_mistake(paused_runs memory clocks engine/stages/plan.c
    "return job->paused || (" "return ("
    "a tick is claimed while its job is paused: P4")
peal_sim_mistake(closed_days_run memory races engine/stages/plan.c
    "if (due->out.calendar)" "if (false)"
    "a tick runs on a day that a calendar of its job takes out")
peal_sim_mistake(maintenance_ignored memory people engine/stages/plan.c
    "else if (due->maintenance)" "else if (false)"
    "a tick starts in maintenance that its node has known of")
peal_sim_mistake(former_name_forgotten memory people engine/state/catalog.c
    "return job ? job : waits_former(&catalog->waits, name);" "return job;"
    "a job that was renamed is not followed by those that know it by its former name")
peal_sim_mistake(ticks_move_with_the_name memory people job/job.c
    "job->hash_name ? job->hash_name : job->name" "job->name"
    "the ticks of H move when a job is renamed")
peal_sim_mistake(absence_ignored memory boots engine/stages/plan.c
    "attendance_has_missed(rules->attendance, start_ms, now.wall.ms)" "false"
    "a tick runs as if it were on time, though nobody was there for longer")
peal_sim_mistake(absence_of_a_moment memory races engine/engine_attendance.c
    "engine->now.wall.ms - attended_ms(engine) > engine->config.on_time_ms" "true"
    "an agent that was always there counts as away: ticks are missed")
peal_sim_mistake(absence_not_waited_for memory boots engine/engine.c
    "may_claim(engine) && engine_is_attended(engine)" "may_claim(engine)"
    "a tick is planned before the absence is known in which it fell due")
peal_sim_mistake(absence_by_anybody memory leaders engine/engine_attendance.c
    ".expected_revision = watch->revision" ".expected_revision = -1"
    "a node that slept takes its own absence for that of all")
peal_sim_mistake(overlap_ignored memory races engine/stages/claimer.c
    "one_by_one ? OVERLAP_QUEUE : policy.overlap" "OVERLAP_ALLOW"
    "runs side by side that must not be")
peal_sim_mistake(slot_of_another memory groups store/rules/rules_slots.c
    "asker->held[i] >= slot->cluster" "asker->held[i] > slot->cluster"
    "more runs of a group at once than its limit")
peal_sim_mistake(slot_of_another_label memory groups store/rules/rules_slots.c
    "asker->held_alike[i][k] >= slot->alike[k]" "asker->held_alike[i][k] > slot->alike[k]"
    "more runs of a group at once on the nodes of one zone than its limit")
peal_sim_mistake(namespace_forgotten memory groups engine/groups/known_groups.c
    "i < RUN_SPACES_MAX" "i < 0"
    "runs of a namespace without its slots")
peal_sim_mistake(at_once_ignored memory people store/rules/rules.c
    "if (st == OK && at_once && open >= at_once)" "if (st == OK && at_once && open > at_once)"
    "more ticks of a job side by side than at_once says")
peal_sim_mistake(only_if_ignored memory people job/gates/only_if.c
    "return is_end && last->ended_ms > met_ms ? last->ended_ms : met_ms;" "return 1 + (int64_t)(is_end && met_ms > INT64_MAX - 1);"
    "a tick runs though the job of its condition has not succeeded")
peal_sim_mistake(slot_not_guarded etcd groups store/rules/rules_slots.c
    "rules->ops->guard_group && st == OK" "false"
    "two nodes take the same slot of a group")
peal_sim_mistake(slot_never_taken memory groups engine/groups/slots.c
    "open->is_up = !find_full(slots, &open->run);" "open->is_up = false;"
    "runs wait for a slot that is free: P6")
peal_sim_mistake(boot_not_marked memory boots engine/stages/boots.c
    "boots->is_noticed ? NULL : gather_due(boots, now)" "NULL"
    "a boot is noticed before its jobs are marked: no end of it: P2")
peal_sim_mistake(boot_left memory boots engine/stages/boots.c
    "!boots->is_stored && !has_left(boots)" "!boots->is_stored"
    "a boot gives way to the next before it is decided: P2")
peal_sim_mistake(boot_decided_twice memory boots store/rules/rules_run.c
    "if (revision != claim->boot.revision)" "if (0)"
    "a boot whose claim is repeated runs twice")
peal_sim_mistake(boot_mark_apart memory boots store/rules/rules_run.c
    "st = rules_put_doc(rules, &mark);" ""
    "a boot is not decided together with its run")
peal_sim_mistake(boot_of_anybody memory boots engine/stages/claimer_take.c
    "if (only)" "if (0)"
    "a run of a boot is taken over by another node")
peal_sim_mistake(boot_is_over memory boots engine/stages/runner/runner.c
    "if (is_of_earlier_boot(runner, now, &open->run))" "if (0)"
    "a run of a boot is started after the next one")
peal_sim_mistake(boot_in_the_way memory boots engine/stages/sweeper.c
    "return only && (!node || !node->peer.is_alive || node->is_drained);" "return false;"
    "a run of a boot waits for ever for a node that is gone")
peal_sim_mistake(boot_restored etcd restores store/kv/store_kv_advance.c
    "!mark.is_due)" "true)"
    "a boot that was due in the backup runs again")
peal_sim_mistake(miscounted_range memory races engine/stages/plan.c
    "last->count++" "last->count = 1"
    "a range of missed ticks says less than were missed: P2")
peal_sim_mistake(edited_in_silence memory races engine/stages/plan.c
    "for (int i = 0; st == OK && tick_ms <= until_ms; i++)" "for (int i = 0; i < 0; i++)"
    "ticks of a job that gets other times have no end: P2")
peal_sim_mistake(edited_twice_told memory races store/rules/rules_job.c
    "put->seen_cursor_ms != job.cursor_ms" "false"
    "a tick that was claimed is passed over by a change, too: P2")
peal_sim_mistake(followed_by_old_rules memory people store/rules/rules_next.c
    "!job.deleted && job.revision != next->run.job_revision" "false"
    "a job is made due by a definition that it had: P4")
peal_sim_mistake(entry_dropped memory races engine/engine_feed.c
    "recorder_add_entry(&engine->recorder, change->entry) != OK" "false"
    "a missed tick gets no record: P2")
peal_sim_mistake(entry_of_nobody memory races engine/stages/recorder.c
    "peer_whose(recorder->self, entry->node, &entry->owner) != WHOSE_OTHERS" "false"
    "the same, of those that are this node's: P2")
peal_sim_mistake(early_acknowledgement memory races engine/stages/recorder_store.c
    "open_runs_move(recorder->runs, open, OPEN_FINISHING)"
    "open_runs_move(recorder->runs, open, OPEN_FINISHING), \
recorder->ports->executor->ops->acknowledge(recorder->ports->executor, &open->run.id)"
    "an end is forgotten before it is stored: P2")
peal_sim_mistake(forgotten_too_soon memory clocks engine/stages/recorder.c
    "st == OK ? next : OPEN_FINISHED" "next"
    "a run leaves the store before it is on record: P2")
peal_sim_mistake(never_lost memory races engine/stages/sweeper.c
    "open->is_swept ||" "true ||"
    "runs of a node that died are never lost: P3")
peal_sim_mistake(not_amended memory races engine/engine_feed.c
    "run->state == RUN_LOST && !engine->runner.executor_ready" "false"
    "a run that was thought lost keeps that end: P3")
peal_sim_mistake(lost_for_ever memory any engine/stages/recorder.c
    "is_kept(recorder, open) ? OPEN_ENDED_ELSEWHERE"
    "false && is_kept(recorder, open) ? OPEN_ENDED_ELSEWHERE"
    "a run that was lost long ago keeps that end: P3")
peal_sim_mistake(never_looked_at memory races engine/engine_lookout.c
    "store_suspect(engine->ports.store, open->run.node)" "(void)0"
    "a tick waits for the lease of a node that is dead: P3")
peal_sim_mistake(never_adopted memory races engine/stages/sweeper.c
    "return !*node || is_gone_for(sweeper, now, node, owner, OPEN_RUN_ADOPT_MS)"
    "return (void)sweeper, (void)node, false"
    "what a node left behind is never put on record: P2")
peal_sim_mistake(never_taken_over memory races engine/stages/claimer_take.c
    "gather_phase(claimer, now, OPEN_CLAIMED_ELSEWHERE, &to)" "(void)0"
    "claims of a node that died stay: P6")
peal_sim_mistake(lost_take memory races engine/engine_feed.c
    "ours && run->state == RUN_CLAIMED" "false"
    "a take whose answer was lost is forgotten: P6")
peal_sim_mistake(function_of_an_agent memory races job/function/eligible.c
    "strlen(program) == length && strncmp(wanted, program, length) == 0"
    "!*program || (strlen(program) == length && strncmp(wanted, program, length) == 0)"
    "an agent takes a function")
peal_sim_mistake(function_of_an_older_build memory races engine/stages/planner.c
    "return !planner->ports || lacking_can_run(planner->lacking, planner->ports, job);" "return true;"
    "a process of a program claims a function that it does not have")
peal_sim_mistake(function_that_nobody_has memory races engine/engine_nodes.c
    "lacking_print(&engine->lacking, self->lacks, sizeof(self->lacks));" "(void)0;"
    "a tick waits for ever for a process that has its function: P2")
peal_sim_mistake(function_asked_for_in_vain memory races engine/stages/sweeper.c
    "!placement_has_node(sweeper->placement, job->where, function," "!placement_has_node(sweeper->placement, job->where, NULL,"
    "a run that was asked for waits for ever for a process that has its function: P2")
peal_sim_mistake(function_was_never_started memory races engine/stages/runner/runner_watch.c
    "bool is_function = peer_is_program(runner->self);" "bool is_function = false;"
    "a function that ended with its process is said to have never been started: P2")
peal_sim_mistake(rank_kept memory people engine/engine_feed.c
    "open->ranked = 0" "(void)0"
    "a run waits for nodes that may not run it any more: P6")
peal_sim_mistake(wall_clock_retry memory clocks engine/outbox.c
    "now.boot.ms + retry_after_ms" "now.wall.ms + retry_after_ms"
    "a retry waits until a wrong clock's time has come: P6")
peal_sim_mistake(end_after_takeover memory races engine/stages/recorder_store.c
    "!finish->accepted && !open->is_begun" "false"
    "an end of a run that is another node's now: P2")
peal_sim_mistake(clock_set_back memory clocks engine/engine_clock.c
    "engine->loaded && ahead_ms < clock->most_ms - STEP_MS" "false"
    "ticks wait until a wrong clock's time has come: P6")
peal_sim_mistake(never_moved_back memory jumps engine/engine_clock.c
    "if (outbox_count(batch) && may_move_back(engine))" "if (false)"
    "a cursor stays where a wrong clock put it, and nothing runs until then: P6")
peal_sim_mistake(started_again memory jumps job/rewinds.c
    "rewinds->high_ms = later(rewinds->high_ms, from_ms)" "rewinds->high_ms = from_ms, rewinds->gap_count = 1, rewinds->gaps[0] = (struct tick_gap){1, from_ms}"
    "what has started starts again when the clock is set back: P1")
peal_sim_mistake(same_names memory jumps engine/state/catalog_job.c
    "(is_again ? job->rewinds % RUN_NAMES_MS : 0)" "0"
    "ticks of a rhythm have the names that they had: P1")
peal_sim_mistake(owned_by_a_name memory twins engine/engine_feed.c
    "return whose(engine, run) == WHOSE_OURS" "return strcmp(run->node, engine->config.node) == 0"
    "what another agent under this node's name begins is started here, too: P1")
peal_sim_mistake(spoken_for_by_name memory twins job/peer.c
    "owner->home ? owner->home == home : strcmp(name, node) == 0"
    "((void)home, strcmp(name, node) == 0)"
    "a replacement says of runs that it never had that they were never started: P2")
peal_sim_mistake(alive_by_name memory twins job/peer.c
    "return !owner->home || owner->home == peer->home" "return (void)peer, (void)owner, true"
    "runs of a node that died are never lost, because another one has its name: P3")
peal_sim_mistake(take_keeps_nonce memory races store/rules/rules_run.c
    "    run->nonce = take->nonce;" ""
    "a run that was taken over is begun by the one that had claimed it: P1")
peal_sim_mistake(left_for_ever memory races engine/stages/sweeper.c
    "late_at_ms == NEVER_MS && is_for_any && is_nobodys(sweeper, job)" "false"
    "what was asked for stays claimed by a node that is gone: P6")

peal_sim_mistake(followed_twice memory any store/rules/rules_next.c
    "run_state_is_in(next->states, before)" "false"
    "what follows every end follows a loss, and then its amendment: P1")
peal_sim_mistake(loss_not_followed memory any engine/stages/follow.c
    "!ended || ended->deleted" "!ended || finish->run.state == RUN_LOST"
    "what waits for a failure does not hear of a loss: P6")

peal_sim_mistake(amended_decides memory races store/rules/rules_finish.c
    "if (before->retried)" "if (false)"
    "an amended end decides a tick that its next attempt decides")
peal_sim_mistake(lost_is_tried_at_once memory races job/definition/retry.c
    "(end->state == RUN_LOST || is_window_over(end)) && wait_ms < window_ms" "false"
    "a lost run starts while its next attempt does: P1")
peal_sim_mistake(loss_not_retried memory any engine/stages/again.c
    "finish->run.state == RUN_OK" "finish->run.state != RUN_FAILED"
    "a lost run is not tried again, though its job says so: P2")

peal_sim_mistake(part_of_anybody memory races engine/state/open_run.c
    "return run->pinned;" "return NULL;"
    "a part is taken by another node than its own")
peal_sim_mistake(part_left memory any engine/stages/sweeper.c
    "return untaken_until_ms(sweeper, now, open);" "return NEVER_MS;"
    "a part that nobody has taken in time stays: P2")
peal_sim_mistake(part_forgotten memory races store/rules/rules_part.c
    "i < parts->count" "i + 1 < parts->count"
    "the last part of a tick is never made: P2")
peal_sim_mistake(node_left_out memory races engine/stages/spread.c
    "node->is_there &&" "i < 2 &&"
    "a broadcast leaves out nodes that are there")
peal_sim_mistake(spread_twice memory races store/rules/rules_run.c
    "return take->parts.count > 0 || take->job_revision;" "return false;"
    "a run that was spread is spread again: P1")
peal_sim_mistake(spread_unseen memory people store/rules/rules_run.c
    "return take->parts.count > 0 || take->job_revision;" "return take->parts.count > 0;"
    "a run that was spread meanwhile starts on a node that it is not for")
peal_sim_mistake(spread_by_old_rules memory people store/rules/rules_run.c
    "take->job_revision && job->revision != take->job_revision" "false"
    "a run is spread by a definition that its job had: P4")
peal_sim_mistake(over_with_any_part memory races store/rules/rules_part.c
    "if (st == E_NOT_FOUND) {" "if (true) {"
    "a tick is over with the first of its parts")
peal_sim_mistake(as_the_last_part memory races store/rules/rules_part.c
    "run->outcome = worst;" "run->outcome = run->state;"
    "a tick is ok because its last part is")
peal_sim_mistake(retry_forgets_parts memory races store/rules/rules_again.c
    ".outcome = run->outcome," ""
    "a tick is ok though a part failed while another was tried again")

peal_sim_mistake(called_off_in_silence memory any engine/state/open_run.c
    "return run_is_unfollowed(run) ? OPEN_UNFOLLOWED : OPEN_FINISHED;" "return OPEN_FINISHED;"
    "a tick whose last part is called off is followed by nothing: P6")
peal_sim_mistake(called_off_twice memory any store/rules/rules_finish.c
    "row->run.finished_ms = finish->run.finished_ms;" ""
    "a tick whose last part is called off is followed twice: P1")

peal_sim_mistake(delivered_twice memory people store/rules/rules_job.c
    "if (st != OK || add->is_delivered)" "if (st != OK)"
    "a delivery of a webhook that is sent again makes a second run: P1")
peal_sim_mistake(delivered_at_once etcd people store/kv/store_kv_tables.c
    "plan_compare_key(plan, plan_doc_key(plan, kind, name), known ? known->mod_revision : 0)"
    "strcmp(kind, \"delivery\") == 0 ? OK : plan_compare_key(plan, plan_doc_key(plan, kind, name), known ? known->mod_revision : 0)"
    "a delivery of a webhook that two nodes get at the same time makes a run on each: P1")

peal_sim_mistake(all_at_once memory races store/rules/rules_part.c
    "i >= parts->at_once" "false"
    "the parts of a rolling tick go all at once")
peal_sim_mistake(turn_with_the_retry memory races store/rules/rules_finish.c
    "if (is_again) {" "if (is_again && run->rolling) (void)rules_end_part(rules, run, false, &is_last); if (is_again) {"
    "a part that is tried again has passed its turn on already")
peal_sim_mistake(turn_not_passed_on memory any store/rules/rules_part.c
    "run->rolling && !has_waited" "run->rolling && !has_waited && run->state != RUN_SKIPPED"
    "a part that is called off in its turn leaves the others waiting: P2")
peal_sim_mistake(turn_of_nobody memory people store/rules/rules_part.c
    "run->rolling && !has_waited" "run->rolling"
    "a part that is called off while it waits makes room for another")
peal_sim_mistake(failure_goes_on memory races store/rules/rules_part.c
    "end->rolling & ROLLING_STOPS && end->state != RUN_OK" "end->rolling & ROLLING_STOPS && end->state == RUN_FAILED"
    "a rolling tick goes on after a loss")

# ---- workflows ----

peal_sim_mistake(links_followed_twice memory workflows store/rules/rules_finish.c
    "bool is_one_of_many = run->parts || run_is_step(run);" "bool is_one_of_many = run->parts;"
    "the amended end of a lost step is counted once more by those that wait for it")
peal_sim_mistake(item_counted_twice memory workflows store/rules/rules_step.c
    "joins->met + joins->unmet >= joins->expected" "joins->met + joins->unmet + 1 >= joins->expected"
    "a fan-out, or an instance, is over before the last that it waits for")
peal_sim_mistake(join_ignored memory workflows engine/workflow/verdict.c
    "run->joins.met < flow_join(flow, step)" "false"
    "a step starts though those before it did not end as it requires")
peal_sim_mistake(step_forgotten_early memory workflows engine/state/open_run.c
    "return is_needed ? OPEN_KEPT : OPEN_RECORDED;" "return OPEN_RECORDED;"
    "a node forgets a step that its instance still needs, and the store does not")
peal_sim_mistake(output_of_the_lost memory workflows store/rules/rules_finish.c
    "finish->output && settled == SETTLED_TICK" "finish->output"
    "a later step gets what a lost attempt has written, not the one that was OK")

# ---- the store in etcd, and the etcd client ----

peal_sim_mistake(guard_not_compared etcd any store/kv/store_kv_plan.c
    "plan_compare_key(plan, key, job ? job->cursor_revision : 0)" "((void)job, OK)"
    "a claim from a cursor that has moved: P1")
peal_sim_mistake(guard_not_touched etcd people store/kv/store_kv_plan.c
    "if ((guard && guard->write) || !job || !mirror_job_is_whole(job))" "if (true)"
    "a change that claims do not notice: P4")
peal_sim_mistake(run_not_compared etcd races store/kv/store_kv_plan.c
    "return plan_compare_key(plan, plan_run_key(plan, id), run ? run->mod_revision : 0)"
    "return (void)run, plan_run_key(plan, id), OK"
    "a step of a run that has gone on: P1")
peal_sim_mistake(relist_not_told etcd store store/kv/store_kv_load.c
    "mirror_feed_difference(before, &store->loading, epoch_past(store), &store->feed)"
    "if (!before) mirror_feed_difference(before, &store->loading, epoch_past(store), &store->feed)"
    "what changed while a watch was gone is not told: P6")
peal_sim_mistake(silent_stream etcd store etcd/etcd_watch.c
    "long_stream_restart(&hub->stream)" "on_opened(hub)"
    "a watch that tells nothing is trusted: P6")
peal_sim_mistake(stale_look etcd leaders kv/kv_election.c
    "kv_watch_next_revision(election->watch) > result->revision + 1" "false"
    "a leader that went while another was looked for is waited for: P6")
peal_sim_mistake(half_told etcd pieces store/kv/store_kv_load.c
    "store->is_half_told = notice->is_part" "(void)0"
    "a decision on half a revision: P1")
peal_sim_mistake(copy_not_counted etcd pieces store/kv/store_kv_batch.c
    "item->item.request->is_touched = true" "(void)0"
    "a begin that a copy has done is taken for one that was not: P1")
peal_sim_mistake(lease_for_ever etcd any kv/kv_lease.c
    "now_ms >= lease->held_until_ms" "false"
    "a lease that has run out is renewed without end: P6")
peal_sim_mistake(beats_seldom etcd any kv/kv_lease.c
    "lease->is_often || now_ms < lease->often_until_ms" "false"
    "a node that is well is taken for gone: its runs are lost")
peal_sim_mistake(leads_for_ever etcd leaders kv/kv_election.c
    "return leads(election) && kv_now_ms() < kv_lease_held_until_boot_ms(election->lease)"
    "return leads(election)"
    "a node takes itself for the leader that it was: P3")
peal_sim_mistake(restore_not_noticed etcd restores store/kv/store_kv_epoch.c
    "if (is_restored(store, store->loading_sign, &memory->why))" "if (false)"
    "what ran since a backup runs again: P1")
peal_sim_mistake(data_of_another_cluster etcd restores store/kv/store_kv_epoch.c
    "may_be_same(epoch->cluster_id, sign.cluster_id)" "true"
    "a restored etcd is known only by who remembers the one before: P1")
peal_sim_mistake(answer_of_another etcd restores store/kv/store_kv_epoch.c
    "if (is_other || is_older)" "if (false)"
    "what a restored etcd answers counts for the one before: P1")
peal_sim_mistake(begun_in_backup etcd restores engine/engine_feed.c
    "runner_has_backup(&engine->runner)" "false"
    "what the feed of a restored etcd shows as begun counts as the answer to the begin: P1")
peal_sim_mistake(lift_for_any_cluster etcd restores store/kv/store_kv_advance.c
    "next->cluster_id = advance->cluster_id" "next->cluster_id = 0"
    "a lift is done by the next restored etcd, whose cursors are old: P1")
peal_sim_mistake(lift_not_looked_up etcd restores store/kv/store_kv_advance.c
    "may_be_done && advance->lifts < LIFTS_MAX" "false"
    "somebody has gone on, and is told that nobody knows")
peal_sim_mistake(fences_begin_again etcd restores store/kv/store_kv_advance.c
    "known < store->epoch.generation" "false"
    "a generation that was before the backup is begun again: all is halted once more, or fences repeat")
peal_sim_mistake(candidate_of_before etcd restores kv/kv_election.c
    "if (election->was_broken || notice->cluster_id != election->cluster_id)" "if (false)"
    "who leads in the etcd before a restore is waited for: P6")
peal_sim_mistake(cursors_not_advanced etcd restores store/kv/store_kv_advance.c
    "job->row.cursor_ms >= advance->now_ms" "true"
    "what ran since a backup runs again once it is gone on: P1")
peal_sim_mistake(watch_of_another etcd restores store/kv/store_kv_load.c
    "!epoch_is_same_cluster(store, notice->cluster_id)" "false"
    "what a restored etcd tells is added to what was before: going on is taken for a restore")

# ---- the client of Redis, and what it shares with that of PostgreSQL ----

peal_sim_mistake(renewals_unseen redis races kv/kv_observer.c
    "if (lease->beats != beats)" "if (0)"
    "leases of those who live are ended")
peal_sim_mistake(replica_not_waited_for redis store redis/redis_link.c
    "queue_push(&link->held, job);"
    "link->is_for_calls ? finish(job, false) : queue_push(&link->held, job);"
    "what a replica lacks was acknowledged, and is gone when it is promoted: P1")
peal_sim_mistake(short_wait_counts redis store redis/redis_link.c
    "finish_all(&link->held, have < link->facts.replicas);" "finish_all(&link->held, false);"
    "what too few replicas have counts: P1")
peal_sim_mistake(feed_before_replica redis store redis/redis_link.c
    "queue_push(&link->held, job);"
    "link->is_for_calls ? queue_push(&link->held, job) : finish(job, false);"
    "nodes are told of a change that a promoted replica lacks")
peal_sim_mistake(replica_not_counted redis store redis/redis_replicas.c
    "if (link->facts.replicas < replicas)" "if (false)"
    "what a replica lacks that came later was acknowledged, and is gone when it is promoted: P1")
peal_sim_mistake(replica_not_counted_for_feed redis store redis/redis_feed.c
    "redis_replicas_take(&client->stream, job->reply);" "(void)client;"
    "the feed tells of a begin that a replica lacks which came while no calls could be made: P1")

# ---- the client of PostgreSQL, and the functions of its schema ----

peal_sim_mistake(revision_without_lock postgresql store pg/pg_schema_1.sql
    "FROM kv_feed f WHERE f.one FOR UPDATE;" "FROM kv_feed f WHERE f.one;"
    "a change is seen after one with a higher revision, and is passed over: P6")
peal_sim_mistake(cursor_of_the_newest postgresql store pg/pg_feed.c
    "pg_write_int8(client->cursor_bytes, kv_feed_begin(&client->feed));"
    "(void)kv_feed_begin(&client->feed), client->feed.asked = client->newest, pg_write_int8(client->cursor_bytes, client->newest);"
    "the feed goes on from the highest revision that was seen, on any connection: P6")
peal_sim_mistake(page_taken_for_all postgresql store pg/pg_feed.c
    "if (client->feed.cursor >= rev)" "if (is_any || client->feed.cursor >= rev)"
    "changes behind the first that are read at once are passed over: P6")
peal_sim_mistake(reconnect_not_read_up postgresql store kv/kv_feed.c
    "if (!watch->base.next_revision)" "if (true)"
    "what changed between two connections is not told: P6")
peal_sim_mistake(queued_twice postgresql races pg/pg_link.c
    "queue_move(&link->waiting, &lost);" "(void)0;"
    "a node no longer looks at leases: runs of one that died are never lost: P3")
peal_sim_mistake(tag_not_compared postgresql store pg/pg_opening.c
    "pg_int8_at(rows, 0, 0) == mark->tag" "true"
    "nobody notices that a replica was promoted that lacks commits: P1")
peal_sim_mistake(unknown_is_not_done postgresql races kv/kv_request.c
    "is_sent || request->may_be_done ? E_UNKNOWN : E_UNREACHABLE" "E_UNREACHABLE"
    "a transaction whose outcome is not known is taken for one that was not done, and done again")
