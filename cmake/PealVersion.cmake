# version.h, for all that tells its version: PEAL_VERSION_DIR has it.

# The revision, where there is one, is looked up again after every commit.
# Who builds from an archive of the sources names it: -DPEAL_REVISION=...
find_package(Git QUIET)
if(NOT DEFINED CACHE{PEAL_REVISION} AND GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
    execute_process(
        COMMAND ${GIT_EXECUTABLE} describe --tags --always
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
        OUTPUT_VARIABLE PEAL_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(
        COMMAND ${GIT_EXECUTABLE} rev-parse --path-format=absolute --git-path logs/HEAD
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
        OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${head_log}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
    endif()
endif()
if(PEAL_REVISION STREQUAL "v${PROJECT_VERSION}")
    set(PEAL_REVISION "") # the released version itself
endif()
set(PEAL_VERSION_DIR ${CMAKE_BINARY_DIR}/programs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${PEAL_VERSION_DIR}/version.h @ONLY)
