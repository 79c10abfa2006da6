// The text of a mail, by GMime.
#include "cli/mail.h"

#ifdef NEARDUP_WITH_GMIME
#include <gmime/gmime.h>

#include "cli/file_reader.h"
#include "cli/json.h"
#include "cli/utf8.h"
#endif

namespace neardup::cli {

#ifdef NEARDUP_WITH_GMIME
namespace {

constexpr int kDeepest = 50;  // of multiparts within multiparts

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

void read_header(GMimeMessage* message, Record& record) {
  if (const char* id = g_mime_message_get_message_id(message); id != nullptr && can_be_stored(id))
    record.record_id = record.identity = id;
  if (GDateTime* date = g_mime_message_get_date(message); date != nullptr)
    record.at = file_mtime(g_date_time_to_unix(date), 0);
  JsonObject attributes;
  const auto add = [&](const char* name, const char* text) {
    if (text != nullptr && *text != '\0' && can_be_stored(text)) attributes.add(name, text);
  };
  const auto add_addresses = [&](const char* name, GMimeAddressType kind) {
    char* list = internet_address_list_to_string(g_mime_message_get_addresses(message, kind), nullptr, FALSE);
    add(name, list);
    g_free(list);
  };
  add_addresses("from", GMIME_ADDRESS_TYPE_FROM);
  add_addresses("to", GMIME_ADDRESS_TYPE_TO);
  add_addresses("cc", GMIME_ADDRESS_TYPE_CC);
  add("subject", g_mime_message_get_subject(message));
  record.attributes = attributes.take();
}

}  // namespace

void need_mail() {
  static const bool started = [] {
    g_mime_init();
    return true;
  }();
  static_cast<void>(started);
}

bool read_mail(std::string_view bytes, Record& record) {
  const Owned<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(bytes.data(), bytes.size()));
  const Owned<GMimeParser> parser(g_mime_parser_new_with_stream(stream.get()));
  const Owned<GMimeMessage> message(g_mime_parser_construct_message(parser.get(), nullptr));
  if (!message) return false;
  read_header(message.get(), record);
  Parts parts;
  look_at(g_mime_message_get_mime_part(message.get()), 0, parts);
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
