// C++ objects owned by a PostgreSQL memory context.
#pragma once

#include "pg/base/boundary.h"
#include "pg/base/pg.h"

namespace neardup {

// A T with the host services that the core asks for. It is deleted by destroy_owned(), or, after an error, when its
// memory context goes; then its temporary files are left to PostgreSQL.
template <typename T>
struct Owned {
  MemoryContextCallback callback;
  PgStop* stop;
  PgTempFiles* files;
  T* object;

  T* operator->() const noexcept { return object; }
};

// Makes a T in `context`: make(stop, files) returns a new T*. Runs as the core does: it may throw, and calls no
// PostgreSQL.
template <typename T, typename Make>
Owned<T>* make_owned(MemoryContext context, Make make) {
  auto* owned = static_cast<Owned<T>*>(MemoryContextAllocZero(context, sizeof(Owned<T>)));
  owned->callback.arg = owned;
  owned->callback.func = [](void* arg) {
    auto* o = static_cast<Owned<T>*>(arg);
    if (o->files != nullptr) o->files->abandon();
    delete o->object;
    delete o->files;
    delete o->stop;
    o->object = nullptr;
    o->files = nullptr;
    o->stop = nullptr;
  };
  MemoryContextRegisterResetCallback(context, &owned->callback);
  call_core([&] {
    owned->stop = new PgStop;
    owned->files = new PgTempFiles(context);
    owned->object = make(owned->stop, owned->files);
  });
  return owned;
}

template <typename T>
void destroy_owned(Owned<T>* owned) {
  T* object = owned->object;
  owned->object = nullptr;
  call_core([&] { delete object; });
}

}  // namespace neardup
