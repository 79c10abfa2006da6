// The text of a mail, by GMime.
#pragma once

#include <string_view>

#include "cli/records/mail_parts.h"
#include "cli/records/records.h"

namespace neardup::cli {

// Fills body, html, charset, record_id (Message-ID), at (Date), attributes (from, to, subject ..) and attachments of
// the record. body is the first part text/plain, else the first text/html, decoded from base64 and quoted-printable, in
// the encoding that charset names. False where there is none. Throws BadMail, SourceError (no_library) where this build
// lacks GMime.
bool read_mail(std::string_view message, Record& record);

// Throws SourceError (no_library) where this build lacks GMime.
void need_mail();

}  // namespace neardup::cli
