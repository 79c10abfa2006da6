// neardup_suggest_examples(): the pairs on both sides of what neardup_suggest() proposes, for people to judge.
#include "core/diff/shown_diff.h"
#include "core/suggest/examples.h"
#include "pg/suggest/study.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// The examples on either side of a threshold.
constexpr size_t kExamples = 5;

enum Column { kUnit, kK, kThreshold, kIsDefault, kIdA, kIdB, kSimilarity, kIsDuplicate, kDifference, kColumns };

struct Example {
  SamplePair pair;
  double similarity;
};

struct Examples {
  Example rows[2 * kExamples];
  size_t count;
};

Examples find_examples(const Study& study, const Proposal& proposal) {
  Examples examples = {};
  call_core([&] {
    const StudiedPairs& studied = *study.pairs->object;
    const std::vector<float>& similarities = studied.similarities[proposal.form];
    for (const size_t i : pairs_around(proposal.threshold, kExamples, studied.pairs, similarities))
      examples.rows[examples.count++] = {studied.pairs[i], similarities[i]};
  });
  return examples;
}

std::string_view document_text(const Document& document) {
  return {reinterpret_cast<const char*>(document.bytes), document.size};
}

Datum id_datum(std::string_view id) {
  return PointerGetDatum(cstring_to_text_with_len(id.data(), static_cast<int>(id.size())));
}

// The line is made in C++, and copied to where PostgreSQL keeps it.
Datum difference_datum(const Study& study, const SamplePair& pair) {
  constexpr size_t kRoom = 4096;  // a line has about 500 bytes
  char line[kRoom];
  size_t size = 0;
  call_core([&] {
    const Document* documents = study.sample->documents;
    const std::string shown = shown_difference(document_text(documents[pair.a]), document_text(documents[pair.b]));
    size = shown.size() < kRoom ? shown.copy(line, kRoom) : 0;
  });
  return text_datum_of_utf8(line, size);
}

void put_examples(const Study& study, const Proposal& proposal, ReturnSetInfo* rows) {
  const ShingleForm& form = study.forms[proposal.form];
  const Examples examples = find_examples(study, proposal);
  for (size_t i = 0; i < examples.count; ++i) {
    const Example& example = examples.rows[i];
    ResultRow<Column> row;
    row.set(kUnit, CStringGetTextDatum(unit_name(form.unit)));
    row.set(kK, Int32GetDatum(form.k));
    row.set(kThreshold, Float8GetDatum(proposal.threshold));
    row.set(kIsDefault, BoolGetDatum(proposal.is_default));
    row.set(kIdA, id_datum(study.sample->ids[example.pair.a]));
    row.set(kIdB, id_datum(study.sample->ids[example.pair.b]));
    row.set(kSimilarity, Float8GetDatum(rounded(example.similarity, 3)));
    row.set(kIsDuplicate, BoolGetDatum(example.pair.duplicate));
    row.set(kDifference, difference_datum(study, example.pair));
    row.put(rows);
  }
}

// True for the best proposal of each form, and the default: signatures of other sizes have much the same threshold.
bool has_examples(const Study& study, size_t i) {
  const Proposal& proposal = study.proposals[i];
  if (proposal.is_default) return true;
  for (size_t j = 0; j < i; ++j)
    if (study.proposals[j].form == proposal.form && !study.proposals[j].is_default) return false;
  return true;
}

}  // namespace

// neardup_suggest_examples(query text, labels text, edit_similarity float8)
SQL_FUNCTION(neardup_suggest_examples) {
  return return_of_study(fcinfo, [](const Study& study, ReturnSetInfo* rows) {
    for (size_t i = 0; i < study.proposals.size(); ++i)
      if (has_examples(study, i)) put_examples(study, study.proposals[i], rows);
  });
}
