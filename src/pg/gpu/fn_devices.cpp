// neardup_devices(): which GPUs there are, and in plain words why one is not used.
#include "pg/gpu/gpu_loader.h"
#include "pg/base/pg.h"

namespace {

enum { kDevice, kName, kMemory, kCapability, kDriver, kUsable, kReason, kColumns };

// info is null for the one row that stands for "no GPU at all".
void put_row(ReturnSetInfo* rsinfo, const neardup::GpuMachine& machine, const NeardupGpuDevice* info) {
  Datum values[kColumns] = {};
  bool nulls[kColumns];
  for (bool& null : nulls) null = true;
  const auto put = [&](int column, Datum value) {
    values[column] = value;
    nulls[column] = false;
  };

  if (info != nullptr) put(kDevice, Int32GetDatum(static_cast<int32>(info->device)));
  if (info != nullptr && info->name[0] != '\0') {
    put(kName, CStringGetTextDatum(info->name));
    put(kMemory, Int64GetDatum(static_cast<int64>(info->memory_bytes)));
    put(kCapability, CStringGetTextDatum(psprintf("%d.%d", info->capability_major, info->capability_minor)));
  }
  if (machine.driver[0] != '\0') put(kDriver, CStringGetTextDatum(machine.driver));
  const bool usable = info != nullptr && info->usable != 0;
  put(kUsable, BoolGetDatum(usable));
  if (!usable) put(kReason, CStringGetTextDatum(info != nullptr ? info->reason : machine.reason));
  tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_devices);

Datum neardup_devices(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  ReturnSetInfo* rsinfo = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const neardup::GpuMachine& machine = neardup::gpu_machine();

  if (machine.count == 0) put_row(rsinfo, machine, nullptr);
  for (uint32_t device = 0; device < machine.count; ++device) {
    CHECK_FOR_INTERRUPTS();
    NeardupGpuDevice info;
    neardup::gpu_device_info(device, &info);
    put_row(rsinfo, machine, &info);
  }
  return static_cast<Datum>(0);
}

}  // extern "C"
