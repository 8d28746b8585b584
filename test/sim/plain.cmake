# The simulation and the layers below it once more, without sanitizers and five times as quick: for
# programs that look for one planted mistake in many lives. What is right is played under
# sanitizers (sim_memory, sim_etcd).

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)

# peal_plain(NAME...): of each target a twin, plain_NAME; those that it uses come before it.
function(peal_plain)
    foreach(target IN LISTS ARGN)
        get_target_property(type ${target} TYPE)
        get_target_property(folder ${target} SOURCE_DIR)
        get_target_property(sources ${target} SOURCES)
        get_target_property(uses ${target} LINK_LIBRARIES)
        list(TRANSFORM sources PREPEND ${folder}/ REGEX "^[^/]")
        list(FILTER uses EXCLUDE REGEX NOTFOUND)
        list(TRANSFORM uses REPLACE "^(peal_.*)$" "plain_\\1")
        string(REPLACE _LIBRARY "" kind ${type})
        add_library(plain_${target} ${kind} EXCLUDE_FROM_ALL ${sources})
        add_dependencies(plain_${target} ${target}) # for what it generates
        target_include_directories(plain_${target} PUBLIC
            $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
        target_compile_definitions(plain_${target} PRIVATE
            $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
        target_compile_options(plain_${target} PRIVATE -fno-sanitize=all -O2 -w)
        target_link_libraries(plain_${target} PUBLIC ${uses})
    endforeach()
endfunction()

peal_plain(peal_base peal_schedule peal_job peal_loop peal_engine peal_store peal_store_memory
           peal_kv peal_etcd_messages peal_etcd peal_store_kv sim_stage sim sim_memory sim_etcd sim_wire
           peal_redis_place peal_redis sim_redis sim_redis_wire
           peal_pg_address peal_pg sim_pg sim_pg_wire)

# peal_plain_memory(TARGET source...), peal_plain_etcd, peal_plain_redis and peal_plain_postgresql: as
# peal_sim_memory and so on.
function(peal_plain_program target)
    add_executable(${target} ${ARGN} $<TARGET_OBJECTS:plain_sim_stage> $<TARGET_OBJECTS:plain_sim>)
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    target_compile_options(${target} PRIVATE -fno-sanitize=all -O2)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
endfunction()
function(peal_plain_memory target)
    peal_plain_program(${target} ${ARGN} $<TARGET_OBJECTS:plain_sim_memory>)
    target_link_libraries(${target} PRIVATE plain_peal_engine plain_peal_store_memory
                          plain_peal_store plain_peal_loop plain_peal_base)
endfunction()
function(peal_plain_etcd target)
    peal_plain_program(${target} ${ARGN} $<TARGET_OBJECTS:plain_sim_wire>
        $<TARGET_OBJECTS:plain_sim_etcd>)
    target_link_libraries(${target} PRIVATE plain_peal_engine plain_peal_store_kv plain_peal_store
                          plain_peal_etcd plain_peal_kv plain_peal_loop plain_peal_base)
endfunction()
function(peal_plain_redis target)
    peal_plain_program(${target} ${ARGN} $<TARGET_OBJECTS:plain_sim_redis_wire>
        $<TARGET_OBJECTS:plain_sim_redis>)
    target_link_libraries(${target} PRIVATE plain_peal_engine plain_peal_store_kv plain_peal_store
                          plain_peal_redis plain_peal_etcd plain_peal_kv plain_peal_loop plain_peal_base)
endfunction()
function(peal_plain_postgresql target)
    peal_plain_program(${target} ${ARGN} $<TARGET_OBJECTS:plain_sim_pg_wire>
        $<TARGET_OBJECTS:plain_sim_pg>)
    target_link_libraries(${target} PRIVATE plain_peal_engine plain_peal_store_kv plain_peal_store
                          plain_peal_pg plain_peal_etcd plain_peal_kv plain_peal_loop plain_peal_base)
endfunction()
