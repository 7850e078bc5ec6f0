// What a rig steps: a mechanism with its laws, inputs and outputs as flat arrays.
#pragma once

#include <initializer_list>
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
  std::vector<double> in;        // what acts; of the size of all inputs
  const char* remark = nullptr;  // of a failure that is no Failure

  // False: failure() says why, and the state means nothing until restore().
  virtual bool begin(const double* start) = 0;
  virtual bool advance() = 0;
  // outputs at the end of the last period; false: they are not finite
  virtual bool write(double* out) = 0;
  virtual const Failure& failure() const = 0;
  virtual double time() const = 0;
  // whether a step may be made with these numbers, all finite
  virtual bool takes(const double*) const { return true; }
  // From the axes of the body that an input with a wrench acts on to those of its force and of its moment, and to those of
  // the base; false: that input is no wrench.
  virtual bool axes(int input, Mat3<double>& force, Mat3<double>& moment, Mat3<double>& base) const = 0;
  virtual std::string explain(const Failure& failure) const = 0;
  // snapshots
  virtual std::size_t size() const = 0;
  virtual void save(double* to) const = 0;
  virtual bool fits(const double*) const { return true; }
  virtual void restore(const double* from) = 0;

 protected:
  // of the outputs, all of which have been added, those with these names; none: all. Throws ModelError.
  void choose_outputs(const std::vector<std::string>& names);
  bool wants(std::initializer_list<const char*> some) const;

  std::vector<int> places;  // where each output that was added begins; -1: it is not wanted
};

std::unique_ptr<Machine> make_chain_machine(const Description& description, const KernelTable& kernels);
std::unique_ptr<Machine> make_hexapod_machine(const Description& description, const KernelTable& kernels);
std::unique_ptr<Machine> make_docking_machine(const Description& description, const KernelTable& kernels);
std::unique_ptr<Machine> make_machine(const Description& description, const KernelTable& kernels);

}  // namespace zveno
