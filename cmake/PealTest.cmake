# What a test, a fuzzer and a benchmark are. Their programs go to test/, fuzz/ and bench/ of the
# build directory, so that its bin/ holds the product alone.

# CTest begins with the highest cost. Quick kinds of test come first, so that a mistake is seen early;
# of the others those that take long, so that none of them is left over at the end.
set(peal_cost_unit 3000)
set(peal_cost_gate 2000)
set(peal_cost_fuzz 1000)
set(peal_cost_contract 5)
set(peal_cost_sim 4)
set(peal_cost_integration 3)
set(peal_cost_security 3)
set(peal_cost_fault 2)
set(peal_cost_browser 2)

# How much of the machine a test takes: tools/test.sh gives away five slots for each processor. What
# computes takes a whole one, what mostly waits a quarter of it.
set(peal_slots_work 4)
set(peal_slots_half 2)
set(peal_slots_wait 1)

# Of tests that take long, how long, and how much of that they work.
set(costs ${PROJECT_SOURCE_DIR}/test/costs.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${costs})
file(STRINGS ${costs} rows REGEX "^(work|half|wait) ")
foreach(row IN LISTS rows)
    string(REGEX MATCH "^([a-z]+) +([0-9]+) +([a-z_.]+)$" _ "${row}")
    set(peal_way_of_${CMAKE_MATCH_3} ${CMAKE_MATCH_1})
    set(peal_cost_of_${CMAKE_MATCH_3} ${CMAKE_MATCH_2})
endforeach()

# Links layers and libraries by the names that USES gives them.
function(peal_use target)
    foreach(use IN LISTS ARGN)
        if(TARGET peal_${use})
            target_link_libraries(${target} PRIVATE peal_${use})
        else()
            target_link_libraries(${target} PRIVATE ${use})
        endif()
    endforeach()
endfunction()

# What all tests share: a label, an order, a limit in time, exit status 77 for "skipped", and an
# environment that does not depend on who runs them.
function(peal_test_properties test label timeout_s)
    if(NOT DEFINED peal_cost_${label})
        message(FATAL_ERROR "${test}: unknown LABEL ${label}")
    endif()
    set(cost ${peal_cost_${label}})
    set(way half)
    if(label MATCHES "^(unit|gate|fuzz|sim|browser)$")
        set(way work)
    endif()
    if(DEFINED peal_way_of_${test})
        set(way ${peal_way_of_${test}})
        set(cost ${peal_cost_of_${test}})
    endif()
    set_tests_properties(${test} PROPERTIES
        LABELS ${label}
        COST ${cost}
        PROCESSORS ${peal_slots_${way}}
        TIMEOUT ${timeout_s}
        SKIP_RETURN_CODE 77
        ENVIRONMENT "LC_ALL=C.UTF-8;TZ=UTC;CMOCKA_MESSAGE_OUTPUT=STDOUT;\
UBSAN_OPTIONS=print_stacktrace=1;\
PEAL_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};\
PEAL_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# peal_test(NAME SOURCES file... USES layer-or-library... [LABEL label] [TIMEOUT seconds])
# A cmocka program; CTest knows it as <label>.<name>.
function(peal_test name)
    cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;USES" ${ARGN})
    if(NOT arg_LABEL)
        set(arg_LABEL unit)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${name}_test ${arg_SOURCES})
    peal_use(${name}_test ${arg_USES} cmocka)
    set_target_properties(${name}_test PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    add_test(NAME ${arg_LABEL}.${name} COMMAND ${name}_test)
    peal_test_properties(${arg_LABEL}.${name} ${arg_LABEL} ${arg_TIMEOUT})
endfunction()

# peal_unit_tests(LAYER [USES layer-or-library...])
# Every NAME_test.c of this folder is a unit test of the layer; its other sources are shared by all
# of them. USES adds to what they link.
function(peal_unit_tests layer)
    cmake_parse_arguments(arg "" "" "USES" ${ARGN})
    file(GLOB tests CONFIGURE_DEPENDS *_test.c)
    file(GLOB shared CONFIGURE_DEPENDS *.c)
    list(REMOVE_ITEM shared ${tests})
    set(uses ${layer} ${arg_USES})
    if(shared)
        add_library(${layer}_test_shared STATIC ${shared})
        target_include_directories(${layer}_test_shared PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
        peal_use(${layer}_test_shared ${uses} cmocka)
        list(PREPEND uses ${layer}_test_shared)
    endif()
    foreach(test IN LISTS tests)
        get_filename_component(name ${test} NAME_WE)
        string(REGEX REPLACE "_test$" "" name ${name})
        peal_test(${name} SOURCES ${test} USES ${uses})
    endforeach()
endfunction()

# peal_script_test(NAME COMMAND word... [LABEL label] [TIMEOUT seconds])
# Any other program: status 0 is passed, 77 is skipped (its last line says why), else failed.
# It finds the binaries in $PEAL_BIN and the source tree in $PEAL_SOURCE.
function(peal_script_test name)
    cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "COMMAND" ${ARGN})
    if(NOT arg_LABEL)
        set(arg_LABEL integration)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 240)
    endif()
    add_test(NAME ${arg_LABEL}.${name} COMMAND ${arg_COMMAND})
    peal_test_properties(${arg_LABEL}.${name} ${arg_LABEL} ${arg_TIMEOUT})
endfunction()

# peal_fuzzer(NAME SOURCES file... USES layer-or-library... CORPUS dir)
# The sources define LLVMFuzzerTestOneInput. Any compiler builds a test that runs every file of
# the corpus through it; clang also builds the fuzzer itself, which the target `fuzz` runs.
function(peal_fuzzer name)
    cmake_parse_arguments(arg "" "CORPUS" "SOURCES;USES" ${ARGN})
    get_filename_component(corpus ${arg_CORPUS} ABSOLUTE)

    add_executable(${name}_replay ${arg_SOURCES} ${CMAKE_SOURCE_DIR}/fuzz/replay.c)
    peal_use(${name}_replay ${arg_USES})
    set_target_properties(${name}_replay PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    add_test(NAME fuzz.${name} COMMAND ${name}_replay ${corpus})
    peal_test_properties(fuzz.${name} fuzz 120)

    if(PEAL_LIBFUZZER)
        add_executable(${name}_fuzz ${arg_SOURCES})
        peal_use(${name}_fuzz ${arg_USES})
        target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
        set_target_properties(${name}_fuzz PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
        add_custom_target(fuzz_${name}
            COMMAND ${CMAKE_SOURCE_DIR}/tools/fuzz.sh $<TARGET_FILE:${name}_fuzz> ${corpus}
            WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
            USES_TERMINAL VERBATIM)
        add_dependencies(fuzzers ${name}_fuzz)
        add_dependencies(fuzz fuzz_${name})
    endif()
endfunction()

# peal_bench(NAME SOURCES file... USES layer-or-library...)
# A program that prints figures, bench/<name>_bench in the build directory; a run.sh beside it makes
# a table of them, and bench/run.sh calls them all.
function(peal_bench name)
    cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
    add_executable(${name}_bench ${arg_SOURCES})
    peal_use(${name}_bench ${arg_USES})
    set_target_properties(${name}_bench PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()
