// The members of a PostgreSQL list in a loop: for (auto* index : each<IndexOptInfo>(rel->indexlist)).
#pragma once

#include "pg/base/pg.h"

namespace neardup {

template <typename Member>
struct ListMembers {
  struct Cursor {
    const List* list;
    int at;

    Member* operator*() const { return static_cast<Member*>(list_nth(list, at)); }
    Cursor& operator++() {
      ++at;
      return *this;
    }
    // As foreach() does, it asks for the length each time: the list may grow meanwhile.
    bool operator!=(std::nullptr_t) const { return at < list_length(list); }
  };

  const List* list;
  Cursor begin() const { return {list, 0}; }
  std::nullptr_t end() const { return nullptr; }
};

template <typename Member>
ListMembers<Member> each(const List* list) {
  return {list};
}

}  // namespace neardup
