# Mistakes that engine_chaos_test (test/unit/engine) must find, as the simulation must find its own:
# without sanitizers, too.
set(engine_tests ${CMAKE_SOURCE_DIR}/test/unit/engine)
peal_plain(engine_test_shared)

add_library(plain_chaos OBJECT ${engine_tests}/engine_chaos_test.c)
target_compile_options(plain_chaos PRIVATE -fno-sanitize=all -O2 -w)
target_link_libraries(plain_chaos PRIVATE plain_engine_test_shared plain_peal_engine
                      plain_peal_store cmocka)

function(peal_chaos_mistake name file from to)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/chaos/mistakes/${name}.c)
    add_custom_command(OUTPUT ${copy}
        COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/src/${file} -DOUT=${copy}
                "-DFROM=${from}" "-DTO=${to}" -P ${CMAKE_CURRENT_SOURCE_DIR}/plant.cmake
        DEPENDS ${CMAKE_SOURCE_DIR}/src/${file} ${CMAKE_CURRENT_SOURCE_DIR}/plant.cmake
        VERBATIM)
    add_executable(chaos_mistake_${name} ${copy} $<TARGET_OBJECTS:plain_chaos>)
    target_compile_options(chaos_mistake_${name} PRIVATE -fno-sanitize=all -O2 -w)
    target_link_options(chaos_mistake_${name} PRIVATE -fno-sanitize=all)
    target_link_libraries(chaos_mistake_${name} PRIVATE plain_engine_test_shared plain_peal_engine
                          plain_peal_store cmocka)
    set_target_properties(chaos_mistake_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    peal_script_test(chaos_finds_${name} LABEL sim TIMEOUT 300
        COMMAND ${engine_tests}/must_fail.sh $<TARGET_FILE:chaos_mistake_${name}>)
endfunction()

peal_chaos_mistake(taken_over_unnoticed engine/engine_feed.c
    "if (run->nonce != open->run.nonce)" "if (false)")
peal_chaos_mistake(never_lost engine/stages/sweeper.c "add_loss(sweeper, now, &batch, open);" "")
peal_chaos_mistake(never_taken_over engine/stages/claimer_take.c
    "gather_phase(claimer, now, OPEN_CLAIMED_ELSEWHERE, &to)" "(void)0")
peal_chaos_mistake(lost_for_good engine/engine_feed.c
    "run->state == RUN_LOST && !engine->runner.executor_ready" "false")
peal_chaos_mistake(never_adopted engine/stages/sweeper.c "if (is_to_adopt(sweeper, now, open->run.node, &open->run.owner) ||"
    "if (!open->run.node[0] ||")
peal_chaos_mistake(entry_left engine/stages/sweeper.c
    "recorder_adopt_entries(sweeper->recorder, now, is_to_adopt, sweeper);" "")
peal_chaos_mistake(forget_ignored engine/engine_feed.c "take_forget(engine, &change->gone_id);" "")
peal_chaos_mistake(followed_twice store/rules/rules_next.c "run_state_is_in(next->states, before)" "false")
peal_chaos_mistake(loss_not_followed engine/stages/follow.c "!ended || ended->deleted"
    "!ended || finish->run.state == RUN_LOST")
peal_chaos_mistake(amended_not_followed engine/stages/follow.c "next->states = after_states(wait->on);"
    "next->states = after_states(AFTER_ALWAYS);")
