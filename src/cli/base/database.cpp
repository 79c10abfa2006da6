// A thin, owning layer over libpq: connection, result, errors with SQLSTATE, identifiers.
#include "cli/base/database.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>

#include "cli/base/copy_writer.h"
#include "cli/base/interrupt.h"
#include "cli/base/utf8.h"

namespace neardup::cli {
namespace {

constexpr Oid kByteaOid = 17;
constexpr Oid kInt8Oid = 20;
constexpr Oid kTextOid = 25;
constexpr Oid kByteaArrayOid = 1001;
constexpr Oid kTextArrayOid = 1009;
constexpr Oid kInt8ArrayOid = 1016;
constexpr Oid kTimestamptzOid = 1184;
constexpr Oid kTimestamptzArrayOid = 1185;
constexpr std::size_t kNameDataLen = 64;  // of a stock server: 63 bytes and a NUL

PGcancel* volatile cancel_request = nullptr;

// PQcancel is documented as safe to call from a signal handler.
void cancel_statement() {
  if (PGcancel* request = cancel_request) {
    char error[256];
    PQcancel(request, error, sizeof error);
  }
}

// The connection whose running statement a signal cancels; null to forget it. Call it before the connection closes.
void set_interrupt_connection(PGconn* conn) {
  PGcancel* old = cancel_request;
  cancel_request = conn != nullptr ? PQgetCancel(conn) : nullptr;
  set_interrupt_action(cancel_statement);
  if (old != nullptr) PQfreeCancel(old);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// The bytes before the elements of an array of one dimension.
std::string array_header(Oid element, std::size_t size, bool has_nulls) {
  std::string bytes;
  append_int32(bytes, size == 0 ? 0 : 1);  // dimensions
  append_int32(bytes, has_nulls ? 1 : 0);
  append_int32(bytes, static_cast<std::int32_t>(element));
  if (size == 0) return bytes;
  append_int32(bytes, static_cast<std::int32_t>(size));
  append_int32(bytes, 1);  // lower bound
  return bytes;
}

// append(bytes, value) appends an element with its length, or NULL.
template <class Values, class Append>
std::string array_bytes(Oid element, const Values& values, bool has_nulls, Append append) {
  std::string bytes = array_header(element, values.size(), has_nulls);
  for (const auto& value : values) append(bytes, value);
  return bytes;
}

}  // namespace

Params& Params::text(std::string_view value) {
  params_.push_back({kTextOid, {}, value, false});
  return *this;
}

Params& Params::text_or_null(std::string_view value) {
  if (!value.empty()) return text(value);
  add_null(kTextOid);
  return *this;
}

Params& Params::bytea(std::string_view value) {
  params_.push_back({kByteaOid, {}, value, false});
  return *this;
}

Params& Params::int8(std::int64_t value) {
  std::string bytes;
  append_int64(bytes, value);
  add_owned(kInt8Oid, std::move(bytes));
  return *this;
}

Params& Params::timestamptz(std::optional<std::int64_t> value) {
  if (!value) {
    add_null(kTimestamptzOid);
    return *this;
  }
  std::string bytes;
  append_int64(bytes, *value);
  add_owned(kTimestamptzOid, std::move(bytes));
  return *this;
}

Params& Params::int8_array(const std::vector<std::int64_t>& values) {
  add_owned(kInt8ArrayOid, array_bytes(kInt8Oid, values, false, append_int8_field));
  return *this;
}

Params& Params::timestamptz_array(const std::vector<std::optional<std::int64_t>>& values) {
  add_owned(kTimestamptzArrayOid, array_bytes(kTimestamptzOid, values, true, [](std::string& bytes, const auto& value) {
              value ? append_int8_field(bytes, *value) : append_null(bytes);
            }));
  return *this;
}

Params& Params::text_array(const std::vector<std::string_view>& values) {
  add_owned(kTextArrayOid, array_bytes(kTextOid, values, false, append_field));
  return *this;
}

Params& Params::text_or_null_array(const std::vector<std::string_view>& values) {
  add_owned(kTextArrayOid, array_bytes(kTextOid, values, true, [](std::string& bytes, std::string_view value) {
              value.empty() ? append_null(bytes) : append_field(bytes, value);
            }));
  return *this;
}

Params& Params::bytea_array(const std::vector<std::string_view>& values) {
  add_owned(kByteaArrayOid, array_bytes(kByteaOid, values, false, append_field));
  return *this;
}

void Params::add_null(Oid type) { params_.push_back({type, {}, {}, false, true}); }

void Params::add_owned(Oid type, std::string bytes) { params_.push_back({type, std::move(bytes), {}, true}); }

Connection::Connection(const Options& options) : canceled_by_signals_(options.canceled_by_signals) {
  std::vector<const char*> keys, values;
  // libpq reads the values during the call; they live in options or are literals
  auto add = [&](const char* key, const char* value) {
    if (*value == '\0') return;
    keys.push_back(key);
    values.push_back(value);
  };
  add("host", options.host.c_str());
  add("port", options.port.c_str());
  add("user", options.user.c_str());
  add("dbname", options.conninfo.c_str());
  add("fallback_application_name", "neardup");
  add("client_encoding", "UTF8");
  keys.push_back(nullptr);
  values.push_back(nullptr);
  conn_ = PQconnectdbParams(keys.data(), values.data(), 1);
  if (conn_ == nullptr) throw DatabaseError("out of memory", "", true);
  if (PQstatus(conn_) != CONNECTION_OK) {
    std::string message = trimmed(PQerrorMessage(conn_));
    PQfinish(conn_);
    throw DatabaseError(message, "", true);
  }
  PQsetNoticeProcessor(
      conn_, [](void*, const char* text) { std::fputs(printable_message(text).c_str(), stderr); }, nullptr);
  // The server converts nothing of such a database, but refuses to send what is not UTF-8.
  if (server_encoding() == kNoEncoding && PQsetClientEncoding(conn_, kNoEncoding.data()) != 0) {
    DatabaseError error(trimmed(PQerrorMessage(conn_)), "", true);
    PQfinish(conn_);
    throw error;
  }
  if (canceled_by_signals_) set_interrupt_connection(conn_);
}

std::string_view Connection::server_encoding() const noexcept {
  const char* name = PQparameterStatus(conn_, "server_encoding");
  return name != nullptr ? name : "";
}

Connection::~Connection() {
  if (canceled_by_signals_) set_interrupt_connection(nullptr);
  PQfinish(conn_);
}

bool Connection::converts() const noexcept {
  const std::string_view encoding = server_encoding();
  return encoding != "UTF8" && encoding != kNoEncoding;
}

void Connection::fail(const PGresult* result) {
  check_interrupt();  // "canceling statement due to user request" is ours
  const bool lost = PQstatus(conn_) == CONNECTION_BAD;
  const char* state = result != nullptr ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const char* primary = result != nullptr ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  const char* detail = result != nullptr ? PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL) : nullptr;
  std::string message = primary != nullptr ? primary : trimmed(PQerrorMessage(conn_));
  if (detail != nullptr && std::strlen(detail) < 300) message += std::string(" (") + detail + ")";
  const char* hint = result != nullptr ? PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) : nullptr;
  throw DatabaseError(message, state != nullptr ? state : "", lost, hint != nullptr ? hint : "");
}

