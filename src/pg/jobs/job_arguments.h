// Arguments of functions that make or change a job. Null, InvalidOid and NaN stand for NULL, as in JobRow.
#pragma once

#include <cmath>
#include <limits>

#include "pg/values/values.h"

#include "pg/jobs/job.h"
#include "pg/values/arrays.h"

namespace neardup {

class JobArguments {
 public:
  explicit JobArguments(FunctionCallInfo fcinfo) : fcinfo_(fcinfo) {}

  bool is_null(int n) const { return fcinfo_->args[n].isnull; }
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
