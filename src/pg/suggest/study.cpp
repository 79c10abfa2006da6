#include "pg/suggest/study.h"

#include "core/base/message_text.h"
#include "core/suggest/exact_similarity.h"
#include "core/suggest/near_pairs.h"
#include "pg/base/guc.h"
#include "pg/base/progress.h"
#include "pg/gpu/gpu_search.h"
#include "pg/query/id_store.h"
#include "pg/values/values.h"

extern "C" {
#include "common/hashfn.h"
}

namespace neardup {
namespace {

// PostgreSQL's hashtextextended() of both numbers, from 1. (Of text: its hash of a bigint folds the halves together,
// and neighbours in the sample would be kept or lost together.)
double pair_chance(uint32_t a, uint32_t b) noexcept {
  constexpr uint64 kRange = static_cast<uint64>(1) << 31;
  char text[32];
  const int length = snprintf(text, sizeof text, "%u %u", a + 1, b + 1);
  const uint64 hash = hash_bytes_extended(reinterpret_cast<const unsigned char*>(text), length, 0);
  return static_cast<double>(hash % kRange) / kRange;
}

void demand_labelled_duplicates(const Study& study, uint64 duplicates, uint64 labels) {
  if (duplicates > 0) return;
  ereport(ERROR, (errcode(ERRCODE_NO_DATA_FOUND), errmsg("labels names no duplicates of which both are in the sample"),
                  errdetail("The sample has %u documents; labels of ids that are not in it: " UINT64_FORMAT
                            " of " UINT64_FORMAT ".",
                            study.sample->count, study.strange, labels),
                  errhint("Let query return the labelled documents first.")));
}

void adopt_labels(Study* study, const Labels& labels) {
  const Sample& sample = *study->sample;
  uint64 duplicates = 0;
  call_core([&] {
    LabelledPairs found = find_labelled(sample.ids, sample.count, labels.labels, labels.count, study->pairs->stop);
    duplicates = found.duplicates;
    study->strange = found.strange;
    study->only_judged = !found.all_duplicates();
    study->pairs->object->pairs = std::move(found.pairs);
  });
  demand_labelled_duplicates(*study, duplicates, labels.count);
}

// Equal documents are found by every form, and would only hide what the others tell.
void leave_out_copies(Study* study) {
  Sample* sample = study->sample;
  const uint32 read = sample->count;
  call_core([&] { sample->count = static_cast<uint32>(drop_copies(sample->documents, sample->ids, read)); });
  study->copies = read - sample->count;
}

// Adds near pairs to those with labels.
void find_near_pairs(Study* study) {
  report_phase(Phase::searching);
  const Sample& sample = *study->sample;
  const EngineOptions options = {.memory_limit = engine_memory(),
                                 .files = study->pairs->files,
                                 .stop = study->pairs->stop,
                                 .threads = search_threads(),
                                 .offload = gpu_join()};
  std::vector<SamplePair>* pairs = &study->pairs->object->pairs;
  call_core([&] {
    NearPairs near(sample.count, study->forms.size());
    for (const ShingleForm& form : study->forms) near.add_form(sample.documents, form, options);
    const uint64 most = most_compared_pairs(sample.bytes, sample.count);
    *pairs = with_labels(near.thinned(most, pair_chance, options.stop, &study->near_pairs), *pairs);
    study->looked_at = pairs->size();
  });
  if (study->looked_at > 0) return;
  ereport(ERROR, (errcode(ERRCODE_NO_DATA_FOUND), errmsg("no two documents of the sample are similar"),
                  errdetail("Documents in the sample, equal ones counted once: %u.", sample.count),
                  errhint("Take a sample that has duplicates in it: rows of one source or of one time, or rows "
                          "together with those that all_pairs finds near them.")));
}

void judge_pairs(Study* study) {
  report_phase(Phase::comparing);
  const Sample& sample = *study->sample;
  const unsigned threads = search_threads();
  call_core([&] {
    std::vector<SamplePair>* pairs = &study->pairs->object->pairs;
    if (!study->has_labels)
      judge_by_edit_rate(sample.documents, sample.count, study->edit_similarity, threads, study->pairs->stop, pairs);
    study->looked_at = pairs->size();
    study->totals = sum_duplicates(*pairs);
  });
  if (study->totals.duplicates > 0) return;
  ereport(ERROR, (errcode(ERRCODE_NO_DATA_FOUND), errmsg("no two documents of the sample are near duplicates"),
                  errdetail("Of %u documents " UINT64_FORMAT
                            " pairs are near, and none of these has 1 - 2 * edit_rate >= %s and the same numbers.",
                            sample.count, study->near_pairs, shown(study->edit_similarity).text),
                  errhint("Take a sample that has duplicates in it, give labels, or a lower edit_similarity.")));
}

// Sets what is proposed.
void compare_forms(Study* study) {
  report_phase(Phase::measuring);
  const Sample& sample = *study->sample;
  const unsigned threads = search_threads();
  const size_t memory = engine_memory();
  const size_t most = study->forms.size() * std::size(kProposedNumPerm) + 1;
  auto* proposals = static_cast<Proposal*>(palloc(most * sizeof(Proposal)));
  size_t count = 0;
  call_core([&] {
    StudiedPairs* studied = study->pairs->object;
    std::vector<FormHistograms> histograms;
    for (const ShingleForm& form : study->forms) {
      studied->similarities.push_back(
          exact_similarities(sample.documents, studied->pairs, form, memory, threads, study->pairs->stop));
      histograms.push_back(make_histograms(studied->pairs, studied->similarities.back()));
    }
    const std::vector<Proposal> best = propose(histograms, study->totals);
    count = best.size();
    std::ranges::copy(best, proposals);
  });
  study->proposals = {proposals, count};
}

double edit_similarity_argument(FunctionCallInfo fcinfo, int n) {
  const double value = DatumGetFloat8(argument(fcinfo, n, "edit_similarity"));
  if (!(value >= kGenerousSimilarity && value <= 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("edit_similarity must be from 0.5 to 1: %s", shown(value).text)));
  return value;
}

Study begin_study(Sample* sample, const SuggestArguments& arguments) {
  Study study = {};
  study.sample = sample;
  study.has_labels = arguments.labels != nullptr;
  study.edit_similarity = arguments.edit_similarity;
  study.pairs = make_owned<StudiedPairs>(CurrentMemoryContext, [](PgStop* stop, PgTempFiles*) {
    stop->be_quiet();
    return new StudiedPairs;
  });
  return study;
}

}  // namespace

SuggestArguments suggest_arguments(FunctionCallInfo fcinfo) {
  const double edit_similarity = edit_similarity_argument(fcinfo, 2);
  return {.query = TextDatumGetCString(argument(fcinfo, 0, "query")),
          .labels = PG_ARGISNULL(1) ? nullptr : TextDatumGetCString(PG_GETARG_DATUM(1)),
          .edit_similarity = edit_similarity};
}

Study study_query(const SuggestArguments& arguments, Oid function) {
  const Identifier internal = internal_schema(function);
  auto* sample = static_cast<Sample*>(palloc(sizeof(Sample)));
  *sample = read_sample(arguments.query, internal);
  Study study = begin_study(sample, arguments);
  if (study.has_labels)
    adopt_labels(&study, read_labels(arguments.labels, internal));
  else
    leave_out_copies(&study);
  call_core([&] { study.unspaced = unspaced_share(sample->documents, sample->count, study.pairs->stop); });
  study.forms = forms_for(study.unspaced);
  if (!study.only_judged) find_near_pairs(&study);
  judge_pairs(&study);
  if (study.only_judged) study.near_pairs = study.looked_at;
  compare_forms(&study);
  return study;
}

}  // namespace neardup
