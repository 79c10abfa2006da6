// neardup_devices(): which GPUs there are, and in plain words why one is not used.
#include "pg/base/result_row.h"
#include "pg/gpu/gpu_loader.h"

namespace {

using namespace neardup;

enum Column { kDevice, kName, kMemory, kCapability, kDriver, kUsable, kReason, kColumns };

// info is null for the one row that stands for "no GPU at all".
void put_row(ReturnSetInfo* rows, const GpuMachine& machine, const NeardupGpuDevice* info) {
  ResultRow<Column> row;
  if (info != nullptr) row.set(kDevice, Int32GetDatum(static_cast<int32>(info->device)));
  if (info != nullptr && info->name[0] != '\0') {
    row.set(kName, CStringGetTextDatum(info->name));
    row.set(kMemory, Int64GetDatum(static_cast<int64>(info->memory_bytes)));
    row.set(kCapability, CStringGetTextDatum(psprintf("%d.%d", info->capability_major, info->capability_minor)));
  }
  if (machine.driver[0] != '\0') row.set(kDriver, CStringGetTextDatum(machine.driver));
  const bool usable = info != nullptr && info->usable != 0;
  row.set(kUsable, BoolGetDatum(usable));
  if (!usable) row.set(kReason, CStringGetTextDatum(info != nullptr ? info->reason : machine.reason));
  row.put(rows);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_devices);

Datum neardup_devices(PG_FUNCTION_ARGS) {
  ReturnSetInfo* rows = begin_rows(fcinfo);
  const GpuMachine& machine = gpu_machine();

  if (machine.count == 0) put_row(rows, machine, nullptr);
  for (uint32_t device = 0; device < machine.count; ++device) {
    CHECK_FOR_INTERRUPTS();
    NeardupGpuDevice info;
    gpu_device_info(device, &info);
    put_row(rows, machine, &info);
  }
  return static_cast<Datum>(0);
}

}  // extern "C"
