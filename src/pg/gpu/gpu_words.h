// Decides, by neardup.device, whether the GPU searches for similar words.
#pragma once

#include "core/word_model/word_tiles.h"

namespace neardup {

// The offload for a SimilarWords that is made now: null with neardup.device = cpu, which leaves the module alone. Lives
// as long as the session. Opens nothing.
WordTiles* gpu_words();

// Once in the process, when the extension is loaded: device memory that a failed call has left behind is given back
// when its transaction ends.
void watch_gpu_words();

}  // namespace neardup
