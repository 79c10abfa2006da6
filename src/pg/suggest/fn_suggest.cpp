// neardup_suggest(): unit, k, num_perm and threshold for documents, measured on a sample of them.
#include <cmath>

#include "core/base/message_text.h"
#include "core/suggest/proposals.h"
#include "pg/suggest/measure.h"
#include "pg/suggest/study.h"
#include "pg/suggest/text_rows.h"

namespace {

using namespace neardup;

// The figures of fewer duplicates say little.
constexpr uint64 kFewDuplicates = 30;

// Remarks about the sample, one behind the other.
class Note {
 public:
  Note() { initStringInfo(&text_); }

  void add(const char* remark) { appendStringInfo(&text_, "%s%s", text_.len == 0 ? "" : "; ", remark); }
  Datum datum() const { return PointerGetDatum(cstring_to_text_with_len(text_.data, text_.len)); }

 private:
  StringInfoData text_;
};

// A sentence on the sample, and on which of its pairs count.
const char* pairs_note(const Study& study) {
  const uint32 documents = study.sample->count;
  const uint64 duplicates = study.totals.duplicates;
  if (!study.has_labels)
    return psprintf("%u documents, " UINT64_FORMAT " near pairs, " UINT64_FORMAT
                    " of them duplicates (1 - 2 * edit_rate >= %s and the same numbers)",
                    documents, study.near_pairs, duplicates, shown(study.edit_similarity).text);
  if (study.only_judged)
    return psprintf("%u documents, " UINT64_FORMAT " labelled pairs, " UINT64_FORMAT " of them duplicates", documents,
                    study.near_pairs, duplicates);
  return psprintf("%u documents, " UINT64_FORMAT
                  " pairs labelled as duplicates and none as others: all other near pairs (" UINT64_FORMAT
                  ") are taken for others",
                  documents, duplicates, study.near_pairs);
}

Note make_note(const Study& study) {
  const Sample& sample = *study.sample;
  Note note;
  note.add(pairs_note(study));
  if (sample.more) note.add("the query returns more rows than were read");
  if (study.totals.duplicates < kFewDuplicates) note.add("few duplicates: the figures are rough");
  if (study.strange > 0) note.add(psprintf("labels of ids that are not in the sample: " UINT64_FORMAT, study.strange));
  if (study.near_pairs > study.looked_at)
    note.add(psprintf(UINT64_FORMAT " of the near pairs stand for all", study.looked_at));
  if (study.copies > 0) note.add(psprintf("copies of equal documents left out: " UINT64_FORMAT, study.copies));
  if (sample.empty_rows > 0) note.add(psprintf("NULL or empty documents left out: %d", sample.empty_rows));
  if (sample.cut > 0)
    note.add(psprintf("long documents of which only %d characters were looked at: %d", kMostCharacters, sample.cut));
  if (study.unspaced > kMostlyUnspaced)
    note.add(psprintf("%.0f %% of the letters are of scripts without spaces", 100 * study.unspaced));
  return note;
}

enum Column {
  kUnit,
  kK,
  kThreshold,
  kNumPerm,
  kBits,
  kIndexOptions,
  kExpectedRecall,
  kExpectedPrecision,
  kPrecisionLow,
  kPrecisionHigh,
  kBytesPerRow,
  kSigningUs,
  kQueryUs,
  kPairs,
  kFamilies,
  kIsDefault,
  kNote,
  kColumns
};

ResultRow<Column> proposal_row(const Proposal& proposal, const ShingleForm& form) {
  ResultRow<Column> row;
  row.set(kUnit, CStringGetTextDatum(unit_name(form.unit)));
  row.set(kK, Int32GetDatum(form.k));
  row.set(kThreshold, Float8GetDatum(proposal.threshold));
  row.set(kNumPerm, Int32GetDatum(static_cast<int32>(proposal.num_perm)));
  row.set(kBits, Int32GetDatum(kProposedBits));
  row.set(kIndexOptions, CStringGetTextDatum(psprintf("threshold = %s", shown(proposal.threshold).text)));
  row.set(kExpectedRecall, Float8GetDatum(rounded(proposal.recall, 3)));
  if (!std::isnan(proposal.precision)) row.set(kExpectedPrecision, Float8GetDatum(rounded(proposal.precision, 3)));
  row.set(kPrecisionLow, Float8GetDatum(rounded(proposal.precision_low, 3)));
  row.set(kPrecisionHigh, Float8GetDatum(rounded(proposal.precision_high, 3)));
  row.set(kFamilies, Int64GetDatum(static_cast<int64>(rounded(proposal.families, 0))));
  row.set(kIsDefault, BoolGetDatum(proposal.is_default));
  row.set(kBytesPerRow, Float8GetDatum(proposal.bytes_per_row));
  return row;
}

void put_proposals(const Study& study, const Identifier& neardup, ReturnSetInfo* rows) {
  Note note = make_note(study);
  const TimedDocuments timed = timed_documents(*study.sample);
  LookUpTime look_up = {};
  bool is_first = true;
  for (const Proposal& proposal : study.proposals) {
    const ShingleForm& form = study.forms[proposal.form];
    ResultRow<Column> row = proposal_row(proposal, form);
    row.set(kSigningUs, Float8GetDatum(rounded(signing_us(timed, form, proposal.num_perm), 1)));
    // A form that failed once fails again.
    if (look_up.failure == nullptr) {
      look_up = look_up_us(timed, form, proposal.num_perm, proposal.threshold, neardup);
      if (look_up.failure != nullptr) note.add(psprintf("query_us is not measured: %s", look_up.failure));
    }
    if (look_up.failure == nullptr) row.set(kQueryUs, Float8GetDatum(rounded(look_up.us, 1)));
    row.set(kPairs, Int64GetDatum(static_cast<int64>(study.totals.duplicates)));
    row.set(kNote, is_first ? note.datum() : CStringGetTextDatum(""));
    row.put(rows);
    is_first = false;
  }
}

}  // namespace

// neardup_suggest(query text, labels text, edit_similarity float8)
SQL_FUNCTION(neardup_suggest) {
  const Identifier schema = extension_schema(fcinfo->flinfo->fn_oid);
  return return_of_study(fcinfo,
                         [&schema](const Study& study, ReturnSetInfo* rows) { put_proposals(study, schema, rows); });
}
