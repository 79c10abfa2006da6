// Memory of the planning of one statement: the same query is asked about many times.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Its lists, and what they hold, live as long as the statement is planned.
struct PlanMemory {
  PlannerGlobal* statement;
  MemoryContext context;
  List* levels;   // PlanMeasures
  List* indexes;  // IndexFacts
  List* probes;   // ProbeFacts
  List* rights;   // RightsOf

  template <typename Member>
  Member* make(Size bytes = sizeof(Member)) {
    return static_cast<Member*>(MemoryContextAllocZero(context, bytes));
  }
  void keep(List** list, void* member) {
    MemoryContext old = MemoryContextSwitchTo(context);
    *list = lappend(*list, member);
    MemoryContextSwitchTo(old);
  }
};

PlanMemory* plan_memory(PlannerInfo* root);

}  // namespace neardup
