// The data of neardup_suggest(): a sample of documents, and pairs of them that people have judged.
#pragma once

#include <string_view>

#include "core/exact/document_pairs.h"
#include "core/suggest/labelled_pairs.h"
#include "pg/sql/statement.h"

namespace neardup {

// The documents of a sample; of long ones only their beginning.
struct Sample {
  Document* documents;  // UTF-8
  std::string_view* ids;
  uint32 count;
  uint64 bytes;    // in the server's encoding
  int empty_rows;  // whose document is NULL or empty
  int cut;         // documents of which only the beginning is looked at
  bool more;       // the query returns rows that were not read
};

// At least one document, ids all different; an error for a query that gives no such sample. internal: the schema that
// internal_schema() gives.
Sample read_sample(const char* query, const Identifier& internal);

struct Labels {
  Label* labels;
  uint64 count;
  uint64 capacity;
};
Labels read_labels(const char* query, const Identifier& internal);

}  // namespace neardup
