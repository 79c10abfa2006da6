// The text of a mail, by GMime.
#include "cli/records/mail.h"

#ifdef NEARDUP_WITH_GMIME
#include <algorithm>
#include <gmime/gmime.h>
#include <iterator>
#include <memory>
#include <vector>

#include "cli/base/json.h"
#include "cli/base/utf8.h"
#include "cli/input/file_reader.h"
#include "cli/input/memory.h"
#endif

namespace neardup::cli {

#ifdef NEARDUP_WITH_GMIME
namespace {

// GMime's parser of a header with addresses calls itself at each colon, and would run out of stack.
constexpr std::ptrdiff_t kMostColons = 1000;
// GMime needs up to 1 kB for each field or sign of a mail's headers.
constexpr std::ptrdiff_t kMostHeaderFields = 25000;
constexpr std::ptrdiff_t kMostAddressSigns = 25000;
constexpr char kSigns[] = {',', ';', '@', '<'};  // each address and each parameter has one of them

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

std::ptrdiff_t count(std::string_view text, char c) { return std::count(text.begin(), text.end(), c); }

// Lines that go on with a field begin with white space.
std::ptrdiff_t count_fields(std::string_view header) {
  std::ptrdiff_t fields = 1;
  for (std::size_t at = 0; (at = header.find('\n', at)) != std::string_view::npos; ++at)
    fields += at + 1 < header.size() && header[at + 1] != ' ' && header[at + 1] != '\t';
  return fields;
}

// Counts what GMime is to build objects of, in the headers of a mail: it would end the program where it got no memory
// for them.
class HeaderCounts {
 public:
  // Throws BadMail, std::bad_alloc.
  void add(std::string_view header) {
    const std::ptrdiff_t fields = count_fields(header);
    fields_ += fields;
    if (fields_ > kMostHeaderFields)
      throw BadMail("headers of " + std::to_string(fields_) + " fields, more than " +
                    std::to_string(kMostHeaderFields));
    std::ptrdiff_t objects = fields;
    for (std::size_t i = 0; i < std::size(kSigns); ++i) {
      const std::ptrdiff_t signs = count(header, kSigns[i]);
      objects += signs;
      signs_[i] += signs;
      if (signs_[i] > kMostAddressSigns)
        throw BadMail("headers with " + std::to_string(signs_[i]) + " times '" + kSigns[i] + "', more than " +
                      std::to_string(kMostAddressSigns));
    }
    constexpr std::size_t kMailParserBytes = 2 << 20, kObjectBytes = 1024, kHeaderByteBytes = 128;
    const std::size_t needed =
        kMailParserBytes + static_cast<std::size_t>(objects) * kObjectBytes + header.size() * kHeaderByteBytes;
    if (needed <= there_) return;
    need_memory(needed);
    there_ = needed;
  }

