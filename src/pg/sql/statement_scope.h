// The search_path and the snapshot of statements.
#pragma once

#include "pg/sql/run_statement.h"

extern "C" {
#include "access/xact.h"
#include "tcop/pquery.h"
}

namespace neardup {

// Calls f() with SPI connected, and with pg_catalog as the search_path.
template <typename F>
void with_statements(F f) {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  const CatalogPath path = CatalogPath::begin();
  f();
  path.end();
  SPI_finish();
}

// Calls f(), which sees by the active snapshot what this transaction has written, and, where its isolation allows it,
// what others have committed while it waited. Statements that SPI runs have such a snapshot anyway.
template <typename F>
void with_fresh_snapshot(F f) {
  CommandCounterIncrement();
  PushActiveSnapshot(GetTransactionSnapshot());
  f();
  PopActiveSnapshot();
}

// Ends the transaction and begins the next, in a procedure that may. Locks and held names end.
inline void commit_statements() {
  SPI_commit();
  SPI_start_transaction();
  EnsurePortalSnapshotExists();
}

}  // namespace neardup
