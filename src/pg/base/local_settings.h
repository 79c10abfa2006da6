// Settings for a stretch of code.
#pragma once

#include "pg/base/pg.h"

extern "C" {
#include "utils/guc.h"
}

namespace neardup {

// Settings that hold until end(). An error, and the end of the transaction, end them, too.
class LocalSettings {
 public:
  static LocalSettings begin() { return LocalSettings(NewGUCNestLevel()); }
  void set(const char* name, const char* value) const {
    set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  }
  void end() const { AtEOXact_GUC(true, level_); }

 protected:
  explicit LocalSettings(int level) : level_(level) {}

 private:
  int level_;
};

// Until end() names in statements and expressions mean what they mean to us, whatever the caller's search_path.
class CatalogPath : public LocalSettings {
 public:
  static CatalogPath begin(const char* search_path = "pg_catalog, pg_temp") {
    const CatalogPath path(NewGUCNestLevel());
    path.set("search_path", search_path);
    return path;
  }

 private:
  using LocalSettings::LocalSettings;
};

}  // namespace neardup
