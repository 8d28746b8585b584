peal_layer(history_mongo
    SOURCES
        mongo/history_mongo.c
        mongo/history_mongo_changes.c
        mongo/history_mongo_link.c
        mongo/history_mongo_place.c
        mongo/history_mongo_prune.c
        mongo/history_mongo_read.c
        mongo/history_mongo_row.c
        mongo/history_mongo_schema.c
        mongo/history_mongo_stats.c
        mongo/history_mongo_words.c
        mongo/history_mongo_write.c
    USES history PkgConfig::LIBMONGOC Threads::Threads)

set(shown ${CMAKE_CURRENT_SOURCE_DIR}/mongo/history_mongo.map)
add_library(peal-mongo MODULE mongo/history_mongo.c)
target_link_libraries(peal-mongo PRIVATE peal_history_mongo)
target_link_options(peal-mongo PRIVATE -Wl,--version-script=${shown})
set_target_properties(peal-mongo PROPERTIES
    PREFIX ""
    LINK_DEPENDS ${shown}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../lib/peal)
install(TARGETS peal-mongo LIBRARY DESTINATION lib/peal)
