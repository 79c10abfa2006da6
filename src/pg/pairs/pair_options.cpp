#include "pg/pairs/pair_options.h"

#include <cfloat>
#include <optional>

#include "core/base/message_text.h"
#include "core/base/named_values.h"
#include "core/signature/margin.h"
#include "core/signature/minhash.h"
#include "core/signature/sign.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

// The factor by which digests are searched wider than documents: the rule of thumb of the two-stage search. No theorem:
// it finds three in four pairs of documents (docs/algorithms.md 4).
constexpr double kDigestMargin = 3;

// Shingles of documents whose signatures are of none: simhash values and digests.
constexpr int kWordShingle = 3;
constexpr int kByteShingle = 8;

constexpr NamedValue<Identical> kIdenticals[] = {
    {"all", Identical::all}, {"star", Identical::star}, {"none", Identical::none}};
constexpr NamedValue<Verify> kVerifies[] = {{"jaccard", Verify::jaccard}, {"edit_rate", Verify::edit_rate}};

void check_measure_threshold(const PairOptions& options) {
  if (options.measure != Measure::set_overlap) {
    check_threshold(options.threshold, true);
  } else if (!(options.threshold >= 1)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("threshold must be at least 1 for measure => 'overlap': %s", shown(options.threshold).text),
                    errdetail("It is the least number of elements that two sets share.")));
  }
}

void check_verify_threshold(const PairOptions& options) {
  if (options.verify == Verify::no)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("verify_threshold is given without verify")));
  if (!(options.verify_threshold > 0 && options.verify_threshold <= 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify_threshold must be above 0 and at most 1: %s", shown(options.verify_threshold).text),
                    errdetail("It is the least similarity: 1 - edit rate where edit rates are verified.")));
}

void check_apart(const PairOptions& options) {
  check_not_negative("at_most_apart", options.apart);
  if (options.identical == Identical::star || options.identical == Identical::none)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("with at_most_apart, identical must be 'all'"),
                    errdetail("One of many equal rows cannot stand for the others where times differ.")));
}

}  // namespace

Identical parse_identical(Datum value) { return parse_named(kIdenticals, "identical", value); }

PairOptions read_pair_options(FunctionCallInfo fcinfo, int n, Searching function) {
  PairOptions options = {};
  options.function = function;
  options.threshold = DatumGetFloat8(argument(fcinfo, n, "threshold"));
  return options;
}

void read_options(FunctionCallInfo fcinfo, int first, PairOptions* options) {
  check_measure_threshold(*options);
  options->verify_threshold = options->threshold;
  if (!PG_ARGISNULL(first)) options->verify = parse_named(kVerifies, "verify", PG_GETARG_DATUM(first));
  if (!PG_ARGISNULL(first + 1)) {
    options->own_bound = true;
    options->verify_threshold = PG_GETARG_FLOAT8(first + 1);
    check_verify_threshold(*options);
  }
  if (!PG_ARGISNULL(first + 2)) {
    options->apart = PG_GETARG_INTERVAL_P(first + 2);
    check_apart(*options);
  }
}

void read_measure(FunctionCallInfo fcinfo, int n, Measure containment, PairOptions* options) {
  if (PG_ARGISNULL(n)) return;
  const Measure measure = parse_named(kSetMeasures, "measure", PG_GETARG_DATUM(n));
  options->measure_name = text_to_cstring(PG_GETARG_TEXT_PP(n));
  options->measure = measure == Measure::set_in_query ? containment : measure;
}

void check_measure(const PairOptions& options, const char* what, const SourceColumns& columns) {
  const bool is_set = columns.signature == Kind::set;
  if (options.measure_name != nullptr && !is_set)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("measure => '%s' is for sets: the second column of %s is %s", options.measure_name, what,
                    format_type_be(columns.signature_type)),
             errdetail("Sets, int[] or bigint[], have the measures %s. A type of signature has one measure, its own.",
                       list_names(kSetMeasures, "'", "and").text)));
  if (options.verify != Verify::no && is_set)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify is for signatures: the second column of %s is %s", what,
                           format_type_be(columns.signature_type)),
                    errdetail("Measures of sets are exact.")));
}

SourceWants source_wants(const PairOptions& options) {
  SourceWants wants = {};
  wants.docs = options.verify != Verify::no;
  wants.apart = options.apart;
  return wants;
}

double signature_bound(const PairOptions& o, const SignatureShape& shape) {
  if (o.verify == Verify::no || o.own_bound) return o.threshold;
  if (o.verify == Verify::jaccard && shape.kind == Kind::minhash) {
    uint32_t need = 0;
    call_core([&] {
      need = matches_with_recall(o.verify_threshold, kVerifyRecall, shape.header.num_perm, shape.header.bits);
    });
    return Max(estimate_jaccard(need, shape.header.num_perm, shape.header.bits), DBL_MIN);
  }
  if (o.verify == Verify::edit_rate && shape.kind == Kind::ctph)
    return Max(1 - kDigestMargin * (1 - o.verify_threshold), DBL_MIN);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("verify => '%s' over %s signatures needs verify_threshold",
                         o.verify == Verify::jaccard ? "jaccard" : "edit_rate", info(shape.kind).name),
                  errdetail("Nothing is known about how far one follows the other: threshold is for the signatures, "
                            "verify_threshold for the documents.")));
  pg_unreachable();
}

DocumentMeasure document_measure(const PairOptions& o, const SignatureShape& shape, const RowSource& source) {
  DocumentMeasure m;
  const bool bytes = source.columns.doc_type == BYTEAOID;
  m.threshold = o.verify_threshold;
  if (o.verify == Verify::edit_rate) {
    m.kind = DocumentMeasure::Kind::edit_rate;
    m.unit = bytes ? Unit::byte : Unit::character;
    return m;
  }
  m.kind = DocumentMeasure::Kind::jaccard;
  m.unit = bytes ? Unit::byte : Unit::word;
  m.k = bytes ? kByteShingle : kWordShingle;
  if (shape.kind != Kind::minhash) return m;
  const MinhashKind kind = shape.params().kind;
  if (!is_of_text(kind) && kind != MinhashKind::byte)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("verify => 'jaccard' needs signatures of documents: these are of sets"),
                    errhint("Verify sets with jaccard_exact() over the pairs.")));
  if ((kind == MinhashKind::byte) != bytes)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the column \"doc\" of %s is %s, but the signatures are of %s", source.what,
                           bytes ? "bytea" : "text", bytes ? "text" : "bytea")));
  call_core([&] { check_tokenizer(shape.params()); });
  m.unit = static_cast<Unit>(kind);
  m.k = shape.header.k;
  return m;
}

}  // namespace neardup
