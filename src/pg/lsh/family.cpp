// The part of an index's configuration that is a hash family's.
#include "pg/lsh/family.h"

namespace neardup {

void set_family(LshConfig* config, const char* family, uint32_t version, const void* params, uint16_t size) {
  memset(config->family, 0, sizeof config->family);
  strlcpy(config->family, family, sizeof config->family);
  config->family_version = version;
  config->nbands = 0;
  config->threshold = 0;
  config->recall = 1;
  memset(config->params, 0, sizeof config->params);
  memcpy(config->params, params, size);
  config->params_len = size;
}

void read_family(const LshConfig* config, const char* family, uint32_t version, void* params, uint16_t size) {
  const bool other = strncmp(config->family, family, sizeof config->family) != 0;
  const bool newer = !other && config->family_version > version;
  if (other || config->family_version != version)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("the index was made by hash family \"%.24s\" version %u; this library knows \"%s\" version %u",
                    config->family, config->family_version, family, version),
             errhint("%s", newer ? kNewerIndexHint : "Rebuild it with REINDEX INDEX.")));
  if (config->params_len != size) report_bad_params();
  memcpy(params, config->params, size);
}

void report_bad_params() {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED), errmsg("the parameters of the index are damaged"),
                  errhint("REINDEX it.")));
}

bool is_distance_search(const ProbesRequest* request, const char* family) {
  if (request->strategy != kStrategyAtLeast && request->strategy != kStrategyDistance)
    elog(ERROR, "hash family %s has no strategy %u", family, request->strategy);
  return request->strategy == kStrategyDistance;
}

void add_whole_keys(ProbesRequest* request, const uint64_t* keys, uint32_t n) {
  request->ngroups = static_cast<uint16_t>(n);
  request->nprobes = n;
  request->probes = static_cast<LshProbe*>(palloc(n * sizeof(LshProbe)));
  for (uint32_t i = 0; i < n; ++i)
    request->probes[i] = {keys[i], static_cast<uint16_t>(i), static_cast<uint8_t>(kKeyBits)};
}

void refuse_options(const BindRequest* request, const char* values, const char* column_option) {
  const char* name = request->options.threshold >= 0 ? "threshold" : request->options.recall >= 0 ? "recall" : nullptr;
  if (name == nullptr) return;
  const char* hint =
      column_option == nullptr
          ? "This operator class needs none"
          : psprintf("The option of this operator class belongs to the column: USING lsh (column %s)", column_option);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("an index on %s values has no option \"%s\"", values, name),
           errhint("%s; lsh_info() shows what the index serves.", hint)));
}

}  // namespace neardup
