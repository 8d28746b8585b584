peal_layer(history_mongo
    SOURCES
        history_mongo.c
        history_mongo_changes.c
        history_mongo_link.c
        history_mongo_place.c
        history_mongo_prune.c
        history_mongo_read.c
        history_mongo_row.c
        history_mongo_schema.c
        history_mongo_stats.c
        history_mongo_words.c
        history_mongo_write.c
    USES history PkgConfig::LIBMONGOC Threads::Threads)

set(shown ${CMAKE_CURRENT_SOURCE_DIR}/history_mongo.map)
add_library(peal-mongo MODULE history_mongo.c)
target_link_libraries(peal-mongo PRIVATE peal_history_mongo)
target_link_options(peal-mongo PRIVATE -Wl,--version-script=${shown})
set_target_properties(peal-mongo PROPERTIES
    PREFIX ""
    LINK_DEPENDS ${shown}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../lib/peal)
install(TARGETS peal-mongo LIBRARY DESTINATION lib/peal)
