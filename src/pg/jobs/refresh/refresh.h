// A refresh from its first step to its last, each a transaction of its own where it may commit. What was committed
// stays: a refresh that ends early is continued by the next.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

struct RefreshOptions {
  Oid job;
  Oid function;                // of the extension, the one that runs
  int32 batch;                 // rows that one step signs at the most
  const Interval* time_limit;  // null: none
  bool commit;
  bool rebuild;  // all rows are signed and clustered anew
  bool scan;     // all rows are compared with what is known of them
};

// The caller holds the lock of the job. SPI is connected, and not atomic where options.commit. Errors have no context
// of ours; where it commits, the job keeps their message.
void refresh(const RefreshOptions& options);

}  // namespace neardup
