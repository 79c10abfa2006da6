// Precompiled for src/cli: headers of the system and of libpq. See core.h beside it.
#include <filesystem>
#include <libpq-fe.h>

#include "pch/core.h"
