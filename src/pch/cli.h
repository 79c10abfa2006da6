// Precompiled for src/cli: headers of the system and of libpq. See core.h beside it.
#include "pch/core.h"

#include <filesystem>

#include <libpq-fe.h>
