#include "pg/sql/statement.h"

#include "pg/base/expression.h"
#include "pg/base/held_names.h"
#include "pg/base/open_table.h"
#include "pg/base/own_schemas.h"

extern "C" {
#include "common/shortest_dec.h"
}

namespace neardup {

namespace {

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// The length of the name between braces that begin at `at`; 0 where they hold something else.
size_t placeholder_at(const char* at) {
  if (*at != '{' || at[1] < 'a' || at[1] > 'z') return 0;
  size_t length = 1;
  while (is_name_character(at[1 + length])) ++length;
  return at[1 + length] == '}' ? length : 0;
}

const Placeholder* find(const Placeholder* placeholders, size_t n, const char* name, size_t length) {
  for (size_t i = 0; i < n; ++i)
    if (strncmp(placeholders[i].name, name, length) == 0 && placeholders[i].name[length] == '\0')
      return &placeholders[i];
  return nullptr;
}

void demand_use(const char* pattern, const char* name) {
  const char* written = psprintf("{%s}", name);
  if (strstr(pattern, written) == nullptr) elog(ERROR, "no placeholder %s in: %s", written, pattern);
}

const char* equality_name(Oid type) {
  const Oid equality = lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;
  if (!OidIsValid(equality))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("type %s has no equality", format_type_be(type))));
  return operator_sql(equality);
}

}  // namespace

const char* SqlPiece::demanded(const char* value) {
  if (value == nullptr)
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("a name or value that a statement needs is NULL")));
  return value;
}

Identifier extension_schema(Oid function) { return Identifier(get_namespace_name(extension_namespace(function))); }

Identifier internal_schema(Oid function) { return Identifier(get_namespace_name(internal_namespace(function))); }

QualifiedName QualifiedName::current(Oid relation) { return QualifiedName(qualified_name(relation)); }

QualifiedName QualifiedName::existing(Oid relation) {
  const QualifiedName name = current(relation);
  if (name.text() == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist, or was dropped meanwhile", relation)));
  return name;
}

QualifiedName QualifiedName::held(Oid relation) { return QualifiedName(held_name(relation)); }

TypeName::TypeName(Oid type, int32 modifier)
    : SqlPiece(format_type_extended(type, modifier, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY)) {}

EqualityOperator::EqualityOperator(Oid type) : SqlPiece(equality_name(type)) {}

Literal Literal::decimal(double value) {
  char digits[DOUBLE_SHORTEST_DECIMAL_LEN];
  double_to_shortest_decimal_buf(value, digits);
  return Literal(pstrdup(digits), Unquoted{});
}

Literal Literal::number(double value) {
  return Literal(psprintf("'%s'::pg_catalog.float8", decimal(value).text()), Unquoted{});
}

Literal Literal::interval(const Interval* value) {
  const char* written = DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(value)));
  return Literal(psprintf("%s::pg_catalog.interval", quote_literal_cstr(written)), Unquoted{});
}

// The line ends what may end in a comment.
Expression::Expression(const char* source) : SqlPiece(psprintf("(%s\n)", source)) {
  const ResTarget* target = parse_one_expression(source);
  if (target == nullptr || target->name != nullptr)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("not a single expression: \"%s\"", source)));
}

Sql sql(Pattern pattern, std::initializer_list<Placeholder> more, const Placeholder* common, int n) {
  StringInfoData text;
  initStringInfo(&text);
  for (const Placeholder& placeholder : more) demand_use(pattern.text(), placeholder.name);
  for (const char* at = pattern.text(); *at != '\0';) {
    const size_t length = placeholder_at(at);
    if (length == 0) {
      appendStringInfoChar(&text, *at++);
      continue;
    }
    const Placeholder* filled = find(more.begin(), more.size(), at + 1, length);
    if (filled == nullptr) filled = find(common, static_cast<size_t>(n), at + 1, length);
    if (filled == nullptr || filled->piece.text() == nullptr)
      elog(ERROR, "nothing fills {%.*s} in: %s", static_cast<int>(length), at + 1, pattern.text());
    appendStringInfoString(&text, filled->piece.text());
    at += length + 2;
  }
  return Sql(text.data);
}

}  // namespace neardup
