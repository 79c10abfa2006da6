// Lines of JSON, an object a line, read by simdjson.
#include "cli/records/record_readers.h"

#ifdef NEARDUP_WITH_SIMDJSON
#include <cstring>
#include <simdjson.h>

#include "cli/base/json.h"
#include "cli/records/columns.h"
#include "cli/records/json_signs.h"
#include "cli/records/record_input.h"
#endif

namespace neardup::cli {

#ifdef NEARDUP_WITH_SIMDJSON
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(RecordInput::kPadding >= simdjson::SIMDJSON_PADDING);

// A line that is no JSON, or none that jsonb takes.
struct BadJson {
  std::string why;
};

void check(simdjson::error_code error) {
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS) throw BadJson{simdjson::error_message(error)};
}

template <typename T>
T get(simdjson::simdjson_result<T> result) {
  check(result.error());
  return std::move(result).value_unsafe();
}

// The name of a field, which is read once. simdjson 3.6 (Ubuntu 24.04) declares the argument that others leave out.
template <typename Field>
std::string_view member_name(Field& field) {
  if constexpr (requires { field.unescaped_key(false); })
    return get(field.unescaped_key(false));
  else
    return get(field.unescaped_key());
}

std::string_view without_space_behind(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r'))
    token.remove_suffix(1);
  return token;
}

// The grammar of numbers, since simdjson leaves those unread that nobody asks for, and has no integers beyond 64 bits.
bool is_number(std::string_view token) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < token.size() && token[i] >= '0' && token[i] <= '9') ++i;
    return i - from;
  };
  if (i < token.size() && token[i] == '-') ++i;
  const bool zero = i < token.size() && token[i] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (i < token.size() && token[i] == '.' && (++i, digits() == 0)) return false;
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == token.size();
}

// Reads a string, number, true, false or null to its end, and returns it as it stands in the line.
std::string_view scalar(ondemand::value& value, ondemand::json_type type) {
  const std::string_view token = without_space_behind(value.raw_json_token());
  switch (type) {
    case ondemand::json_type::string: {
      const std::string_view text = get(value.get_string());
      if (text.find('\0') != std::string_view::npos) throw BadJson{"a NUL in a string"};
      break;
    }
    case ondemand::json_type::number: {
      if (!is_number(token)) throw BadJson{"not a number: " + std::string(token.substr(0, 40))};
      break;
    }
    case ondemand::json_type::boolean:
      get(value.get_bool());
      break;
    default:
      if (!value.is_null()) throw BadJson{"not a value: " + std::string(token.substr(0, 40))};
  }
  return token;
}

// Appends the value as it stands, and reads all of it: what simdjson passes over it does not check.
void copy_value(ondemand::value value, int depth, std::string& out) {
  constexpr int kDeepest = 500;
  if (depth > kDeepest) throw BadJson{"nested too deep"};
  const ondemand::json_type type = get(value.type());
  bool first = true;
  if (type == ondemand::json_type::array) {
    out += '[';
    for (auto element : get(value.get_array())) {
      if (!std::exchange(first, false)) out += ',';
      copy_value(get(element), depth + 1, out);
    }
    out += ']';
  } else if (type == ondemand::json_type::object) {
    out += '{';
    for (auto field : get(value.get_object())) {
      if (!std::exchange(first, false)) out += ',';
      ondemand::field member = get(std::move(field));
      append_json_string(out, member_name(member));
      out += ':';
      copy_value(member.value(), depth + 1, out);
    }
    out += '}';
  } else {
    out += scalar(value, type);
  }
}

// simdjson notes where each value and each sign between values begins, in 4 bytes.
constexpr std::size_t kMostJsonSigns = 4'000'000;

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

class JsonlReader final : public RecordReader {
 public:
  JsonlReader(ByteSource& source, const RecordOptions& options)
      : input_(source, options.max_size),
        text_(ColumnNames::for_text(options.text_column)),
        id_(ColumnNames::for_id(options.id_column)),
        parser_(SIZE_MAX >> 1) {}

