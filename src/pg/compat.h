// Every difference between PostgreSQL 14 and 18 that this extension meets. Included by pg.h only.
#pragma once

#if PG_VERSION_NUM < 140000
#error "neardup needs PostgreSQL 14 or newer"
#endif

// 16 moved the variable-length macros out of postgres.h.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "varatt.h"
}
#endif

// 15: MarkGUCPrefixReserved replaces EmitWarningsOnPlaceholders.
#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

// 15.1: InitMaterializedSRF (in 15.0 it had another name). Below, the part of it that we use.
#if PG_VERSION_NUM < 150001
static inline void InitMaterializedSRF(FunctionCallInfo fcinfo, uint32 /* flags */) {
  ReturnSetInfo* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  if (rsinfo == nullptr || !IsA(rsinfo, ReturnSetInfo) || !(rsinfo->allowedModes & SFRM_Materialize))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("set-valued function called in context that cannot accept a set")));
  MemoryContext old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type must be a row type");
  rsinfo->returnMode = SFRM_Materialize;
  rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
  rsinfo->setDesc = desc;
  MemoryContextSwitchTo(old);
}
#endif

// 16: BufFileReadExact; before, a short read is for the caller to see.
static inline void buffile_read_exact(BufFile* file, void* data, size_t size) {
#if PG_VERSION_NUM >= 160000
  BufFileReadExact(file, data, size);
#else
  if (BufFileRead(file, data, size) != size)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
#endif
}

// 16: BufFileWrite takes const data.
static inline void buffile_write(BufFile* file, const void* data, size_t size) {
#if PG_VERSION_NUM >= 160000
  BufFileWrite(file, data, size);
#else
  BufFileWrite(file, const_cast<void*>(data), size);
#endif
}