Params::Arrays Params::arrays() const {
  Arrays out;
  for (const Param& param : params_) {
    std::string_view bytes = param.is_owned ? std::string_view(param.owned) : param.view;
    out.types.push_back(param.type);
    out.values.push_back(param.is_null ? nullptr : bytes.data() != nullptr ? bytes.data() : "");
    out.lengths.push_back(static_cast<int>(bytes.size()));
    out.formats.push_back(1);
  }
  return out;
}

Result Connection::query(const char* sql, const Params& params) {
  check_interrupt();
  const Params::Arrays p = params.arrays();
  Result result(PQexecParams(conn_, sql, static_cast<int>(p.types.size()), p.types.data(), p.values.data(),
                             p.lengths.data(), p.formats.data(), 1));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(result.get());
  return result;
}

void Connection::start(const std::string& sql, const Params& params) {
  check_interrupt();
  const Params::Arrays p = params.arrays();
  if (PQsendQueryParams(conn_, sql.c_str(), static_cast<int>(p.types.size()), p.types.data(), p.values.data(),
                        p.lengths.data(), p.formats.data(), 1) != 1) {
    fail(nullptr);
  }
}

bool Connection::wait(int milliseconds) {
  pollfd socket = {PQsocket(conn_), POLLIN, 0};
  poll(&socket, 1, milliseconds);
  return PQconsumeInput(conn_) != 1 || PQisBusy(conn_) == 0;
}

