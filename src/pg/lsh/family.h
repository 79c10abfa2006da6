// A hash family: the support functions by which an operator class tells the access method the keys of a value, and what
// to look up for a query. Each takes one `internal` pointer to the request named here and returns `internal`. What a
// request does not say is zero, as is all below "out" when a function is called. Those of this extension are the
// members of an LshFamily.
#pragma once

#include "pg/lsh/lsh.h"
#include "pg/base/pg.h"

namespace neardup {

enum LshProc : int {
  kProcKeys = 1,      // KeysRequest: the keys of a value
  kProcProbes = 2,    // ProbesRequest: what to look up for a query
  kProcBind = 3,      // BindRequest: parameters from a first value; is a value made by them?
  kProcDescribe = 4,  // DescribeRequest: words and recall for lsh_info()
  kProcOrder = 5,     // OrderRequest: least distance of a row by its hits
  kProcOptions = 6,   // optional; (internal) returns void, as PostgreSQL's own opclass options
  // Alone, in an operator class of kStrategyEqual: (value, bigint) returns bigint, as the second of the access method
  // hash.
  kProcHash = 15,
};

// Further support functions tell the planner what an operator class measures. They are optional: without them it
// derives nothing. Their numbers are those of catalogs, and stay.
struct MeasureProcs {
  bool is_distance;  // less is nearer
  int function;      // (value, value) returns float8 or integer
  int make_query;    // (value, float8) returns the right operand of the condition, for any bound
  int predicate;     // (value, value, float8) returns boolean: whether the measure is within the bound
  int make_strict;   // as make_query; refuses the bounds that the predicate refuses
  // The same two where the indexed value is the second one of a measure that is not symmetric; else those of the first.
  int make_second;
  int make_second_strict;
};
inline constexpr MeasureProcs kMeasureProcs[] = {
    {false, 7, 8, 9, 10, 8, 10},      // a similarity
    {false, 16, 17, 18, 19, 20, 21},  // one that is not symmetric, as the share of the first value in the second one
    {false, 22, 23, 24, 25, 23, 25},  // further similarities
    {false, 26, 27, 28, 29, 27, 29},  //
    {false, 30, 31, 32, 33, 31, 33},  //
    {true, 11, 12, 13, 14, 12, 14},   // a distance; the last one, by which a class orders that has it
};
inline constexpr int kMaxMeasures = lengthof(kMeasureProcs);  // of an operator class
inline constexpr int kLastProc = 33;

// Strategies of the operator classes of this extension. A family is free in its own numbers except that the access
// method passes them on; ordering operators are those with amoppurpose 'o'.
enum LshStrategy : uint16_t {
  kStrategyAtLeast = 1,   // value %> lsh_query: as near as the query's bound asks for; what the planner derives
  kStrategySimilar = 2,   // value % value: the bound is a setting
  kStrategyConflict = 3,  // lsh_query && lsh_query: for exclusion constraints
  // value <%> value, <~>, <->: ordering; the distance, or 1 - the similarity of a class without one. As a condition:
  // rows as far as the index reaches; no plan where it does not reach beyond what is known.
  kStrategyDistance = 4,
  kStrategyEqual = 5,  // of columns before the last: equality, mixed into the keys; no family's own
};

// An operator's strategy + kQuietTwin is that of its quiet twin, which a class may have: LEAKPROOF, never an error,
// true (or any distance) where the operator raises one, and its answer elsewhere. Families see the operator's own
// number.
inline constexpr uint16_t kQuietTwin = 100;
inline constexpr uint16_t own_strategy(uint16_t strategy) {
  return strategy > kQuietTwin ? strategy - kQuietTwin : strategy;
}

// Options as the user gave them; a negative number: not given.
struct LshOptionValues {
  double threshold;
  double recall;
};

// kProcKeys. The callee may palloc keys in the current context.
struct KeysRequest {
  Datum value;  // detoasted by the callee
  const LshConfig* config;
  // out
  uint64_t* keys;  // 64-bit hashes, mixed and cut to 40 bits by the access method; or final keys when `final`
  uint32_t nkeys;  // 0: indexed by the roster alone
  bool final;      // keys are below 2^40, not 0, and not to be mixed
};

struct LshProbe {
  uint64_t key;    // as in KeysRequest; for prefixes the stored 40-bit key with zeros after the prefix
  uint16_t group;  // 0..ngroups-1; of class c: ngroups + c
  uint8_t bits;    // 40: whole keys; fewer: a prefix of that length
};

struct ProbesRequest {
  Datum query;
  uint16_t strategy;
  const LshConfig* config;
  double beyond;  // kStrategyDistance: rows within this distance are known already
  // out; as it comes it is a plan that reads all rows
  double reach;     // kStrategyDistance: every row within this distance qualifies; above `beyond`
  bool nothing;     // no row can qualify
  bool guaranteed;  // probing finds every qualifying row (or what `recall` promises); else every TID is a candidate
  bool final;       // as in KeysRequest
  uint16_t ngroups;
  uint16_t slack;  // of p probed groups a qualifying row has hits in at least p - slack; below ngroups
  uint32_t nprobes;
  LshProbe* probes;  // palloced in the current context
  // Optional: classes of rows, by keys that say something of a row but not what it has in common with the query. A row
  // of class c qualifies with class_least[c] hits, and with ngroups - slack as any row does, unless only_classes.
  uint16_t nclasses;
  bool only_classes;            // class_least ascends, and is at most ngroups
  const uint32_t* class_least;  // palloced
  // Optional: whether an entry with this stored key counts for the probe, by the bits behind a prefix.
  bool (*check)(const ProbesRequest* request, const LshProbe* probe, uint64_t stored_key);
  void* check_arg;
};

// kProcBind, in one of three forms. config == bound: check that value was made by it, raise an error that names both
// unless it was (ERRCODE_DATATYPE_MISMATCH; without shows_index, one that names the value's). Not bound: fill family,
// family_version, nbands, threshold, recall, params. options_only: there is no value yet; raise an error for options
// that binding would refuse, whatever value of the column's type modifier came first.
struct BindRequest {
  Datum value;
  LshConfig* config;           // flags & kMetaBound tells which
  LshOptionValues options;     // of the index; for binding
  double rows;                 // that the table has, about; for binding
  const void* column_options;  // of the operator class, as PostgreSQL keeps them; null: none is given
  bool options_only;
  int32 typmod;      // options_only: of the column, -1: none
  bool can_raise;    // checking: false: say `matches` instead of raising
  bool shows_index;  // whether the error may name the index's parameters, which may be those of hidden rows
  bool matches;      // out
};

// kProcDescribe. Texts are palloced.
struct DescribeRequest {
  const LshConfig* config;
  // out
  const char* parameters;  // "word 3, 128x32, seed 0"
  const char* guarantee;   // "serves jaccard >= 96/128 (0.75), exactly"
  // Probability that a row of this similarity is found by a query at the index's threshold; 1 where guaranteed. Null
  // where there is no such threshold.
  double (*recall_at)(const LshConfig* config, double similarity);
};

// kProcOrder. For ORDER BY with the query that the condition has too.
struct OrderRequest {
  Datum query;        // of the ordering operator
  Datum condition;    // of the condition that the probes came from
  uint16_t strategy;  // of the condition
  const LshConfig* config;
  uint16_t probed;  // groups probed
  // out
  bool usable;  // the queries are the same signature
  double*
      least;  // least[h]: least distance of a row with h hits, h = 0..probed; by the function that the operator uses
};

struct LshFamily {
  void (*keys)(KeysRequest* request);
  void (*probes)(ProbesRequest* request);
  void (*bind)(BindRequest* request);
  void (*describe)(DescribeRequest* request);
  void (*order)(OrderRequest* request);  // null: it has no order
};

// The request that the function of SQL hands on to a member.
template <class Request>
Request* request_arg(FunctionCallInfo fcinfo) {
  return reinterpret_cast<Request*>(PG_GETARG_POINTER(0));
}
template <>
inline BindRequest* request_arg<BindRequest>(FunctionCallInfo fcinfo) {
  auto* request = reinterpret_cast<BindRequest*>(PG_GETARG_POINTER(0));
  request->column_options = PG_HAS_OPCLASS_OPTIONS() ? PG_GET_OPCLASS_OPTIONS() : nullptr;
  return request;
}

// The functions of SQL for the members of a family.
#define NEARDUP_FAMILY_FUNCTION(name, member, Request) \
  PG_FUNCTION_INFO_V1(name);                           \
  Datum name(PG_FUNCTION_ARGS) {                       \
    (member)(request_arg<Request>(fcinfo));            \
    PG_RETURN_POINTER(NULL);                           \
  }
#define NEARDUP_UNORDERED_FAMILY(name, family)                                 \
  NEARDUP_FAMILY_FUNCTION(lsh_##name##_keys, (family).keys, KeysRequest)       \
  NEARDUP_FAMILY_FUNCTION(lsh_##name##_probes, (family).probes, ProbesRequest) \
  NEARDUP_FAMILY_FUNCTION(lsh_##name##_bind, (family).bind, BindRequest)       \
  NEARDUP_FAMILY_FUNCTION(lsh_##name##_describe, (family).describe, DescribeRequest)
#define NEARDUP_FAMILY(name, family)     \
  NEARDUP_UNORDERED_FAMILY(name, family) \
  NEARDUP_FAMILY_FUNCTION(lsh_##name##_order, (family).order, OrderRequest)

// Families write their parameters into a config, and find them there: ERRCODE_FEATURE_NOT_SUPPORTED for another family
// or version, ERRCODE_INDEX_CORRUPTED for params of another size. A config has recall 1 and no bands or threshold,
// unless the family changes them afterwards.
void set_family(LshConfig* config, const char* family, uint32_t version, const void* params, uint16_t size);
void read_family(const LshConfig* config, const char* family, uint32_t version, void* params, uint16_t size);
[[noreturn]] void report_bad_params();
// True for a search in the order of distance, false for a condition; an error for other strategies.
bool is_distance_search(const ProbesRequest* request, const char* family);
// A group for each of the keys, which are looked up whole.
void add_whole_keys(ProbesRequest* request, const uint64_t* keys, uint32_t n);
// A family of values without these options of the index. column_option: the one that it has instead, with its operator
// class, as written behind a column; null where it has none.
void refuse_options(const BindRequest* request, const char* values, const char* column_option);

}  // namespace neardup
