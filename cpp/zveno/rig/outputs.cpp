// Outputs that are wanted.
#include <zveno/rig/machine.hpp>

#include <algorithm>

namespace zveno {

void Machine::choose_outputs(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (wants({name.c_str()})) continue;
    std::string known;
    for (const Channel& c : outputs) known += (known.empty() ? "" : ", ") + c.name;
    throw ModelError("", "rig: outputs names '" + name.substr(0, 60) + "', expected some of " + known);
  }
  Channels kept;
  for (const Channel& c : outputs) {
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), c.name) != names.end();
    places.push_back(wanted ? kept.size_of_all : -1);
    if (wanted) kept.add(c.name, c.size, c.unit);
  }
  outputs = std::move(kept);
}

bool Machine::wants(std::initializer_list<const char*> some) const {
  return std::any_of(some.begin(), some.end(), [&](const char* name) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const Channel& c) { return c.name == name; });
  });
}

}  // namespace zveno