 private:
  std::ptrdiff_t fields_ = 0, signs_[std::size(kSigns)] = {};
  std::size_t there_ = 0;  // bytes that GMime can have, of which it has given back what it took
};

// GMime keeps each name of a charset that it has met.
void forget_charsets(std::string_view header) {
  constexpr std::ptrdiff_t kMostCharsetNames = 10000;
  static std::ptrdiff_t names = 0;
  names += count(header, '?') + count(header, '\'');
  if (names <= kMostCharsetNames) return;
  names = 0;
  g_mime_charset_map_shutdown();
  g_mime_charset_map_init();
}

Owned<GMimeObject> parse(std::string_view mail) {
  const Owned<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(mail.data(), mail.size()));
  const Owned<GMimeParser> parser(g_mime_parser_new_with_stream(stream.get()));
  // The mail is parsed as a part: in a message, GMime would parse all address headers by itself.
  return Owned<GMimeObject>(g_mime_parser_construct_part(parser.get(), nullptr));
}

bool begins_with_field(std::string_view header) {
  const auto is_of_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
  const auto* const end = std::find_if_not(header.begin(), header.end(), is_of_name);
  return end != header.begin() && end != header.end() && *end == ':';
}

// The header of a mail, or of a part. Null where there is no part. GMime takes a header of a part that begins with
// something else than a field for less bad than one of a mail, and has another type for parts of a digest: such a
// header is read as that of the only part of a mail.
Owned<GMimeObject> parse_header(const MailHeader& header) {
  constexpr std::string_view kBoundary = "--=_the_part_that_neardup_reads";
  if (header.first || (begins_with_field(header.bytes) && !header.in_digest)) return parse(header.bytes);
  if (header.bytes.find(kBoundary) != std::string_view::npos) throw BadMail("a boundary of neardup in a header");
  std::string text =
      std::string("Content-Type: multipart/") + (header.in_digest ? "digest" : "mixed") + "; boundary=\"";
  text.append(kBoundary.substr(2)).append("\"\n\n").append(kBoundary).append("\n").append(header.bytes);
  if (header.end == MailHeader::End::boundary) text.append(kBoundary) += "--\n";
  const Owned<GMimeObject> mail = parse(text);
  if (!mail || g_mime_multipart_get_count(GMIME_MULTIPART(mail.get())) == 0) return nullptr;
  GMimeObject* const part = g_mime_multipart_get_part(GMIME_MULTIPART(mail.get()), 0);
  return Owned<GMimeObject>(GMIME_OBJECT(g_object_ref(part)));
}

// Behind the line that begins what is uuencoded.
std::string_view behind_begin(std::string_view bytes) {
  constexpr std::string_view kBegin = "begin ";
  std::size_t at = bytes.starts_with(kBegin) ? 0 : bytes.find("\nbegin ");
  if (at != std::string_view::npos) at = bytes.find('\n', at + 1);
  return at == std::string_view::npos ? std::string_view() : bytes.substr(at + 1);
}

// Without base64, quoted-printable and uuencode; in its own encoding.
std::string decoded(std::string_view bytes, GMimeContentEncoding encoding) {
  if (encoding != GMIME_CONTENT_ENCODING_BASE64 && encoding != GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE &&
      encoding != GMIME_CONTENT_ENCODING_UUENCODE)
    return std::string(bytes);
  GMimeEncoding decoder;
  g_mime_encoding_init_decode(&decoder, encoding);
  if (encoding == GMIME_CONTENT_ENCODING_UUENCODE) {
    bytes = behind_begin(bytes);
    decoder.state |= GMIME_UUDECODE_STATE_BEGIN;
  }
  constexpr std::size_t kMimeBytesAtOnce = 64 * 1024;
  std::string text;
  std::vector<char> chunk(g_mime_encoding_outlen(&decoder, kMimeBytesAtOnce));
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMimeBytesAtOnce, bytes.size()))) {
    const std::size_t made =
        g_mime_encoding_step(&decoder, bytes.data(), std::min(kMimeBytesAtOnce, bytes.size()), chunk.data());
    text.append(chunk.data(), made);
  }
  text.append(chunk.data(), g_mime_encoding_flush(&decoder, nullptr, 0, chunk.data()));
  return text;
}

void without_carriage_returns(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[kept++] = text[i];
  }
  text.resize(kept);
}

bool can_be_stored(std::string_view text) { return valid_utf8(text) && text.find('\0') == std::string_view::npos; }

struct FreeDate {
  void operator()(GDateTime* date) const { g_date_time_unref(date); }
};
struct FreeText {
  void operator()(char* text) const { g_free(text); }
};
using OwnedText = std::unique_ptr<char, FreeText>;

bool same_name(const char* name, const char* other) { return g_ascii_strcasecmp(name, other) == 0; }

void append_addresses(GMimeHeader* header, InternetAddressList* all) {
  const std::string_view value = g_mime_header_get_raw_value(header);
  if (count(value, ':') > kMostColons)
    throw BadMail("a header of addresses with more than " + std::to_string(kMostColons) + " colons");
  const Owned<InternetAddressList> some(internet_address_list_parse(nullptr, value.data()));
  if (some) internet_address_list_append(all, some.get());
}

// All addresses of the headers of that name.
std::string addresses(GMimeHeaderList* headers, const char* name) {
  const Owned<InternetAddressList> all(internet_address_list_new());
  const int count = g_mime_header_list_get_count(headers);
  for (int i = 0; i < count; ++i) {
    GMimeHeader* const header = g_mime_header_list_get_header_at(headers, i);
    if (same_name(g_mime_header_get_name(header), name)) append_addresses(header, all.get());
  }
  const OwnedText text(internet_address_list_to_string(all.get(), nullptr, FALSE));
  return text ? text.get() : "";
}

