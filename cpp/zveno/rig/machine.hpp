// What a rig steps: a mechanism with its laws, inputs and outputs as flat arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/rig/description.hpp>

namespace zveno {

struct Channel {
  std::string name;
  const char* unit;
  int offset, size;
};

struct Channels : std::vector<Channel> {
  int size_of_all = 0;
  void add(std::string name, int size, const char* unit) {
    push_back({std::move(name), unit, size_of_all, size});
    size_of_all += size;
  }
};

class Machine {
 public:
  virtual ~Machine() = default;

  Channels inputs, outputs;
  std::vector<double> in;  // what acts; of the size of all inputs

  // False: failure() says why, and the state means nothing until restore().
  virtual bool begin(const double* start) = 0;
  virtual bool advance() = 0;
  // outputs at the end of the last period; false: they are not finite
  virtual bool write(double* out) = 0;
  virtual const Failure& failure() const = 0;
  virtual double time() const = 0;
  virtual std::string explain(const Failure& failure) const = 0;
  // snapshots
  virtual std::size_t size() const = 0;
  virtual void save(double* to) const = 0;
  virtual void restore(const double* from) = 0;
};

std::unique_ptr<Machine> make_machine(const Description& description, const KernelTable& kernels);

}  // namespace zveno
