// neardup_clean(), its built-in rules, and the quality of texts.
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/intake/clean.h"
#include "core/intake/text_quality.h"
#include "pg/base/result_row.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"
#include "text/patterns.h"

namespace {

using namespace neardup;

// A set of rules, compiled. Those used last are kept for the session: the built-in set, and two of callers'.
struct Compiled {
  std::string key;
  std::vector<Rule> rules;
  std::unique_ptr<Patterns> patterns;
};
constexpr size_t kKeptSets = 2;
Compiled* built_in = nullptr;
std::list<Compiled>* kept_sets = nullptr;

// Part of a rule that a caller gave: bytes in the server encoding, and in UTF-8.
struct Field {
  const char* data;
  size_t size;
  Utf8 utf8;
};
struct GivenRule {
  Field name;
  Field kind;
  Field pattern;
  Field replacement;
  int64 position;
};

// Runs in the core's world.
Compiled* built_in_rules() {
  if (built_in == nullptr) {
    auto set = std::make_unique<Compiled>();
    set->rules = default_rules();
    set->patterns = compile_patterns(set->rules);
    built_in = set.release();
  }
  return built_in;
}

Compiled* compiled_rules(const GivenRule* given, size_t n) {
  std::string key;
  for (size_t i = 0; i < n; ++i) {
    for (const Field* f : {&given[i].name, &given[i].kind, &given[i].pattern, &given[i].replacement}) {
      key += std::to_string(f->size) + ':';
      key.append(f->data, f->size);
    }
  }
  if (kept_sets == nullptr) kept_sets = new std::list<Compiled>;
  for (auto set = kept_sets->begin(); set != kept_sets->end(); ++set) {
    if (set->key != key) continue;
    kept_sets->splice(kept_sets->begin(), *kept_sets, set);
    return &kept_sets->front();
  }
  Compiled set;
  set.key = std::move(key);
  for (size_t i = 0; i < n; ++i) {
    const GivenRule& g = given[i];
    const std::string name(g.name.data, g.name.size);
    set.rules.push_back({name, parse_rule_kind({g.kind.data, g.kind.size}, name), std::string(g.pattern.utf8.view()),
                         std::string(g.replacement.utf8.view()), std::string(g.pattern.data, g.pattern.size)});
  }
  if (kept_sets->size() >= kKeptSets) kept_sets->pop_back();
  set.patterns = compile_patterns(set.rules);
  kept_sets->push_front(std::move(set));
  return &kept_sets->front();
}

Field to_field(Datum value, bool is_null) {
  if (is_null) return {"", 0, {reinterpret_cast<const uint8_t*>(""), 0}};
  const text* t = DatumGetTextPP(value);
  return {VARDATA_ANY(t), static_cast<size_t>(VARSIZE_ANY_EXHDR(t)), to_utf8(t)};
}

// The columns of the type neardup_rule, and of neardup_default_rules().
enum RuleColumn { kName, kKind, kPattern, kReplacement, kPosition, kColumns };
// The distance of the built-in rules' positions leaves room for those of callers.
constexpr size_t kPositionStep = 10;

// Rule i, from 0, as a value of the type neardup_rule.
GivenRule given_rule(Datum value, int i) {
  HeapTupleHeader header = DatumGetHeapTupleHeader(value);
  TupleDesc desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
  bool shape = desc->natts == kColumns && TupleDescAttr(desc, kPosition)->atttypid == INT4OID;
  for (int c = kName; shape && c <= kReplacement; ++c) shape = TupleDescAttr(desc, c)->atttypid == TEXTOID;
  if (!shape) elog(ERROR, "type neardup_rule is not the one of this library");
  HeapTupleData tuple;
  tuple.t_len = HeapTupleHeaderGetDatumLength(header);
  ItemPointerSetInvalid(&tuple.t_self);
  tuple.t_tableOid = InvalidOid;
  tuple.t_data = header;
  Datum values[kColumns];
  bool missing[kColumns];
  heap_deform_tuple(&tuple, desc, values, missing);
  ReleaseTupleDesc(desc);
  static const char* const names[] = {"name", "kind", "pattern"};
  for (int c = kName; c <= kPattern; ++c)
    if (missing[c])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the %s of rule %d is NULL", names[c], i + 1)));
  const GivenRule rule = {to_field(values[kName], false), to_field(values[kKind], false),
                          to_field(values[kPattern], false), to_field(values[kReplacement], missing[kReplacement]),
                          missing[kPosition] ? PG_INT64_MAX : DatumGetInt32(values[kPosition])};
  if (rule.name.size > kMaxRuleName || rule.kind.size > kMaxRuleName)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the name or kind of rule %d is longer than %d bytes", i + 1, static_cast<int>(kMaxRuleName))));
  return rule;
}

// The rules of an array, by their positions; those without one last. Palloc'd.
GivenRule* given_rules(ArrayType* array, size_t* n) {
  const auto [elements, nulls, count] = array_elements(array);
  if (count > static_cast<int>(kMaxRules))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("there must be at most %d rules: %d", static_cast<int>(kMaxRules), count)));
  auto* rules = static_cast<GivenRule*>(palloc(sizeof(GivenRule) * (count + 1)));
  for (int i = 0; i < count; ++i) {
    if (nulls[i]) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("rule %d is NULL", i + 1)));
    rules[i] = given_rule(elements[i], i);
  }
  // Few, and mostly in order.
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && rules[j - 1].position > rules[j].position; --j) {
      const GivenRule moved = rules[j];
      rules[j] = rules[j - 1];
      rules[j - 1] = moved;
    }
  *n = static_cast<size_t>(count);
  return rules;
}