Result Connection::finish() {
  Result last;
  while (Result result{PQgetResult(conn_)}) last = std::move(result);
  const ExecStatusType status = PQresultStatus(last.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(last.get());
  return last;
}

void Connection::cancel() noexcept {
  if (PGcancel* request = PQgetCancel(conn_)) {
    char error[256];
    PQcancel(request, error, sizeof error);
    PQfreeCancel(request);
  }
}

void Connection::try_execute(const char* sql) noexcept {
  if (PQstatus(conn_) == CONNECTION_OK) PQclear(PQexec(conn_, sql));
}

void Connection::copy_begin(const std::string& sql) {
  check_interrupt();
  Result result(PQexec(conn_, sql.c_str()));
  if (PQresultStatus(result.get()) != PGRES_COPY_IN) fail(result.get());
}

void Connection::copy_data(std::string_view bytes) {
  // libpq copies what it is given into its own buffer first, so it gets pieces.
  constexpr std::size_t kCopyPiece = 1 << 20;
  while (!bytes.empty()) {
    check_interrupt();
    std::string_view piece = bytes.substr(0, kCopyPiece);
    if (PQputCopyData(conn_, piece.data(), static_cast<int>(piece.size())) != 1) {
      Result result(PQgetResult(conn_));
      fail(result.get());
    }
    bytes.remove_prefix(piece.size());
  }
}

std::int64_t Connection::copy_end() {
  if (PQputCopyEnd(conn_, nullptr) != 1) fail(nullptr);
  Result first;
  while (Result result{PQgetResult(conn_)}) {
    if (!first) first = std::move(result);
  }
  if (PQresultStatus(first.get()) != PGRES_COMMAND_OK) fail(first.get());
  return command_rows(first);
}

void Connection::copy_abort() noexcept {
  if (PQtransactionStatus(conn_) != PQTRANS_ACTIVE) return;
  PQputCopyEnd(conn_, "stopped by the loader");
  while (PGresult* result = PQgetResult(conn_)) {
    const bool copying = PQresultStatus(result) == PGRES_COPY_IN;
    PQclear(result);
    if (copying || PQstatus(conn_) == CONNECTION_BAD) break;
  }
}

std::int64_t get_int8(const Result& result, int row, int column) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(PQgetvalue(result.get(), row, column));
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return static_cast<std::int64_t>(value);
}

double get_float8(const Result& result, int row, int column) {
  return std::bit_cast<double>(get_int8(result, row, column));
}

bool get_bool(const Result& result, int row, int column) { return *PQgetvalue(result.get(), row, column) != 0; }

bool is_null(const Result& result, int row, int column) { return PQgetisnull(result.get(), row, column) != 0; }

std::string_view get_text(const Result& result, int row, int column) {
  return {PQgetvalue(result.get(), row, column), static_cast<std::size_t>(PQgetlength(result.get(), row, column))};
}

std::int64_t command_rows(const Result& result) { return std::strtoll(PQcmdTuples(result.get()), nullptr, 10); }

std::string quote_name(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string parse_table_name(std::string_view name) {
  auto is_letter = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
  };
  std::vector<std::string> parts;
  std::size_t i = 0;
  for (;;) {
    std::string part;
    if (i < name.size() && name[i] == '"') {
      bool closed = false;
      for (++i; i < name.size(); ++i) {
        if (name[i] != '"') {
          part += name[i];
        } else if (i + 1 < name.size() && name[i + 1] == '"') {
          part += name[++i];
        } else {
          closed = true;
          ++i;
          break;
        }
      }
      if (!closed) throw std::invalid_argument("a quoted name has no closing quote");
    } else {
      if (i < name.size() && is_letter(static_cast<unsigned char>(name[i]))) {
        for (; i < name.size(); ++i) {
          const auto c = static_cast<unsigned char>(name[i]);
          if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '$') break;
          part += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        }
      }
    }
    if (part.empty()) throw std::invalid_argument("a name is missing or starts with a character that needs quotes");
    if (part.size() >= kNameDataLen) throw std::invalid_argument("a name is longer than 63 bytes");
    if (!valid_utf8(part)) throw std::invalid_argument("a name is not valid UTF-8");
    parts.push_back(std::move(part));
    if (i == name.size()) break;
    if (name[i] != '.') throw std::invalid_argument("unexpected character after a name; put the name in double quotes");
    ++i;
  }
  if (parts.size() > 2) throw std::invalid_argument("more than schema and table");
  std::string quoted;
  for (const std::string& part : parts) quoted += (quoted.empty() ? "" : ".") + quote_name(part);
  return quoted;
}

namespace {

enum class Fit { line, message };

std::string escaped_text(std::string_view bytes, Fit fit) {
  const bool utf8 = valid_utf8(bytes);
  const auto bad_bytes_at = [&](std::size_t i) -> std::size_t {
    if (fit == Fit::message && bytes[i] == '\n') return 0;
    if (fit == Fit::line && bytes[i] == '\\') return 1;
    return !utf8 && static_cast<unsigned char>(bytes[i]) >= 0x80 ? 1 : control_length(bytes.substr(i));
  };
  std::string out;
  std::size_t escaped = 0;  // of the bytes from here on
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (escaped == 0) escaped = bad_bytes_at(i);
    if (escaped == 0) {
      out += bytes[i];
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(bytes[i]));
    out += escape;
    --escaped;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view bytes) { return escaped_text(bytes, Fit::line); }
std::string printable_message(std::string_view bytes) { return escaped_text(bytes, Fit::message); }

}  // namespace neardup::cli
