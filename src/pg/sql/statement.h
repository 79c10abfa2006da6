// SQL with named placeholders. Only text that was made for it fills a placeholder: a name, a literal, an expression
// that the parser has read, SQL that was put together here. A string does not compile.
//
//     sql("DELETE FROM {signatures} WHERE gone", {{"signatures", job.signatures}})
//
// All text lies in the memory context that was current when it was made.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "pg/base/pg.h"

namespace neardup {

// A text that may fill a placeholder.
class SqlPiece {
 public:
  SqlPiece() = default;  // nothing: not to be used before another is assigned
  const char* text() const { return text_; }

 protected:
  explicit SqlPiece(const char* text) : text_(text) {}
  // An error for null: a row that its owner has changed may lack what a statement needs.
  static const char* demanded(const char* value);

 private:
  const char* text_ = nullptr;
};

// A name of one part, of a column or a schema, quoted where it must be.
class Identifier : public SqlPiece {
 public:
  Identifier() = default;
  explicit Identifier(const char* name) : SqlPiece(quote_identifier(demanded(name))) {}
};

// The extension's schema, and that of the functions which users do not call. function: the one that runs.
Identifier extension_schema(Oid function);
Identifier internal_schema(Oid function);

// schema.name
class QualifiedName : public SqlPiece {
 public:
  QualifiedName() = default;
  QualifiedName(const char* schema, const char* name) : SqlPiece(quote_qualified_identifier(schema, name)) {}
  // The relation's name as it is now; without text where there is no relation.
  static QualifiedName current(Oid relation);
  // Raises an error where there is no relation. held_name() on a table in its schema locks the schema's name.
  static QualifiedName existing(Oid relation);
  // The name by held_name(): until the transaction ends, a statement that finds another relation by it raises an error.
  static QualifiedName held(Oid relation);

 private:
  explicit QualifiedName(const char* quoted) : SqlPiece(quoted) {}
};

// A type with its schema, and its modifier where it has one.
class TypeName : public SqlPiece {
 public:
  TypeName() = default;
  explicit TypeName(Oid type, int32 modifier = -1);
};

// OPERATOR(schema.name): the equality by which values of a type are ordered. An error for a type without one.
class EqualityOperator : public SqlPiece {
 public:
  EqualityOperator() = default;
  explicit EqualityOperator(Oid type);
};

class Literal : public SqlPiece {
 public:
  Literal() = default;
  explicit Literal(const char* value) : SqlPiece(quote_literal_cstr(demanded(value))) {}
  static Literal null() { return Literal("NULL", Unquoted{}); }
  static Literal or_null(const char* value) { return value == nullptr ? null() : Literal(value); }
  // All digits of it, without quotes.
  static Literal number(int64 value) { return Literal(psprintf(INT64_FORMAT, value), Unquoted{}); }
  // The shortest decimal that reads as the same number: quoted and cast, or bare, as options of an index take it.
  static Literal number(double value);
  static Literal decimal(double value);
  static Literal interval(const Interval* value);

 private:
  struct Unquoted {};
  Literal(const char* text, Unquoted) : SqlPiece(text) {}
};

// A user's expression, in parentheses. One that the parser does not read as a single expression is an error.
class Expression : public SqlPiece {
 public:
  Expression() = default;
  explicit Expression(const char* source);
};

// SQL with placeholders, as it stands in the source code: only a constant compiles. A placeholder is a name of
// lower-case letters, digits and "_" in braces; braces around anything else stay.
class Pattern {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): so that a literal will do
  consteval Pattern(const char* text) : text_(text) {}
  const char* text() const { return text_; }

 private:
  const char* text_;
};

struct Placeholder {
  const char* name;
  SqlPiece piece;
};

// SQL that sql() has put together: a statement, or a part of one.
class Sql : public SqlPiece {
 public:
  Sql() = default;

 private:
  friend Sql sql(Pattern pattern, std::initializer_list<Placeholder> more, const Placeholder* common, int n);
  friend class SqlList;
  explicit Sql(const char* text) : SqlPiece(text) {}
};

// The pattern with its placeholders filled from `more`, else from common[0 .. n). A placeholder that neither has, and
// one of `more` that the pattern has not, are errors of ours.
Sql sql(Pattern pattern, std::initializer_list<Placeholder> more = {}, const Placeholder* common = nullptr, int n = 0);

// Pieces with a separator between them.
class SqlList {
 public:
  explicit SqlList(const char* separator = ", ") : separator_(separator) { initStringInfo(&text_); }
  void add(const SqlPiece& piece) { appendStringInfo(&text_, "%s%s", text_.len == 0 ? "" : separator_, piece.text()); }
  Sql all() const { return Sql(text_.data); }

 private:
  const char* separator_;
  StringInfoData text_;
};

// Errors would leave them by longjmp.
static_assert(std::is_trivially_destructible_v<Sql> && std::is_trivially_destructible_v<SqlList> &&
              std::is_trivially_destructible_v<Placeholder>);

}  // namespace neardup
