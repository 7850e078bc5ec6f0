// An engine from a module that exports make_engine.
#pragma once

#include "engine.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace bench {

// the module stays until the process ends
inline Engine* load_engine(const char* path, const Mechanism& mechanism) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto make = module ? reinterpret_cast<MakeEngine>(dlsym(module, "make_engine")) : nullptr;
  if (!make) throw std::runtime_error(dlerror());
  return make(mechanism);
}

}  // namespace bench
