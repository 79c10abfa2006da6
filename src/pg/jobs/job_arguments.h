// Arguments of functions that make or change a job. Null, InvalidOid and NaN stand for NULL, as in JobRow.
#pragma once

#include <cmath>
#include <limits>

#include "pg/values/values.h"

#include "pg/jobs/job.h"
#include "pg/values/arrays.h"

namespace neardup {

// The value of the argument follow; what holds where it is NULL.
inline bool follows_by_trigger(const char* given, bool otherwise) {
  if (given == nullptr) return otherwise;
  if (strcmp(given, "trigger") != 0 && strcmp(given, "scan") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("follow must be 'scan' or 'trigger': %s", quote_literal_cstr(given))));
  return strcmp(given, "trigger") == 0;
}

class JobArguments {
 public:
  explicit JobArguments(FunctionCallInfo fcinfo) : fcinfo_(fcinfo) {}

  // SQL of 0.3 does not declare the last arguments.
  bool is_null(int n) const { return n >= fcinfo_->nargs || fcinfo_->args[n].isnull; }
  Oid oid(int n) const { return is_null(n) ? InvalidOid : DatumGetObjectId(value(n)); }
  const char* string(int n) const { return is_null(n) ? nullptr : TextDatumGetCString(value(n)); }
  const char* name(int n) const { return is_null(n) ? nullptr : pstrdup(NameStr(*DatumGetName(value(n)))); }
  const Interval* interval(int n) const { return is_null(n) ? nullptr : DatumGetIntervalP(value(n)); }

  // NaN would be taken for NULL. what: name of the argument.
  double fraction(int n, const char* what) const {
    if (is_null(n)) return std::numeric_limits<double>::quiet_NaN();
    const double given = DatumGetFloat8(value(n));
    if (std::isnan(given))
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be above 0 and at most 1: NaN", what)));
    return given;
  }

  // An array of names, which may be NULL itself.
  const char** names(int n, const char* what, int* count) const {
    *count = 0;
    if (is_null(n)) return nullptr;
    const Elements elements = array_elements(DatumGetArrayTypeP(value(n)));
    for (int i = 0; i < elements.count; ++i)
      if (elements.nulls[i]) refuse_null_element(i, what, what);
    *count = elements.count;
    return strings_of_names(elements);
  }

 private:
  Datum value(int n) const { return fcinfo_->args[n].value; }

  FunctionCallInfo fcinfo_;
};

}  // namespace neardup