// A Cleaned in PostgreSQL's memory.
struct CleanedText {
  const Compiled* set;
  double kept;
  char* body;  // room for a header, then the text in UTF-8, and a byte more; null: nothing was taken out
  size_t size;
  int fired;
  uint32_t fired_rules[kMaxRules];
};

CleanedText clean(const text* body, bool given, const GivenRule* rules, size_t n) {
  const Utf8 u = to_utf8(body);
  Compiled* set = nullptr;
  Cleaned* cleaned = nullptr;
  call_core([&] {
    PgStop stop;
    set = given ? compiled_rules(rules, n) : built_in_rules();
    auto result = std::make_unique<Cleaned>(clean_text(set->rules, *set->patterns, u.view(), &stop));
    cleaned = result.release();
  });
  // Nothing that raises an error while `cleaned` lives.
  CleanedText out;
  out.set = set;
  out.kept = cleaned->kept;
  out.size = cleaned->body.size();
  out.fired = static_cast<int>(cleaned->fired.size());
  for (int i = 0; i < out.fired; ++i) out.fired_rules[i] = cleaned->fired[i];
  const bool changed = cleaned->changed;
  out.body = nullptr;
  if (changed)
    out.body = static_cast<char*>(palloc_extended(VARHDRSZ + out.size + 1, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE));
  if (out.body != nullptr) memcpy(out.body + VARHDRSZ, cleaned->body.data(), out.size);
  delete cleaned;
  if (changed && out.body == nullptr) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  return out;
}

Datum body_datum(const CleanedText& cleaned) {
  if (GetDatabaseEncoding() == PG_UTF8) {
    SET_VARSIZE(cleaned.body, VARHDRSZ + cleaned.size);
    return PointerGetDatum(cleaned.body);
  }
  cleaned.body[VARHDRSZ + cleaned.size] = '\0';
  return text_datum_of_utf8(cleaned.body + VARHDRSZ, cleaned.size);
}

Datum fired_names(const CleanedText& cleaned) {
  return array_datum(static_cast<size_t>(cleaned.fired), TEXTOID, [&](size_t i) {
    const Rule& rule = cleaned.set->rules[cleaned.fired_rules[i]];
    return PointerGetDatum(cstring_to_text_with_len(rule.name.data(), static_cast<int>(rule.name.size())));
  });
}

