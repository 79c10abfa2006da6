// neardup.log_stages: a NOTICE with the time that each stage of a long call took. Where a call tells its progress, too.
#pragma once

#include "pg/base/guc.h"
#include "pg/base/pg.h"

namespace neardup {

struct Stages {
  instr_time began;
};

inline void begin_stages(Stages* stages) { INSTR_TIME_SET_CURRENT(stages->began); }

// what: what the stage has done; detail: more of it, or null.
inline void end_stage(Stages* stages, const char* what, const char* detail = nullptr) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  instr_time took = now;
  INSTR_TIME_SUBTRACT(took, stages->began);
  stages->began = now;
  if (guc_log_stages)
    ereport(NOTICE, (errmsg("%s in %.1f ms%s%s", what, INSTR_TIME_GET_MILLISEC(took), detail == nullptr ? "" : ": ",
                            detail == nullptr ? "" : detail)));
}

}  // namespace neardup
