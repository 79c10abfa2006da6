// A thin, owning layer over libpq: connection, result, errors with SQLSTATE, identifiers.
#pragma once

#include <cstdint>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace neardup::cli {

// An error of the server or of libpq. sqlstate is empty when the connection itself failed.
class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(const std::string& message, std::string sqlstate, bool connection_lost, std::string hint = {})
      : std::runtime_error(message),
        sqlstate_(std::move(sqlstate)),
        hint_(std::move(hint)),
        connection_lost_(connection_lost) {}
  const std::string& sqlstate() const noexcept { return sqlstate_; }
  const std::string& hint() const noexcept { return hint_; }
  bool connection_lost() const noexcept { return connection_lost_; }
  // Class 22 is data exception, 54 program limit exceeded, 23 integrity constraint violation ...
  bool in_class(std::string_view two_digits) const noexcept { return sqlstate_.compare(0, 2, two_digits) == 0; }

 private:
  std::string sqlstate_, hint_;
  bool connection_lost_;
};

struct ResultDeleter {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

// Parameters in binary format, in the order of $1, $2 ... The bytes of text() and bytea() are not copied.
class Params {
 public:
  Params& text(std::string_view value);
  // NULL where it is empty
  Params& text_or_null(std::string_view value);
  Params& bytea(std::string_view value);
  Params& int8(std::int64_t value);
  // Microseconds since 2000-01-01 UTC. Arithmetic of SQL would find its operators by search_path.
  Params& timestamptz(std::optional<std::int64_t> value);
  // Arrays of one dimension
  Params& int8_array(const std::vector<std::int64_t>& values);
  Params& timestamptz_array(const std::vector<std::optional<std::int64_t>>& values);
  Params& text_array(const std::vector<std::string_view>& values);
  // an element that is empty is NULL
  Params& text_or_null_array(const std::vector<std::string_view>& values);
  Params& bytea_array(const std::vector<std::string_view>& values);

 private:
  friend class Connection;
  // As libpq takes them; they point into the Params.
  struct Arrays {
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> lengths, formats;
  };
  Arrays arrays() const;
  void add_owned(Oid type, std::string bytes);
  void add_null(Oid type);
  struct Param {
    Oid type;
    std::string owned;
    std::string_view view;
    bool is_owned;
    bool is_null = false;
  };
  std::vector<Param> params_;
};

// The encoding of a database that knows none: its text is bytes.
inline constexpr std::string_view kNoEncoding = "SQL_ASCII";

class Connection {
 public:
  struct Options {
    std::string conninfo;  // a database name, a conninfo string or a URI; empty: the PG* environment
    std::string host, port, user;
    bool canceled_by_signals = true;  // a signal cancels what it runs; of one connection at a time
  };

  // Connects. Text is UTF-8 both ways; of a database without an encoding it is whatever bytes the database holds.
  // Throws DatabaseError.
  explicit Connection(const Options& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One statement; results come in binary. Throws DatabaseError unless it ended well.
  Result query(const char* sql, const Params& params = {});
  Result query(const std::string& sql, const Params& params = {}) { return query(sql.c_str(), params); }
  // A statement without waiting: start(), wait() until it gives true, finish(). wait() returns early when a signal
  // comes.
  void start(const std::string& sql, const Params& params = {});
  bool wait(int milliseconds);
  Result finish();
  // Asks the server to stop the running statement.
  void cancel() noexcept;
  // Statements whose failure is of no interest (ROLLBACK after an error).
  void try_execute(const char* sql) noexcept;

  // COPY ... FROM STDIN (FORMAT binary). copy_end throws what the server objected to.
  void copy_begin(const std::string& sql);
  void copy_data(std::string_view bytes);
  // The rows that were stored.
  std::int64_t copy_end();
  // Ends a running COPY with an error, so that nothing of it stays.
  void copy_abort() noexcept;

  std::string_view server_encoding() const noexcept;
  // Between the database and here text changes its encoding, which can fail.
  bool converts() const noexcept;
  PGconn* handle() const noexcept { return conn_; }

 private:
  [[noreturn]] void fail(const PGresult* result);
  PGconn* conn_;
  bool canceled_by_signals_;
};

// Binary values of a result. Of NULL a text is empty and a bool false; numbers are not to be read.
std::int64_t get_int8(const Result& result, int row, int column);
double get_float8(const Result& result, int row, int column);
bool get_bool(const Result& result, int row, int column);
bool is_null(const Result& result, int row, int column);
std::string_view get_text(const Result& result, int row, int column);

// The number of tries of a statement that another session may disturb.
inline constexpr int kRaces = 5;

// The number of rows that the command of the result has stored, updated or deleted.
std::int64_t command_rows(const Result& result);

// An identifier, quoted.
std::string quote_name(std::string_view name);

// A table name as psql takes it: name, schema.name, "Quoted name", schema."x""y". Unquoted parts are folded to lower
// case. Returns it quoted throughout, safe to put into SQL. Throws std::invalid_argument with the reason.
std::string parse_table_name(std::string_view name);

// The UTF-8 text with control characters, those that turn the direction of writing, backslashes and invalid bytes as
// \xNN, fit for a line of a terminal.
std::string printable(std::string_view bytes);
// The same of a message, which keeps its lines and its backslashes: parts of it may be printable() already.
std::string printable_message(std::string_view bytes);

}  // namespace neardup::cli
