/* Why a node can't be asked, as the rest of a sentence after its name. The console translates
 * them. */
#ifndef PEAL_GATHER_WORDS_H
#define PEAL_GATHER_WORDS_H

#define NODE_IS_AWAY         "is away"
#define NODE_IS_SILENT       "did not answer in time"
#define NODE_IS_OUT_OF_REACH "could not be reached"
#define NODE_IS_CLOSED       "does not share its history (--peer-listen)"
#define NODE_OPENS_NO_PORT   "opens no port for other nodes (--peer-listen)"
#define NODE_IS_OLD          "runs an older peal, which passes no output on"

#define NODE_CANT_TELL "runs an older peal, which can't be asked that"

#define NODE_KEEPS_RECORDS "has not handed all its records over yet"
#define NODE_HAS_NO_AGENT  "has found no agent that passes its output on"

#endif