  Found next(Record& record) override {
    record = {};
    std::string_view line;
    for (;;) {
      const RecordInput::Line found = input_.next_line(line);
      if (found == RecordInput::Line::end) return Found::end;
      if (std::exchange(first_line_, false) && line.starts_with(kUtf8Mark)) line.remove_prefix(kUtf8Mark.size());
      record.size = static_cast<std::int64_t>(input_.line_size());
      if (found == RecordInput::Line::too_long) return problem(SkipReason::too_large, "a line");
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) break;
    }
    try {
      // simdjson 4 passes over one, 3 does not.
      if (line.starts_with(kUtf8Mark)) throw BadJson{"a byte order mark within the file"};
      if (has_more_signs(line, kMostJsonSigns))
        throw BadJson{"more than " + std::to_string(kMostJsonSigns) + " signs outside of strings"};
      return read(line, record);
    } catch (const BadJson& bad) {
      return problem(SkipReason::bad_record, bad.why);
    } catch (const simdjson::simdjson_error& bad) {
      return problem(SkipReason::bad_record, bad.what());
    } catch (const std::bad_alloc&) {
      return problem(SkipReason::no_memory, "a line");
    }
  }

 private:
  // The value of the best of several text columns.
  enum class TextKind { missing, null, nested, text };

  Found read(std::string_view line, Record& record) {
    ondemand::document document = get(parser_.iterate(line.data(), line.size(), line.size() + RecordInput::kPadding));
    ondemand::object object = get(document.get_object());
    JsonObject attributes;
    std::string names;
    int best = -1;
    TextKind kind = TextKind::missing;
    for (auto found : object) {
      ondemand::field field = get(std::move(found));
      const std::string key(member_name(field));
      if (key.find('\0') != std::string::npos) throw BadJson{"a NUL in a name"};
      ondemand::value value = field.value();
      const ondemand::json_type type = get(value.type());
      const int rank = text_.rank(key);
      const bool scalar_value = type != ondemand::json_type::array && type != ondemand::json_type::object;
      if (rank >= 0 && (best < 0 || rank < best)) {
        if (best >= 0) attributes.member(best_name_) += second_best_;
        best = rank;
        best_name_ = key;
        kind = read_text(value, type, rank > 0, record);
      } else if (id_.rank(key) == 0 && scalar_value && type != ondemand::json_type::null) {
        read_scalar(value, type, record.record_id);
      } else {
        copy_value(value, 1, attributes.member(key));
      }
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + key;
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
      throw BadJson{"more than one value in the line"};
    record.attributes = attributes.finish();
    record.identity = record.record_id;
    if (kind == TextKind::missing) return problem(SkipReason::no_column, no_text_column(text_, names));
    if (kind == TextKind::null) return problem(SkipReason::no_text, best_name_ + " is null");
    if (kind == TextKind::nested) return problem(SkipReason::bad_record, best_name_ + " is an array or an object");
    return Found::record;
  }

  // keep: a better name may follow, which makes an attribute of it.
  TextKind read_text(ondemand::value& value, ondemand::json_type type, bool keep, Record& record) {
    record.body.clear();
    second_best_.clear();
    if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
      copy_value(value, 1, second_best_);
      return TextKind::nested;
    }
    if (keep) second_best_ = without_space_behind(value.raw_json_token());
    if (type == ondemand::json_type::null) {
      scalar(value, type);
      return TextKind::null;
    }
    read_scalar(value, type, record.body);
    return TextKind::text;
  }

  // Strings as what they mean, all else as it stands.
  static void read_scalar(ondemand::value& value, ondemand::json_type type, std::string& out) {
    if (type == ondemand::json_type::string) {
      const std::string_view text = get(value.get_string());
      if (text.find('\0') != std::string_view::npos) throw BadJson{"a NUL in a string"};
      out = text;
    } else {
      out = scalar(value, type);
    }
  }

  RecordInput input_;
  ColumnNames text_, id_;
  ondemand::parser parser_;
  std::string best_name_, second_best_;  // second_best_: the JSON of what best_name_ has
  bool first_line_ = true;
};

}  // namespace

std::unique_ptr<RecordReader> make_jsonl_reader(ByteSource& source, const RecordOptions& options) {
  return std::make_unique<JsonlReader>(source, options);
}

#else

std::unique_ptr<RecordReader> make_jsonl_reader(ByteSource&, const RecordOptions&) {
  throw SourceError(SkipReason::no_library, "simdjson: install libsimdjson-dev, and build neardup again");
}

#endif

}  // namespace neardup::cli
