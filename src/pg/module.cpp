// The part that PostgreSQL loads first: the magic block and the start of the module.
#include "pg/gpu/gpu_words.h"
#include "pg/base/guc.h"
#include "pg/join/join_paths.h"
#include "pg/lsh/planner/index_paths.h"
#include "pg/lsh/planner/barrier_views.h"
#include "pg/base/pg.h"

extern "C" {

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void _PG_init(void) {
  neardup::define_settings();
  neardup::install_planner_hook();
  neardup::install_view_hook();
  neardup::install_join_hook();
  neardup::watch_gpu_words();
}

}  // extern "C"