// The last of the headers of that name, decoded; empty where there is none.
std::string last_value(GMimeHeaderList* headers, const char* name) {
  for (int i = g_mime_header_list_get_count(headers); i-- > 0;) {
    GMimeHeader* const header = g_mime_header_list_get_header_at(headers, i);
    if (!same_name(g_mime_header_get_name(header), name)) continue;
    const char* value = g_mime_header_get_value(header);
    return value != nullptr ? value : "";
  }
  return {};
}

void read_header(GMimeHeaderList* headers, Record& record) {
  const OwnedText id(g_mime_utils_decode_message_id(last_value(headers, "Message-ID").c_str()));
  if (id && can_be_stored(id.get())) record.record_id = record.identity = id.get();
  const std::unique_ptr<GDateTime, FreeDate> date(g_mime_utils_header_decode_date(last_value(headers, "Date").c_str()));
  if (date) record.at = file_mtime(g_date_time_to_unix(date.get()), 0);
  JsonObject attributes;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty() && can_be_stored(text)) attributes.add(name, text);
  };
  add("from", addresses(headers, "From"));
  add("to", addresses(headers, "To"));
  add("cc", addresses(headers, "Cc"));
  add("subject", last_value(headers, "Subject"));
  record.attributes = attributes.finish();
}

// Finds what a mail shows: its first plain text, else its first HTML.
class Reading final : public MailHandler {
 public:
  explicit Reading(Record& record) : record_(record) {}

  Kind header(const MailHeader& header) override {
    counts_.add(header.bytes);
    forget_charsets(header.bytes);
    part_ = parse_header(header);
    if (!part_) return {Kind::none};
    if (header.first) read_header(g_mime_object_get_header_list(part_.get()), record_);
    if (!GMIME_IS_MULTIPART(part_.get())) return {Kind::leaf};
    Kind kind{Kind::multipart};
    if (const char* boundary = g_mime_object_get_content_type_parameter(part_.get(), "boundary"); boundary != nullptr)
      kind.boundary = boundary;
    kind.digest = g_mime_content_type_is_type(type(), "multipart", "digest");
    return kind;
  }

  void content(std::string_view bytes) override {
    const bool is_text = GMIME_IS_PART(part_.get()) && !g_mime_part_is_attachment(GMIME_PART(part_.get()));
    if (is_text && !plain_.part && g_mime_content_type_is_type(type(), "text", "plain"))
      plain_ = {std::move(part_), bytes};
    else if (is_text && !html_.part && g_mime_content_type_is_type(type(), "text", "html"))
      html_ = {std::move(part_), bytes};
    else
      ++record_.attachments;
  }

  // False where there is neither.
  bool fill_body() {
    const Text& text = plain_.part ? plain_ : html_;
    if (!text.part) return false;
    record_.html = record_.html_to_text = !plain_.part;
    const char* charset = g_mime_object_get_content_type_parameter(text.part.get(), "charset");
    record_.charset = charset != nullptr ? charset : "";
    record_.body = decoded(text.bytes, g_mime_part_get_content_encoding(GMIME_PART(text.part.get())));
    without_carriage_returns(record_.body);
    return true;
  }

 private:
  struct Text {
    Owned<GMimeObject> part = nullptr;
    std::string_view bytes = {};
  };

  GMimeContentType* type() const { return g_mime_object_get_content_type(part_.get()); }

  Record& record_;
  HeaderCounts counts_;
  Owned<GMimeObject> part_;  // whose header was read
  Text plain_, html_;
};

}  // namespace

void need_mail() {
  static const bool started = [] {
    constexpr std::size_t kOfTypes = 4 << 20;
    need_memory(kOfTypes);
    g_mime_init();
    return true;
  }();
  static_cast<void>(started);
}

bool read_mail(std::string_view mail, Record& record) {
  Reading reading(record);
  MailParts(mail, reading).walk();
  return reading.fill_body();
}

#else

void need_mail() {
  throw SourceError(SkipReason::no_library, "GMime: install libgmime-3.0-dev, and build neardup again");
}

bool read_mail(std::string_view, Record&) {
  need_mail();
  return false;
}

#endif

}  // namespace neardup::cli
