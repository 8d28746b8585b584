# Writes version.h, in every build and only when it changes: a revision that was found when the
# tree was configured would be out of date after the next commit.
set(PEAL_REVISION "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${SOURCE_DIR}/.git)
    execute_process(
        COMMAND ${GIT_EXECUTABLE} describe --tags --always --dirty
        WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE PEAL_REVISION
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET)
endif()
if(PEAL_REVISION STREQUAL "v${PEAL_VERSION}")
    set(PEAL_REVISION "") # the released version itself
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
