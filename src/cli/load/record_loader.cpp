// Files of records on their way into the table, batch by batch.
#include "cli/load/record_loader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/interrupt.h"
#include "cli/input/unpack.h"
#include "cli/records/html_text.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kHead = 64 * 1024;

// A source that tells how much of it was read.
class Counted final : public ByteSource {
 public:
  Counted(ByteSource& source, const RecordLoader::OnBytes& on_bytes) : source_(source), on_bytes_(on_bytes) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t got = source_.read(buffer, size);
    on_bytes_(static_cast<std::int64_t>(got));
    return got;
  }

 private:
  ByteSource& source_;
  const RecordLoader::OnBytes& on_bytes_;
};

std::string read_head(ByteSource& source) {
  std::string head(kHead, '\0');
  std::size_t have = 0;
  while (const std::size_t got = have < kHead ? source.read(head.data() + have, kHead - have) : 0) have += got;
  head.resize(have);
  return head;
}

// A file that needs more memory than there is ends there; those behind it may need less.
template <typename Work>
auto within_memory(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw SourceError(SkipReason::no_memory, "");
  }
}

}  // namespace

std::string RecordLoader::options_text(Format format) const {
  std::string text = format_name(format);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string(" ") + name + "=" + value;
  };
  add("text", options_.text_column);
  add("id", options_.id_column);
  add("html", options_.html_text ? "text" : "");
  add("encoding", options_.encoding);
  add("min_words", options_.min_words > 0 ? std::to_string(options_.min_words) : "");
  add("max_size", options_.max_size != kUsualMaxSize ? std::to_string(options_.max_size) : "");
  return text;
}

// Records that another load may take though file and options are the same: the server or the program has changed.
std::int64_t RecordLoader::skipped_for_now() const {
  return skipped_.count(SkipReason::refused) + skipped_.count(SkipReason::left_out) +
         skipped_.count(SkipReason::no_library) + skipped_.count(SkipReason::no_memory) + decoder_.lacking();
}

bool RecordLoader::is_unchanged(const FoundFile& file) const {
  const auto match = known_.find(file.path);
  if (match == known_.end() || file.path == kStandardInput) return false;
  const RecordFile& known = match->second;
  // the package for Python has formats that are none here
  const std::optional<Format> format = format_named(known.options.substr(0, known.options.find(' ')));
  return format && known.size == file.size && known.mtime == file.mtime &&
         (options_.format == Format::automatic || options_.format == *format) && known.options == options_text(*format);
}

void RecordLoader::load(const FoundFile& file, Format format, const OnBytes& progress) {
  table_.prepare();
  identities_.clear();
  try {
    File source(file.path, file.given);
    read(file, source, format, progress);
  } catch (const SourceError& error) {
    send(false);
    skipped_.add(error.problem, file.path, error.what());
  } catch (const ColumnError& error) {
    skipped_.add(SkipReason::no_column, file.path, error.what());
  }
}

void RecordLoader::read(const FoundFile& file, File& source, Format format, const OnBytes& progress) {
  Counted counted(source, progress);
  const std::string head = within_memory([&] { return read_head(counted); });
  Prefixed whole(head, counted);
  const Packing packing = detect_packing(head);
  const std::unique_ptr<ByteSource> unpacking =
      within_memory([&] { return packing != Packing::none ? unpacked(whole, packing) : nullptr; });
  ByteSource& bytes = unpacking ? *unpacking : static_cast<ByteSource&>(whole);
  const std::unique_ptr<RecordReader> reader = within_memory([&] {
    return make_record_reader(format, bytes, {options_.text_column, options_.id_column, options_.max_size});
  });
  const bool likely_new = sender_.look_up({record_path(file.path, 1)}).empty();
  const std::int64_t skipped_before = skipped_for_now();
  const std::int64_t mtime = file.path == kStandardInput ? file.mtime : source.mtime();
  file_ = {file.path, kUnfinished, mtime, 0, options_text(format)};
  noted_ = file.path == kStandardInput;
  std::int64_t number = 0, last_stored = 0;
  Record record;
  for (;;) {
    check_interrupt();
    const RecordReader::Found found = within_memory([&] { return reader->next(record); });
    if (found == RecordReader::Found::end) break;
    const std::string path = record_path(file.path, ++number);
    counts_.attachments += record.attachments;
    if (found == RecordReader::Found::other) {
      ++counts_.other;
    } else if (found == RecordReader::Found::problem) {
      skipped_.add(reader->reason(), path, reader->detail());
    } else {
      const std::size_t before = rows_.size();
      add_record(mtime, path, record);
      if (rows_.size() > before) last_stored = number;
    }
    if (row_bytes_ >= kBytesAtOnce || static_cast<std::int64_t>(rows_.size()) >= options_.batch_records)
      send(likely_new);
  }
  send(likely_new);
  if (file.path == kStandardInput || source.has_changed()) return;
  if (skipped_for_now() > skipped_before) {
    ++counts_.unfinished;
    return;
  }
  file_.size = source.size();
  file_.records = last_stored;
  if (!table_.note(file_).empty()) ++counts_.unnoted;
}

void RecordLoader::add_record(std::int64_t mtime, const std::string& path, Record& record) {
  if (!make_text(path, record) || !decoder_.has_enough_words(path, record.body)) return;
  // last: a record that is skipped does not keep out another one with its id
  if (!record.identity.empty() &&
      !identities_.insert(XXH3_64bits(record.identity.data(), record.identity.size())).second) {
    skipped_.add(SkipReason::repeated_id, path, record.record_id);
    return;
  }
  const auto hash = static_cast<std::int64_t>(XXH3_64bits(record.body.data(), record.body.size()));
  row_bytes_ += path.size() + record.body.size() + record.attributes.size();
  rows_.push_back({path, record.size, mtime, hash, std::move(record.body), true, std::move(record.record_id), record.at,
                   std::move(record.attributes)});
}

// UTF-8, and visible text where the body is HTML. False where it is skipped.
bool RecordLoader::make_text(const std::string& path, Record& record) try {
  if (!decoder_.make_utf8(path, record.html && record.charset.empty() ? html_charset(record.body) : record.charset,
                          record.body))
    return false;
  const bool leaves_markup = record.html && (options_.html_text || record.html_to_text);
  return !leaves_markup || decoder_.make_visible(path, record.body);
} catch (const std::bad_alloc&) {
  skipped_.add(SkipReason::no_memory, path, "");
  return false;
}

void RecordLoader::send(bool likely_new) {
  if (rows_.empty()) return;
  // Until it is read to its end, a note of an earlier load with other options is not true of its rows.
  if (!noted_ && !table_.note(file_).empty()) table_.forget(file_.path);
  noted_ = true;
  sender_.send(rows_, likely_new);
  rows_.clear();
  row_bytes_ = 0;
}

}  // namespace neardup::cli
