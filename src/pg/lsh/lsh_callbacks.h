// The functions of the access method, by file, with PostgreSQL's own names and contracts (see its indexam.sgml).
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"

// handler.cpp: its address tells this access method from another of the same name
Datum lshhandler(PG_FUNCTION_ARGS);
}

namespace neardup {

// store/options.cpp
bytea* lshoptions(Datum reloptions, bool validate);

// handler.cpp
bool lshvalidate(Oid opclass);

// write/lsh_build.cpp
IndexBuildResult* lshbuild(Relation heap, Relation index, IndexInfo* info);
void lshbuildempty(Relation index);
char* lshbuildphasename(int64 phase);

// write/lsh_insert.cpp
bool lshinsert(Relation index, Datum* values, bool* nulls, ItemPointer tid, Relation heap, IndexUniqueCheck check,
               bool unchanged, IndexInfo* info);

// scan/lsh_scan.cpp
IndexScanDesc lshbeginscan(Relation index, int nkeys, int norderbys);
void lshrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
bool lshgettuple(IndexScanDesc scan, ScanDirection direction);
int64 lshgetbitmap(IndexScanDesc scan, TIDBitmap* tbm);
void lshendscan(IndexScanDesc scan);

// write/lsh_vacuum.cpp
IndexBulkDeleteResult* lshbulkdelete(IndexVacuumInfo* info, IndexBulkDeleteResult* stats,
                                     IndexBulkDeleteCallback callback, void* state);
IndexBulkDeleteResult* lshvacuumcleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* stats);

// planner/lsh_cost.cpp
void lshcostestimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup, Cost* total,
                     Selectivity* selectivity, double* correlation, double* pages);

}  // namespace neardup
