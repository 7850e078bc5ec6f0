// Kernels of the library for C: linked into it, or in the shared objects that Python uses, which stand beside it or one
// folder above.
#include <zveno/rig/load_kernels.hpp>

#if defined(ZVENO_KERNELS_SYMBOL)

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include <zveno/support/instruction_sets.hpp>

namespace zveno {
namespace {

std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&load_kernels), &info) || !info.dli_fname) return ".";
  const std::unique_ptr<char, void (*)(void*)> whole(realpath(info.dli_fname, nullptr), std::free);
  const std::string path = whole ? whole.get() : info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

const KernelTable* found(std::string& error) {
  const std::string folder = own_folder();
  std::string last;
  for (const std::string& isa : cpu_levels())
    for (const char* up : {"/", "/../"}) {
      void* module = dlopen((folder + up + "_kernels_" + isa + ZVENO_KERNELS_SUFFIX).c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (!module) {
        if (const char* text = dlerror()) last = text;
        continue;
      }
      using Get = const KernelTable* (*)();
      if (const auto get = reinterpret_cast<Get>(dlsym(module, ZVENO_KERNELS_SYMBOL))) return get();
      last = "_kernels_" + isa + ZVENO_KERNELS_SUFFIX + " is of another version";
      dlclose(module);
    }
  error = "no kernels beside '" + folder + "' or above it: " + last;
  return nullptr;
}

}  // namespace

const KernelTable* load_kernels(std::string& error) {
  static std::string why;
  static const KernelTable* const table = found(why);
  if (!table) error = why;
  return table;
}

}  // namespace zveno

#else

#include <zveno/batch/rows.hpp>

namespace zveno {

const KernelTable* load_kernels(std::string&) { return &kernel_table(); }

}  // namespace zveno

#endif
