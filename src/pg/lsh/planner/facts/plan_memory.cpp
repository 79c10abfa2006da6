// See plan_memory.h.
#include "pg/lsh/planner/facts/plan_memory.h"

namespace neardup {
namespace {

PlanMemory* plan_memory_now = nullptr;

void forget_plan_memory(void* memory) {
  if (plan_memory_now == memory) plan_memory_now = nullptr;
}

}  // namespace

PlanMemory* plan_memory(PlannerInfo* root) {
  if (plan_memory_now != nullptr && plan_memory_now->statement == root->glob) return plan_memory_now;
  auto* memory = static_cast<PlanMemory*>(MemoryContextAllocZero(root->planner_cxt, sizeof(PlanMemory)));
  auto* callback =
      static_cast<MemoryContextCallback*>(MemoryContextAlloc(root->planner_cxt, sizeof(MemoryContextCallback)));
  memory->statement = root->glob;
  memory->context = root->planner_cxt;
  callback->func = forget_plan_memory;
  callback->arg = memory;
  MemoryContextRegisterResetCallback(root->planner_cxt, callback);
  plan_memory_now = memory;
  return memory;
}

}  // namespace neardup
