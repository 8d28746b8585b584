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

peal_module(mongo history_mongo mongo/history_mongo_module.c)
