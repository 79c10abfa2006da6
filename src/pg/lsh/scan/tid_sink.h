// Where the TIDs of a list go.
#pragma once

#include <cstdint>

namespace neardup {

// Plain data of those who implement it.
class TidSink {
 public:
  // False: no room.
  virtual bool receive(const uint64_t* tids, uint32_t n) = 0;

  // Where so many can be put instead, before was_filled(); null: they are given to receive().
  virtual uint64_t* room_for(uint32_t) { return nullptr; }
  virtual void was_filled(uint32_t) {}

 protected:
  ~TidSink() = default;
};

// Calls f(tids, n), which returns false where there is no room.
template <typename F>
class CallingSink final : public TidSink {
 public:
  explicit CallingSink(F f) : f_(f) {}
  bool receive(const uint64_t* tids, uint32_t n) override { return f_(tids, n); }

 private:
  F f_;
};

}  // namespace neardup
