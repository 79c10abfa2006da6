// Where the TIDs of a list go.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Plain data of those who implement it.
class TidSink {
 public:
  // False: no room.
  virtual bool take(const uint64_t* tids, uint32_t n) = 0;

  // Where so many can be put instead, before placed(); null: to be taken by take().
  virtual uint64_t* place(uint32_t) { return nullptr; }
  virtual void placed(uint32_t) {}

 protected:
  ~TidSink() = default;
};

}  // namespace neardup
