#include "pg/pairs/pair_result.h"

#include "pg/pairs/pair_groups.h"
#include "pg/pairs/verify.h"

namespace neardup {
namespace {

constexpr size_t kPairBatch = 4096;

// Engine row -> what pairs name it by; null when that is the identity.
const uint32* engine_rank(PairSide* side) {
  if (side->row_of == nullptr) return side->rank;
  if (side->rank != nullptr)
    for (uint64 r = 0; r < side->engine_rows; ++r) side->row_of[r] = side->rank[side->row_of[r]];
  return side->row_of;
}

}  // namespace

const char* search_story(const SearchStats& s) {
  const char* set_aside = s.set_aside == 0 ? "" : psprintf(" (" UINT64_FORMAT " set aside by their keys)", s.set_aside);
  const char* work = s.offloaded
                         ? "on the GPU"
                         : psprintf(UINT64_FORMAT " pairs looked at, " UINT64_FORMAT " compared", s.looked, s.compared);
  const char* looked_up = s.passes == 0
                              ? ""
                              : psprintf(UINT64_FORMAT " rows looked up among representatives in %s, ", s.looked_up,
                                         s.passes == 1 ? "one pass" : psprintf(UINT64_FORMAT " passes", s.passes));
  return psprintf(UINT64_FORMAT " distinct of " UINT64_FORMAT " signatures%s, %s, %s" UINT64_FORMAT
                                " found, %zu MB in memory, " UINT64_FORMAT " MB on disk",
                  s.distinct, s.rows, set_aside, work, looked_up, s.found, s.peak_bytes >> 20, s.spilled_bytes >> 20);
}

namespace {

// Searches the rows that the engine has.
void run_engine(PairRows* rows, PairResult* result) {
  PairSearch* engine = rows->engine->object;
  const uint32* rank_a = engine_rank(&rows->a);
  const uint32* rank_b = rows->two_sets ? engine_rank(&rows->b) : nullptr;
  if (rows->swapped) std::swap(rank_a, rank_b);
  call_core([&] { engine->run(rank_a, rank_b); });
  const SearchStats& stats = engine->stats();
  result->left_out = stats.left_out;
  end_stage(&rows->stages, "pairs found", search_story(stats));
}

// Raises a NOTICE where pairs were left out and nothing else shows it.
void note_left_out(const PairResult& result) {
  const PairRows& rows = *result.rows;
  const Identical identical = rows.options.identical;
  // A star of one set shows all its rows.
  const bool star = !rows.two_sets && identical == Identical::star;
  if (result.left_out > 0 && !star && identical != Identical::marked)
    ereport(NOTICE, (errmsg("identical => '%s' left out " UINT64_FORMAT " rows or pairs with equal signatures",
                            identical == Identical::star ? "star" : "none", result.left_out)));
}

}  // namespace

PairResult search_pairs(PairRows* rows) {
  PairResult result = {};
  result.rows = rows;
  report_phase(Phase::searching);
  if (rows->a.source.columns.grouped()) {
    result.pairs = search_groups(rows, &result.left_out);
  } else if (rows->engine != nullptr) {
    run_engine(rows, &result);
  } else {
    end_stage(&rows->stages, "pairs found");
  }
  report_phase(rows->options.verify == Verify::no ? Phase::returning : Phase::verifying);
  result.batch = static_cast<RowPair*>(palloc(kPairBatch * sizeof(RowPair)));
  result.similarity = static_cast<double*>(palloc(kPairBatch * sizeof(double)));
  return result;
}

bool fetch_pairs(PairResult* result) {
  CHECK_FOR_INTERRUPTS();
  result->batch_size = 0;
  call_core([&] {
    if (result->rows->engine != nullptr)
      result->batch_size = result->rows->engine->object->next(result->batch, kPairBatch);
    if (result->pairs != nullptr) result->batch_size = result->pairs->object->next(result->batch, kPairBatch);
  });
  return result->batch_size > 0;
}

void verify_batch(PairResult* result) {
  result->batch_size = verify_pairs(result, result->batch, result->similarity, result->batch_size);
}

void estimate_batch(PairResult* result) {
  const PairRows& rows = *result->rows;
  const SetSizes& sizes_a = rows.a.sizes;
  const SetSizes& sizes_b = rows.second().sizes;
  for (size_t i = 0; i < result->batch_size; ++i) {
    const RowPair& pair = result->batch[i];
    result->similarity[i] =
        pair_similarity(rows.shape, pair.value & ~kEqualRows, sizes_a.at(pair.a), sizes_b.at(pair.b));
  }
}

void report_batch(PairResult* result) { report_pairs(result->reported += result->batch_size); }

void end_pairs(PairResult* result) {
  PairRows* rows = result->rows;
  const bool verified = rows->options.verify != Verify::no;
  end_stage(&rows->stages, "pairs returned",
            verified ? psprintf(UINT64_FORMAT " pairs of documents compared", result->verified) : nullptr);
  if (rows->options.function != Searching::all_clusters) end_progress();  // whose rows are still to be returned
  end_verifying(result);
  if (result->pairs != nullptr) destroy_owned(result->pairs);
  free_pair_rows(rows);
  note_left_out(*result);
}

}  // namespace neardup
