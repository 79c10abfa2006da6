// -DFAKE=one of Kind.
#include "test/gpu/fake_kind.h"

const neardup::fake::Kind neardup::fake::kKind = neardup::fake::Kind::FAKE;
