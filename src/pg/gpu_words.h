// Whether similar words are sought on the GPU: neardup.device decides.
#pragma once

#include "core/word_tiles.h"

namespace neardup {

// What a SimilarWords made now is to be given: null with neardup.device = cpu, which leaves the module alone. Lives as
// long as the session; device memory that a failed call has left behind is given back when the transaction ends.
// Opens nothing. Calls PostgreSQL, may not throw.
WordTiles* gpu_words();

}  // namespace neardup