struct Measured {
  TextQuality quality;
  double kept;
  bool has_kept;
  double score;
};

Measured measure(const text* body) {
  const Utf8 u = to_utf8(body);
  Measured m{};
  call_core([&] {
    PgStop stop;
    m.quality = measure_quality(u.data, u.size, &stop);
    m.kept = 1;
    m.has_kept = has_patterns();
    if (m.has_kept) {
      Compiled* set = built_in_rules();
      m.kept = clean_text(set->rules, *set->patterns, u.view(), &stop).kept;
    }
    m.score = quality_score(m.quality, m.kept);
  });
  return m;
}

}  // namespace

SQL_FUNCTION(neardup_clean) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const bool given = !PG_ARGISNULL(1);
  size_t n = 0;
  const GivenRule* rules = given ? given_rules(PG_GETARG_ARRAYTYPE_P(1), &n) : nullptr;
  text* body = PG_GETARG_TEXT_PP(0);
  const CleanedText cleaned = clean(body, given, rules, n);
  enum CleanedColumn { kBody, kKept, kFired, kColumns };
  ResultRow<CleanedColumn> row;
  row.set(kBody, cleaned.body == nullptr ? PointerGetDatum(body) : body_datum(cleaned));
  row.set(kKept, Float8GetDatum(cleaned.kept));
  row.set(kFired, fired_names(cleaned));
  return row.datum(fcinfo);
}

SQL_FUNCTION(neardup_default_rules) {
  ReturnSetInfo* rows = begin_rows(fcinfo);
  const int server = GetDatabaseEncoding();
  const bool converted = server != PG_UTF8 && server != PG_SQL_ASCII;
  const Oid converter = converted ? FindDefaultConversionProc(PG_UTF8, server) : InvalidOid;
  auto* room = static_cast<unsigned char*>(palloc(4 * kMaxPattern + 8));
  for (size_t i = 0; i < kDefaultRuleCount; ++i) {
    const BuiltInRule& rule = kDefaultRules[i];
    const char* pattern = rule.pattern;
    if (converted) {
      // A pattern with characters that the database lacks can match nothing there, and is left out.
      const int size = static_cast<int>(strlen(pattern));
      if (!OidIsValid(converter) ||
          pg_do_encoding_conversion_buf(converter, PG_UTF8, server,
                                        reinterpret_cast<unsigned char*>(const_cast<char*>(pattern)), size, room,
                                        4 * kMaxPattern + 8, true) < size)
        continue;
      pattern = reinterpret_cast<char*>(room);
    }
    ResultRow<RuleColumn> row;
    row.set(kName, CStringGetTextDatum(rule.name));
    row.set(kKind, CStringGetTextDatum(rule_kind_name(rule.kind)));
    row.set(kPattern, CStringGetTextDatum(pattern));
    if (rule.kind == RuleKind::text) row.set(kReplacement, CStringGetTextDatum(rule.replacement));
    row.set(kPosition, Int32GetDatum(static_cast<int32>(kPositionStep * i)));
    row.put(rows);
  }
  return 0;
}

SQL_FUNCTION(neardup_text_quality) {
  const Measured m = measure(PG_GETARG_TEXT_PP(0));
  enum QualityColumn { kKept, kLength, kLetters, kRepetition, kScore, kColumns };
  ResultRow<QualityColumn> row;
  if (m.has_kept) row.set(kKept, Float8GetDatum(m.kept));
  row.set(kLength, Int64GetDatum(static_cast<int64>(m.quality.length)));
  row.set(kLetters, Float8GetDatum(m.quality.letters));
  row.set(kRepetition, Float8GetDatum(m.quality.repetition));
  row.set(kScore, Float8GetDatum(m.score));
  return row.datum(fcinfo);
}

SQL_FUNCTION(neardup_text_score) { PG_RETURN_FLOAT8(measure(PG_GETARG_TEXT_PP(0)).score); }
