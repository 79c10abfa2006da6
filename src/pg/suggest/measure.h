// The cost of signatures, measured on documents of a sample.
#pragma once

#include "core/suggest/shingle_forms.h"
#include "pg/sql/statement.h"
#include "pg/suggest/sample.h"

namespace neardup {

// Some of the sample's documents.
struct TimedDocuments {
  const Document* documents;
  uint32 count;
  Datum texts;  // the same as text[]
};
TimedDocuments timed_documents(const Sample& sample);

// Microseconds to sign a document.
double signing_us(const TimedDocuments& documents, const ShingleForm& form, uint32 num_perm);

struct LookUpTime {
  double us;
  const char* failure;  // why there is none; null where there is
};

// Microseconds of a look-up in an index of these documents' signatures. neardup: the extension's schema.
LookUpTime look_up_us(const TimedDocuments& timed, const ShingleForm& form, uint32 num_perm, double threshold,
                      const Identifier& neardup);

}  // namespace neardup
