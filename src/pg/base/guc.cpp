#include "core/kernels/kernels.h"

#include "pg/base/guc.h"
#include "pg/base/pg.h"

namespace neardup {

double guc_jaccard_threshold = 0.8;
bool guc_derive_conditions = true;
bool guc_enable_join = true;
bool guc_log_stages = false;
int guc_device = kDeviceAuto;

namespace {

enum { kAuto, kScalar, kAvx2, kAvx512, kNeon };
int guc_kernels = kAuto;
int guc_threads = 0;
int guc_gpu_memory_limit = 0;

const config_enum_entry kDeviceNames[] = {
    {"auto", kDeviceAuto, false},
    {"cpu", kDeviceCpu, false},
    {"gpu", kDeviceGpu, false},
    {nullptr, 0, false},
};

const config_enum_entry kKernelNames[] = {
    {"auto", kAuto, false},     {"scalar", kScalar, false}, {"avx2", kAvx2, false},
    {"avx512", kAvx512, false}, {"neon", kNeon, false},     {nullptr, 0, false},
};

bool check_kernels(int* value, void**, GucSource) {
  if (kernels_available(kKernelNames[*value].name)) return true;
  GUC_check_errdetail("This machine cannot run %s code.", kKernelNames[*value].name);
  return false;
}

void assign_kernels(int value, void*) { force_kernels(kKernelNames[value].name); }

}  // namespace

unsigned search_threads() {
  return static_cast<unsigned>(Max(1, guc_threads != 0 ? guc_threads : max_parallel_workers_per_gather));
}

unsigned long long gpu_memory_limit() { return static_cast<unsigned long long>(guc_gpu_memory_limit) * 1024; }

void define_settings() {
  DefineCustomRealVariable("neardup.jaccard_threshold", "Least Jaccard similarity for the operator %.",
                           "Only the operator % of two minhash values reads it.", &guc_jaccard_threshold, 0.8, 0.0, 1.0,
                           PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomBoolVariable("neardup.derive_conditions",
                           "Lets the planner use lsh indexes for comparisons with jaccard().",
                           "Off: only jaccard_at_least() and the operators % and %> use them.", &guc_derive_conditions,
                           true, PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  DefineCustomBoolVariable("neardup.enable_join", "Lets the planner join by similarity with the pair engine.",
                           "Off: such joins are nested loops, with an lsh index where there is one.", &guc_enable_join,
                           true, PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  DefineCustomEnumVariable("neardup.kernels", "Which form of the hot loops runs.",
                           "All forms give the same results; \"auto\" takes the fastest that this machine can run.",
                           &guc_kernels, kAuto, kKernelNames, PGC_USERSET, 0, check_kernels, assign_kernels, nullptr);
  DefineCustomIntVariable("neardup.threads", "Threads that all_pairs() and related functions may use.",
                          "0: as many as max_parallel_workers_per_gather says, at least one.", &guc_threads, 0, 0, 256,
                          PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomEnumVariable(
      "neardup.device", "What may search for pairs and similar words: auto, cpu or gpu.",
      "auto: the GPU, where there is one and the work is worth it, else the CPU; gpu: an error where "
      "the GPU cannot. The results are the same.",
      &guc_device, kDeviceAuto, kDeviceNames, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomIntVariable("neardup.gpu_memory_limit", "Memory of each GPU that a search may take.",
                          "0: what is free, less a reserve.", &guc_gpu_memory_limit, 0, 0, MAX_KILOBYTES, PGC_SUSET,
                          GUC_UNIT_KB, nullptr, nullptr, nullptr);
  DefineCustomBoolVariable("neardup.log_stages", "Reports the time of each stage of all_pairs() and related functions.",
                           "NOTICE lines: rows read, pairs found, pairs returned.", &guc_log_stages, false, PGC_USERSET,
                           0, nullptr, nullptr, nullptr);
  MarkGUCPrefixReserved("neardup");
}

}  // namespace neardup
