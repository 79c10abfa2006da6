// Records of a file: documents that lie in it one after another. One interface to all formats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/input/byte_source.h"
#include "cli/input/format.h"
#include "cli/input/skip_reason.h"

namespace neardup::cli {

struct Record {
  std::string body;
  bool html = false;               // body is HTML, as it was found
  bool html_to_text = false;       // ... and its text is wanted whatever the options say
  std::string charset;             // that body is said to have; may be empty
  std::string record_id;           // as the file has it; empty: none
  std::string identity;            // what no two records of a file share; empty: anything
  std::optional<std::int64_t> at;  // microseconds since 2000-01-01 UTC
  std::string attributes;          // a JSON object; empty: none
  std::int64_t size = 0;           // bytes in the file, unpacked
  std::int64_t attachments = 0;    // parts of a mail that were passed over
};

class RecordReader {
 public:
  RecordReader() = default;
  virtual ~RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  enum class Found {
    record,   // in the Record
    problem,  // one that gives no document: reason() and detail() say why
    other,    // one that is none by its kind, such as a request of WARC
    end,
  };
  // Clears the record first. Throws SourceError where the file itself cannot be read on, Interrupted.
  virtual Found next(Record& record) = 0;

  SkipReason reason() const { return reason_; }
  const std::string& detail() const { return detail_; }

 protected:
  Found problem(SkipReason reason, std::string detail = {}) {
    reason_ = reason;
    detail_ = std::move(detail);
    return Found::problem;
  }

 private:
  SkipReason reason_ = SkipReason::bad_record;
  std::string detail_;
};

struct RecordOptions {
  std::string text_column, id_column;  // empty: the usual names
  std::int64_t max_size = 0;           // bytes of a record in the file, unpacked
};

// A file whose columns do not have the text.
struct ColumnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The source must live as long as the reader. Throws SourceError (no_library) where this build lacks the format's
// library, ColumnError where the header of the file has no column that fits.
std::unique_ptr<RecordReader> make_record_reader(Format format, ByteSource& source, const RecordOptions& options);

}  // namespace neardup::cli
