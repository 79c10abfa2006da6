// The text of a mail, by GMime.
#include "cli/mail.h"

#ifdef NEARDUP_WITH_GMIME
#include <algorithm>
#include <gmime/gmime.h>

#include "cli/file_reader.h"
#include "cli/json.h"
#include "cli/utf8.h"
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace neardup::cli {

#ifdef NEARDUP_WITH_GMIME
namespace {

constexpr int kDeepest = 50;  // of multiparts within multiparts
// Of a header with addresses. GMime's parser of addresses calls itself at each, and would run out of stack.
constexpr std::ptrdiff_t kMostColons = 1000;

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

// What of a mail may be shown: the first plain text, and the first HTML.
struct Parts {
  GMimePart* plain = nullptr;
  GMimePart* html = nullptr;
  std::int64_t attachments = 0;
};

void take_leaf(GMimeObject* object, Parts& parts) {
  GMimeContentType* type = g_mime_object_get_content_type(object);
  GMimePart* part = GMIME_PART(object);
  const bool is_text = !g_mime_part_is_attachment(part);
  if (is_text && parts.plain == nullptr && g_mime_content_type_is_type(type, "text", "plain"))
    parts.plain = part;
  else if (is_text && parts.html == nullptr && g_mime_content_type_is_type(type, "text", "html"))
    parts.html = part;
  else
    ++parts.attachments;
}

// A message within the message is an attachment.
void look_at(GMimeObject* object, int depth, Parts& parts) {
  if (object == nullptr) return;
  if (GMIME_IS_MULTIPART(object) && depth < kDeepest) {
    GMimeMultipart* multipart = GMIME_MULTIPART(object);
    const int count = g_mime_multipart_get_count(multipart);
    for (int i = 0; i < count; ++i) look_at(g_mime_multipart_get_part(multipart, i), depth + 1, parts);
  } else if (GMIME_IS_PART(object)) {
    take_leaf(object, parts);
  } else {
    ++parts.attachments;
  }
}

// Without base64 and quoted-printable; in its own encoding.
std::string content_of(GMimePart* part) {
  GMimeDataWrapper* content = g_mime_part_get_content(part);
  if (content == nullptr) return {};
  const Owned<GMimeStream> stream(g_mime_stream_mem_new());
  g_mime_data_wrapper_write_to_stream(content, stream.get());
  const GByteArray* bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream.get()));
  return {reinterpret_cast<const char*>(bytes->data), bytes->len};
}

void without_carriage_returns(std::string& text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) {
    std::string lines;
    lines.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') lines += text[i];
    }
    text = std::move(lines);
    return;
  }
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
  if (std::count(value.begin(), value.end(), ':') > kMostColons)
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

// Of several headers of that name the last. Decoded; empty: none.
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
  record.attributes = attributes.take();
}

}  // namespace

void need_mail() {
  static const bool started = [] {
#ifdef __SANITIZE_ADDRESS__
    // GMime loses what it had for the kinds below: 64 bytes, once.
    const __lsan::ScopedDisabler loses;
#endif
    g_mime_init();
    // A message within a message is an attachment, as it lies there: GMime would read its addresses, too.
    for (const char* kind : {"rfc822", "rfc2822", "global", "news"})
      g_mime_object_register_type("message", kind, GMIME_TYPE_PART);
    return true;
  }();
  static_cast<void>(started);
}

bool read_mail(std::string_view bytes, Record& record) {
  const Owned<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(bytes.data(), bytes.size()));
  const Owned<GMimeParser> parser(g_mime_parser_new_with_stream(stream.get()));
  // as a part: of a message GMime would parse all headers of addresses by itself
  const Owned<GMimeObject> message(g_mime_parser_construct_part(parser.get(), nullptr));
  if (!message) return false;
  read_header(g_mime_object_get_header_list(message.get()), record);
  Parts parts;
  look_at(message.get(), 0, parts);
  record.attachments = parts.attachments;
  GMimePart* const text = parts.plain != nullptr ? parts.plain : parts.html;
  if (text == nullptr) return false;
  record.html = record.html_to_text = text == parts.html;
  const char* charset = g_mime_object_get_content_type_parameter(GMIME_OBJECT(text), "charset");
  record.charset = charset != nullptr ? charset : "";
  record.body = content_of(text);
  without_carriage_returns(record.body);
  return true;
}

#else

void need_mail() {
  throw SourceError(FileProblem::no_library, "GMime: install libgmime-3.0-dev, and build neardup again");
}

bool read_mail(std::string_view, Record&) {
  need_mail();
  return false;
}

#endif

}  // namespace neardup::cli
