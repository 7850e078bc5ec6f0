// The functions of zveno.h. Nothing thrown leaves them; after creation nothing is allocated.
#include <zveno.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include <zveno/functions/failure.hpp>
#include <zveno/functions/linkage_job.hpp>
#include <zveno/rig/json.hpp>
#include <zveno/rig/load_kernels.hpp>
#include <zveno/rig/machine.hpp>
#include <zveno/rig/sensor.hpp>
#include <zveno/rig/text.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

using namespace zveno;

constexpr std::size_t kMessage = 256;
// counted exactly by a double in a snapshot
constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

struct Refused {
  int code;
  std::string text;
};

template <class T>
bool usable(const T* p) {
  return p && reinterpret_cast<std::uintptr_t>(p) % alignof(T) == 0;
}
template <class T>
bool usable_or_null(const T* p) {
  return !p || usable(p);
}

void put_text(const char* text, char* to, std::size_t size) {
  if (!to || size == 0) return;
  const std::size_t length = std::min(std::strlen(text), size - 1);
  std::memcpy(to, text, length);
  to[length] = '\0';
}

int code_of(const Failure& f) {
  const CauseText* text = find_cause(static_cast<int>(f.cause));
  if (!text) return f ? ZV_ERROR_INTERNAL : ZV_OK;
  switch (text->kind) {
    case FailureKind::argument: return ZV_ERROR_NOT_FINITE;
    case FailureKind::unreachable: return ZV_ERROR_UNREACHABLE;
    case FailureKind::singular: return ZV_ERROR_SINGULAR;
    default: return ZV_ERROR_OVERFLOW;
  }
}

// f() with everything that it may throw as a code
template <class F>
int guarded(char* message, std::size_t size, const F& f) {
  try {
    return f();
  } catch (const Refused& e) {
    put_text(e.text.c_str(), message, size);
    return e.code;
  } catch (const TextError& e) {
    put_text(e.what(), message, size);
    return ZV_ERROR_TEXT;
  } catch (const ModelError& e) {
    put_text(e.what(), message, size);
    return ZV_ERROR_MODEL;
  } catch (const std::bad_alloc&) {
    put_text("not enough memory", message, size);
    return ZV_ERROR_MEMORY;
  } catch (const std::exception& e) {
    put_text(e.what(), message, size);
    return ZV_ERROR_INTERNAL;
  } catch (...) {
    return ZV_ERROR_INTERNAL;
  }
}

// subnormal numbers count as zero while this lives
class Flushing {
 public:
  explicit Flushing(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
#if defined(__SSE2__)
    before_ = _mm_getcsr();
    _mm_setcsr(static_cast<unsigned>(before_) | 0x8040u);
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    __asm__ volatile("msr fpcr, %0" : : "r"(before_ | (std::uint64_t{1} << 24)));
#endif
  }
  ~Flushing() {
    if (!wanted_) return;
#if defined(__SSE2__)
    _mm_setcsr(static_cast<unsigned>(before_));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before_));
#endif
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  bool wanted_;
  std::uint64_t before_ = 0;
};

// Structs begin with their size. What the caller knows of ours is copied.
template <class T>
int give(const T& ours, T* theirs) {
  if (!usable(theirs)) return ZV_ERROR_ARGUMENT;
  const std::size_t size = theirs->struct_size;
  if (size < sizeof(std::size_t) || size > std::size_t{1} << 16) return ZV_ERROR_ARGUMENT;
  std::memcpy(reinterpret_cast<char*>(theirs) + sizeof size, reinterpret_cast<const char*>(&ours) + sizeof size,
              std::min(size, sizeof ours) - sizeof size);
  return ZV_OK;
}

// FNV-1a, its upper bits: exact in a double
double mark_of(const char* text, std::size_t size, const Description& d) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(from)[i]) * 1099511628211u;
  };
  add(text, size);
  add(&d.period, sizeof d.period);
  add(&d.substeps, sizeof d.substeps);
  add(&d.semi_implicit, sizeof d.semi_implicit);
  return static_cast<double>(hash >> 12);
}

}  // namespace

struct zv_rig {
  Description description;
  const KernelTable* kernels = nullptr;
  std::unique_ptr<Machine> machine;
  bool flush = false;
  double mark = 0;
  std::vector<double> raw;  // inputs as they came, the last good ones
  std::vector<Reading> readings;
  std::vector<double> jump;   // of each number of the inputs
  std::vector<double> fresh;  // inputs of a step, to be looked at
  std::vector<double> out;    // the last good outputs
  std::vector<double> trial;
  mutable std::vector<double> before;  // a snapshot
  bool begun = false;                  // some inputs have been taken: jumps have something to be measured from
  std::int64_t steps = 0, held = 0, failures = 0;
  std::int32_t held_in_row = 0;
  bool stopped = false;
  int last_code = ZV_OK;
  char message[kMessage] = "";

  // ---- snapshots: mark, counters, flags, inputs, outputs, machine
  static constexpr std::size_t kHead = 7;
  std::size_t state_size() const {
    return kHead + raw.size() + out.size() + Reading::kState * readings.size() + machine->size();
  }
  void save(double* to) const {
    const double head[kHead] = {mark,
                                static_cast<double>(steps),
                                static_cast<double>(held),
                                static_cast<double>(failures),
                                static_cast<double>(held_in_row),
                                stopped ? 1.0 : 0.0,
                                begun ? 1.0 : 0.0};
    to = std::copy_n(head, kHead, to);
    to = std::copy(raw.begin(), raw.end(), to);
    to = std::copy(out.begin(), out.end(), to);
    for (const Reading& r : readings) to = std::copy_n(r.state(), Reading::kState, to);
    machine->save(to);
  }
  void restore(const double* from) {
    steps = static_cast<std::int64_t>(from[1]), held = static_cast<std::int64_t>(from[2]);
    failures = static_cast<std::int64_t>(from[3]), held_in_row = static_cast<std::int32_t>(from[4]);
    stopped = from[5] != 0, begun = from[6] != 0;
    from += kHead;
    std::copy_n(from, raw.size(), raw.begin()), from += raw.size();
    std::copy_n(from, out.size(), out.begin()), from += out.size();
    for (Reading& r : readings) std::copy_n(from, Reading::kState, r.state()), from += Reading::kState;
    machine->restore(from);
  }

  int fail(int code, const char* text) {
    last_code = code;
    put_text(text, message, sizeof message);
    return code;
  }

  // why the machine has failed; without allocation
  int fail_with(const Failure& f) {
    if (machine->remark) return fail(ZV_ERROR_CONTACT, machine->remark);
    const CauseText* t = find_cause(static_cast<int>(f.cause));
    const char *kind = "the mechanism", *name = "";
    const Linkage* held = f.cause == Cause::massless ? nullptr : description.linkage.get();
    if (f.part >= 0 && held && f.part < static_cast<int>(held->constraints().size()))
      kind = "constraint ", name = held->constraints()[static_cast<std::size_t>(f.part)].name.c_str();
    else if (f.part >= 0 && description.chain && f.part < description.chain->n())
      kind = "joint ", name = description.chain->joint_names()[static_cast<std::size_t>(f.part)].c_str();
    const Hexapod* ring = description.docking ? description.docking->ring[0].get() : description.hexapod.get();
    if (f.part >= 0 && ring && f.part < kLegs) kind = "leg ", name = ring->leg(f.part).name.c_str();
    char text[kMessage];
    const char* quote = *name ? "'" : "";
    std::snprintf(text, sizeof text, "%s%s%.80s%s %.150s", kind, quote, name, quote, t ? t->text : "has failed");
    return fail(code_of(f), text);
  }

  // false: some number is refused
  bool take(const double* in) {
    const std::size_t count = machine->in.size();
    if (in)
      std::copy_n(in, count, fresh.data());
    else
      std::fill(fresh.begin(), fresh.end(), 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(fresh[i])) return false;
      if (begun && !(std::fabs(fresh[i] - raw[i]) <= jump[i])) return false;
    }
    if (!machine->takes(fresh.data())) return false;
    std::copy(fresh.begin(), fresh.end(), raw.begin());
    begun = true;
    return true;
  }

  int step(const double* in) {
    if (stopped) return fail(ZV_ERROR_STOPPED, "stopped after too many refused inputs in a row");
    if (steps >= kMostSteps) return fail(ZV_ERROR_STATE, "2^53 steps were made");
    const bool taken = take(in);
    held_in_row = taken ? 0 : held_in_row + 1;
    if (description.most_held > 0 && held_in_row > description.most_held) {
      stopped = true;
      return fail(ZV_ERROR_STOPPED, "stopped after too many refused inputs in a row");
    }
    machine->save(before.data());
    std::copy(raw.begin(), raw.end(), machine->in.begin());
    for (Reading& r : readings) r.apply(raw.data(), *machine);
    if (!machine->advance() || !machine->write(trial.data())) {
      const Failure why = machine->failure();
      machine->restore(before.data());
      ++failures;
      return fail_with(why);
    }
    for (const double x : trial)
      if (!std::isfinite(x)) {
        machine->restore(before.data());
        ++failures;
        return fail(ZV_ERROR_OVERFLOW, "a result is not finite: numbers are too large");
      }
    out.swap(trial);
    ++steps;
    if (taken) return ZV_OK;
    ++held;
    return fail(ZV_INPUT_HELD, "an input is not finite or jumps: the last good ones were used");
  }

  int reset(const double* start) {
    steps = held = failures = 0;
    held_in_row = 0;
    stopped = begun = false;
    std::fill(raw.begin(), raw.end(), 0.0);
    std::fill(machine->in.begin(), machine->in.end(), 0.0);
    for (Reading& r : readings) r.reset();
    if (machine->begin(start) && machine->write(out.data())) return ZV_OK;
    return fail_with(machine->failure());
  }
};

struct zv_function {
  std::string name;
  std::shared_ptr<const Chain> chain;
  std::shared_ptr<const Hexapod> hexapod;
  std::shared_ptr<const Linkage> linkage;
  const KernelTable* kernels = nullptr;
  std::unique_ptr<LinkageJob> held;  // a function of the linkage, else of its chain
  Job job{};
  HexJob hex{};
  std::vector<LinkFrame> frames;
  std::vector<Param> params;  // of the inputs, without external wrenches
  std::vector<RowData> loads;
  Channels inputs, outputs;
  std::vector<bool> required;
  bool block = false;  // results of a state stand side by side
  DynamicsLayout layout;
  std::vector<double> room;

  int call(std::size_t count, const double* const* in, double* const* out);
};

namespace {

// ---- making rigs

zv_options options_of(const zv_options* given) {
  zv_options ours{};
  ours.struct_size = sizeof ours;
  if (!given) return ours;
  if (!usable(given) || given->struct_size < sizeof(std::size_t) || given->struct_size > std::size_t{1} << 16)
    throw Refused{ZV_ERROR_ARGUMENT, "options: struct_size is not set"};
  std::memcpy(&ours, given, std::min(given->struct_size, sizeof ours));
  return ours;
}

std::unique_ptr<zv_rig> made(const char* text, std::size_t size, const zv_options* given) {
  if (!text) throw Refused{ZV_ERROR_ARGUMENT, "text is null"};
  const zv_options options = options_of(given);
  auto rig = std::make_unique<zv_rig>();
  std::string error;
  rig->kernels = load_kernels(error);
  if (!rig->kernels) throw Refused{ZV_ERROR_KERNELS, error};
  Description& d = rig->description;
  d = read_description({text, size});
  if (!(options.period >= 0 && options.period <= 1e6))
    throw Refused{ZV_ERROR_ARGUMENT, "options: period is negative or not finite"};
  if (options.period > 0) d.period = options.period;
  if (options.substeps < 0 || options.substeps > 10000)
    throw Refused{ZV_ERROR_ARGUMENT, "options: substeps is not 0 to 10000"};
  if (options.substeps > 0) d.substeps = options.substeps;
  if (options.method < ZV_AS_WRITTEN || options.method > ZV_SEMI_IMPLICIT)
    throw Refused{ZV_ERROR_ARGUMENT, "options: unknown method"};
  if (options.method != ZV_AS_WRITTEN) d.semi_implicit = options.method == ZV_SEMI_IMPLICIT;
  if (d.docking && d.semi_implicit) throw Refused{ZV_ERROR_ARGUMENT, "options: a docking has no semi-implicit method"};
  if (options.flags & ~static_cast<std::uint32_t>(ZV_FLUSH_DENORMALS))
    throw Refused{ZV_ERROR_ARGUMENT, "options: unknown flag"};
  rig->flush = options.flags & ZV_FLUSH_DENORMALS;
  if (options.most_held < 0) throw Refused{ZV_ERROR_ARGUMENT, "options: most_held is negative"};
  if (options.most_held > 0) d.most_held = options.most_held;

  rig->machine = make_machine(d, *rig->kernels);
  const Channels& inputs = rig->machine->inputs;
  rig->jump.assign(rig->machine->in.size(), std::numeric_limits<double>::infinity());
  for (const auto& [name, limit] : d.jumps) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Channel& c) { return c.name == name; });
    if (found == inputs.end()) throw Refused{ZV_ERROR_MODEL, "jump: there is no input '" + name.substr(0, 60) + "'"};
    std::fill_n(rig->jump.begin() + found->offset, found->size, limit);
  }
  for (const Sensor& sensor : d.sensors) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Channel& c) { return c.name == sensor.input; });
    Mat3<double> ignored[3];
    const int index = static_cast<int>(found - inputs.begin());
    if (found == inputs.end() || found->size != 6 || !rig->machine->axes(index, ignored[0], ignored[1], ignored[2]))
      throw Refused{ZV_ERROR_MODEL, "sensor: there is no wrench '" + sensor.input.substr(0, 60) + "' among the inputs"};
    rig->readings.emplace_back(sensor, index, found->offset, d.period);
  }
  rig->raw.resize(rig->machine->in.size());
  rig->fresh.resize(rig->machine->in.size());
  rig->out.resize(static_cast<std::size_t>(rig->machine->outputs.size_of_all));
  rig->trial.resize(rig->out.size());
  rig->before.resize(rig->machine->size());
  rig->mark = mark_of(text, size, d);
  if (const int code = rig->reset(d.start.data()); code != ZV_OK) throw Refused{code, std::string("start: ") + rig->message};
  if (const int code = zv_rig_prepare(rig.get()); code != ZV_OK) throw Refused{code, rig->message};
  return rig;
}

zv_rig* created(const char* text, std::size_t size, const zv_options* options, int* code, char* message, std::size_t room) {
  if (!usable_or_null(code)) return nullptr;
  put_text("", message, room);
  zv_rig* rig = nullptr;
  const int result = guarded(message, room, [&] {
    rig = made(text, size, options).release();
    return ZV_OK;
  });
  if (code) *code = result;
  return rig;
}

std::string contents(const char* path) {
  if (!path) throw Refused{ZV_ERROR_ARGUMENT, "path is null"};
  const auto refuse = [&](const std::string& why) {
    throw Refused{ZV_ERROR_FILE, joined({"cannot read '", path, "': ", why})};
  };
  // opening a pipe would wait for somebody to write to it
  struct stat found{};
  if (stat(path, &found) == 0) {
    if ((found.st_mode & S_IFMT) == S_IFDIR) refuse("it is a folder");
    if ((found.st_mode & S_IFMT) != S_IFREG) refuse("it is a device or a pipe, expected a file");
  }
  const auto close = [](std::FILE* f) { std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path, "rb"), close);
  if (!file) refuse(std::generic_category().message(errno));
  std::string text;
  char part[65536];
  while (const std::size_t count = std::fread(part, 1, sizeof part, file.get())) {
    text.append(part, count);
    if (text.size() > kMostBytes) refuse("it has more than 64 MiB");
  }
  if (std::ferror(file.get())) refuse("an error of the device");
  return text;
}

int give_channel(const Channel& c, bool required, zv_channel* channel) {
  zv_channel ours{};
  ours.name = c.name.c_str();
  ours.unit = c.unit;
  ours.offset = c.offset;
  ours.size = c.size;
  ours.required = required;
  return give(ours, channel);
}

int give_channel(const Channels& all, std::int32_t index, bool required, zv_channel* channel) {
  if (index < 0 || index >= static_cast<std::int32_t>(all.size())) return ZV_ERROR_ARGUMENT;
  return give_channel(all[static_cast<std::size_t>(index)], required, channel);
}

// ---- making functions

using Pairs = std::vector<std::pair<std::string, std::string>>;

// key=value pairs separated by spaces; what stands in quotes may have spaces
Pairs pairs_of(const char* text) {
  Pairs pairs;
  std::string word;
  bool quoted = false, any = false;
  const auto finish = [&] {
    if (!any) return;
    const std::size_t equal = word.find('=');
    if (equal == word.npos || equal == 0)
      throw Refused{ZV_ERROR_ARGUMENT, "options: '" + word.substr(0, 60) + "', expected key=value"};
    const std::string key = word.substr(0, equal);
    for (const auto& [known, ignored] : pairs)
      if (known == key) throw Refused{ZV_ERROR_ARGUMENT, "options: '" + key.substr(0, 60) + "' is given twice"};
    pairs.emplace_back(key, word.substr(equal + 1));
    word.clear();
    any = false;
  };
  for (const char* p = text; p && *p; ++p) {
    if (*p == '\'')
      quoted = !quoted;
    else if (*p == ' ' && !quoted)
      finish();
    else
      word += *p, any = true;
  }
  if (quoted) throw Refused{ZV_ERROR_ARGUMENT, "options: a quote without its end"};
  finish();
  return pairs;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

// links with an external wrench
std::vector<std::string> loaded_links(const std::string& text) {
  std::vector<std::string> names = listed(text), sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw Refused{ZV_ERROR_ARGUMENT, "external names a link twice"};
  return names;
}

Vec3<double> point_of(const std::string& text) {
  const std::vector<std::string> numbers = listed(text);
  Vec3<double> point{0, 0, 0};
  bool fine = numbers.size() == 3;
  try {
    for (std::size_t i = 0; fine && i < 3; ++i) {
      const json::Value x = json::parse(numbers[i]);
      fine = x.kind == json::Value::Kind::number;
      point[static_cast<int>(i)] = x.number;
    }
  } catch (const TextError&) {
    fine = false;
  }
  if (!fine) throw Refused{ZV_ERROR_ARGUMENT, "point is '" + text.substr(0, 60) + "', expected three numbers x,y,z"};
  return point;
}

LinkFrame frame_of(const Chain& chain, const std::string& name) {
  const int link = chain.find_link(name);
  if (link == Chain::kNoLink)
    throw Refused{ZV_ERROR_ARGUMENT, "there is no link '" + name.substr(0, 60) + "' in model '" + chain.name() + "'"};
  return link == Chain::kBase ? LinkFrame{kWorld, diagonal(1.0), {0, 0, 0}} : chain.frame(link);
}

int joint_of(const Chain& chain, const std::string& name) {
  for (int k = 0; k < chain.n(); ++k)
    if (chain.joint_names()[static_cast<std::size_t>(k)] == name) return chain.body_of_joint()[static_cast<std::size_t>(k)];
  throw Refused{ZV_ERROR_ARGUMENT, "there is no moving joint '" + name.substr(0, 60) + "' in model '" + chain.name() + "'"};
}

template <class Rows>
const FunctionRow& row_named(const Rows& rows, const std::string& name) {
  for (const FunctionRow& row : rows)
    if (name == row.name && !row.has(kPrivate)) return row;
  throw Refused{ZV_ERROR_ARGUMENT, "there is no function '" + name.substr(0, 60) + "'"};
}

bool second(const std::string& key, const std::string& value, const char* first, const char* other) {
  if (value != first && value != other)
    throw Refused{ZV_ERROR_ARGUMENT, key + " is '" + value.substr(0, 60) + "', expected '" + first + "' or '" + other + "'"};
  return value == other;
}

int method_of(const FunctionRow& row, const std::string& name) {
  for (const MethodName& m : row.methods)
    if (name == m.name) return m.code;
  throw Refused{ZV_ERROR_ARGUMENT, std::string(row.name) + ": there is no method '" + name.substr(0, 60) + "'"};
}

bool no_other_rows(const Linkage&, const double*, const double*, RowChoice&) { return false; }

// whether joint a moves body b
bool carries(const Chain& chain, int a, int b) {
  while (b > a) b = chain.topology().parent[static_cast<std::size_t>(b)];
  return a == b;
}

void make_chain_function(zv_function& f, const Pairs& options) {
  const Chain& chain = *f.chain;
  const FunctionRow& row = row_named(chain_table::kRows, f.name);
  if (row.takes(Param::section))
    throw Refused{ZV_ERROR_ARGUMENT, f.name + " needs a section, which only Python can describe"};
  Job& job = f.job;
  job = Job{&chain, static_cast<Function>(row.code), Method::none};
  if (row.methods.count) job.method = static_cast<Method>(row.methods[0].code);
  job.link_axes = row.has(kInLinkAxes);
  bool linked = false, first = false, other = false;
  Vec3<double> point{0, 0, 0};
  for (const auto& [key, value] : options) {
    const auto takes = [&, &key = key](Param p, const char* name) { return key == name && row.takes(p); };
    if (takes(Param::method, "method"))
      job.method = static_cast<Method>(method_of(row, value));
    else if (takes(Param::link, "link"))
      job.frame = frame_of(chain, value), linked = true;
    else if (takes(Param::frame, "frame"))
      job.link_axes = second(key, value, "world", "link");
    else if (takes(Param::about, "about"))
      job.about_base = second(key, value, "com", "base");
    else if (takes(Param::motion, "motion"))
      job.outboard = second(key, value, "link", "outboard");
    else if (takes(Param::external_frame, "external_frame"))
      job.external_in_links = second(key, value, "world", "link");
    else if (takes(Param::i, "i"))
      job.i = joint_of(chain, value), first = true;
    else if (takes(Param::j, "j"))
      job.j = joint_of(chain, value), other = true;
    else if (takes(Param::by, "by")) {
      const std::vector<std::string> joints = listed(value);
      if (joints.size() > kMostOrders) throw Refused{ZV_ERROR_ARGUMENT, "by has more than 12 joints"};
      for (std::size_t k = 0; k < joints.size(); ++k) job.by[k] = joint_of(chain, joints[k]);
      job.order = static_cast<int>(joints.size());
      std::sort(job.by, job.by + job.order);
    } else if (takes(Param::point, "point")) {
      point = point_of(value);
    } else if (takes(Param::external, "external")) {
      for (const std::string& name : loaded_links(value)) f.frames.push_back(frame_of(chain, name)), f.loads.push_back({});
    } else {
      throw Refused{ZV_ERROR_ARGUMENT, f.name + " does not take '" + key.substr(0, 60) + "'"};
    }
  }
  if (row.takes(Param::link) && !linked) throw Refused{ZV_ERROR_ARGUMENT, f.name + " needs link=..."};
  if (row.takes(Param::i) && !first) throw Refused{ZV_ERROR_ARGUMENT, f.name + " needs i=..."};
  if (row.takes(Param::j) && !other) throw Refused{ZV_ERROR_ARGUMENT, f.name + " needs j=..."};
  job.frame.p_BoUo_B += times(job.frame.R_BU, point);
  if (serial_only(job.method) && !chain.topology().serial)
    throw Refused{ZV_ERROR_ARGUMENT, f.name + ": this method exists only for serial chains, and the model branches"};
  double mass = 0;
  for (int b = 0; b < chain.n(); ++b) mass += chain.body(b).m;
  if ((job.function == Function::com || (row.takes(Param::about) && !job.about_base)) && !(mass > 0))
    throw Refused{ZV_ERROR_ARGUMENT, f.name + ": the moving links have no mass"};
  if (job.function == Function::kinematic_derivative) {
    const int body = job.frame.body;
    if (!(job.outboard ? job.i != body && body != kWorld && carries(chain, body, job.i)
                       : body != kWorld && carries(chain, job.i, body)))
      throw Refused{ZV_ERROR_ARGUMENT, f.name + ": joint i does not move the link, or is not outboard of it"};
  }
  job.external_frames = f.frames.data();
  job.external_count = static_cast<int>(f.frames.size());
  int at = 0;
  for (const Param p : row.params) {
    const bool needed = at++ < row.required;
    if (!is_array(p)) continue;
    f.params.push_back(p);
    f.inputs.push_back({name_of(p), slot_of(p).unit, 0, input_size(job, p)});
    f.required.push_back(needed);
  }
  for (const auto& [key, value] : options)
    if (key == "external")
      for (const std::string& name : listed(value))
        f.inputs.push_back({"external." + name, "N, N m", 0, 6}), f.required.push_back(true);
  for (int k = 0; k < row.outputs.count; ++k)
    f.outputs.push_back({row.outputs[k].name, row.outputs[k].unit, 0, static_cast<int>(output_size(job, k))});
}

void make_hexapod_function(zv_function& f, const Pairs& options) {
  const FunctionRow& row = row_named(hexapod_table::kRows, f.name);
  HexJob& job = f.hex;
  job = HexJob{f.hexapod.get(), static_cast<HexFunction>(row.code)};
  if (row.takes(Param::base)) throw Refused{ZV_ERROR_ARGUMENT, f.name + " needs a base, which only Python can describe"};
  job.actuated_only = row.takes(Param::leg_tau);
  for (const auto& [key, value] : options) {
    if (key == "method" && row.takes(Param::method))
      job.newton = method_of(row, value) != 0;
    else if (key == "tau" && row.takes(Param::leg_tau))
      job.actuated_only = !second(key, value, "actuated", "all");
    else
      throw Refused{ZV_ERROR_ARGUMENT, f.name + " does not take '" + key.substr(0, 60) + "'"};
  }
  int at = 0;
  for (const Param p : row.params) {
    const bool needed = at++ < row.required;
    if (!is_array(p) || (p == Param::start && !job.newton && !f.hexapod->has_custom())) continue;
    f.params.push_back(p);
    f.inputs.push_back({name_of(p), slot_of(p).unit, 0, input_size(job, p)});
    f.required.push_back(needed);
  }
  f.block = row.has(kOneBlock);
  f.layout = DynamicsLayout(f.hexapod->joints(), job.function == HexFunction::free_dynamics);
  const Sizes sizes = sizes_of(job);
  for (int k = 0; k < row.outputs.count; ++k)
    f.outputs.push_back(
        {row.outputs[k].name, row.outputs[k].unit, 0, static_cast<int>(numbers(row.outputs[k].shape, sizes))});
  f.room.resize(static_cast<std::size_t>(output_size(job)));
}

void make_linkage_function(zv_function& f, const Pairs& options) {
  const FunctionRow& row = row_named(linkage_table::kRows, f.name);
  f.held = std::make_unique<LinkageJob>(*f.linkage, static_cast<LinkageFunction>(row.code), no_other_rows);
  LinkageJob& job = *f.held;
  std::vector<std::string> loaded;
  for (const auto& [key, value] : options) {
    if (key == "external" && row.takes(Param::external))
      loaded = loaded_links(value);
    else if (key == "external_frame" && row.takes(Param::external_frame))
      job.tree.external_in_links = second(key, value, "world", "link");
    else
      throw Refused{ZV_ERROR_ARGUMENT, f.name + " does not take '" + key.substr(0, 60) + "'"};
  }
  for (const std::string& name : loaded) f.frames.push_back(frame_of(*f.chain, name)), f.loads.push_back({});
  job.tree.external_frames = f.frames.data();
  job.tree.external_count = static_cast<int>(f.frames.size());
  int at = 0;
  for (const Param p : row.params) {
    const bool needed = at++ < row.required;
    if (!is_array(p) || p == Param::t) continue;  // no constraint of a rig moves in time
    f.params.push_back(p);
    f.inputs.push_back({name_of(p), slot_of(p).unit, 0, input_size(job, p)});
    f.required.push_back(needed);
  }
  for (const std::string& name : loaded)
    f.inputs.push_back({"external." + name, "N, N m", 0, 6}), f.required.push_back(true);
  for (int k = 0; k < row.outputs.count; ++k)
    f.outputs.push_back({row.outputs[k].name, row.outputs[k].unit, 0, static_cast<int>(output_size(job, k))});
}

// a linkage has functions of its own, and those of its chain
void make_function(zv_function& f, const Pairs& options) {
  if (f.hexapod) return make_hexapod_function(f, options);
  if (!f.chain) throw Refused{ZV_ERROR_ARGUMENT, "a docking has no functions: its steps are all of it"};
  bool own = false;
  for (const FunctionRow& row : linkage_table::kRows) own |= f.linkage && f.name == row.name && !row.has(kPrivate);
  own ? make_linkage_function(f, options) : make_chain_function(f, options);
}

}  // namespace

int zv_function::call(std::size_t count, const double* const* in, double* const* out) {
  const std::size_t given = inputs.size(), wanted = outputs.size();
  for (std::size_t i = 0; i < given; ++i)
    if (!usable_or_null(in[i]) || (!in[i] && required[i])) return ZV_ERROR_ARGUMENT;
  bool any = false;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (!usable_or_null(out[i])) return ZV_ERROR_ARGUMENT;
    any |= out[i] != nullptr;
  }
  if (!any || count > static_cast<std::size_t>(PTRDIFF_MAX) / 8) return ZV_ERROR_ARGUMENT;
  Rows rows;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (in[i]) rows[params[i]] = {in[i], inputs[i].size};
  for (std::size_t k = 0; k < loads.size(); ++k) loads[k] = {in[params.size() + k], 6};
  rows.external = loads.data();
  rows.check_inputs = true;
  rows.nan_on_error = true;
  rows.count = static_cast<std::ptrdiff_t>(count);
  if (held) {
    LinkageJob own = *held;
    own.outputs = 0;
    for (std::size_t k = 0; k < wanted; ++k)
      if (out[k]) rows.out[k] = out[k], own.outputs |= 1u << k;
    return code_of(kernels->run(own, rows, 0, rows.count));
  }
  if (chain) {
    Job own = job;
    own.outputs = 0;
    for (std::size_t k = 0; k < wanted; ++k)
      if (out[k]) rows.out[k] = out[k], own.outputs |= 1u << k;
    return code_of(kernels->run(own, rows, 0, rows.count));
  }
  if (!block) {
    rows.out[0] = out[0];
    return code_of(kernels->run(hex, rows, 0, rows.count));
  }
  Failure first;
  // results of a state stand side by side: apart
  for (std::size_t r = 0; r < count; ++r) {
    Rows one = rows;
    one.count = 1;
    for (const Param p : params)
      if (one[p].data) one[p].data += one[p].stride * static_cast<std::ptrdiff_t>(r);
    one.out[0] = room.data();
    const Failure failure = kernels->run(hex, one, 0, 1);
    if (failure) std::fill(room.begin(), room.end(), std::numeric_limits<double>::quiet_NaN());
    if (failure && !first) first = failure;
    for (std::size_t k = 0; k < wanted; ++k) {
      if (!out[k]) continue;
      const int width = outputs[k].size, heads = layout.free ? 3 : 2;
      double* to = out[k] + r * static_cast<std::size_t>(width);
      if (static_cast<int>(k) < heads) {
        std::copy_n(room.data() + layout.at[k], width, to);
      } else {
        const int per_leg = width / kLegs;
        for (int leg = 0; leg < kLegs; ++leg)
          std::copy_n(room.data() + layout.head() + leg * layout.per_leg() + layout.at[k], per_leg, to + leg * per_leg);
      }
    }
  }
  return code_of(first);
}

extern "C" {

int zv_abi_version(void) { return ZV_ABI_VERSION; }
const char* zv_version(void) { return ZVENO_VERSION; }

const char* zv_strerror(int code) {
  switch (code) {
    case ZV_OK: return "done";
    case ZV_INPUT_HELD: return "an input was refused, the step was made with the last good ones";
    case ZV_ERROR_ARGUMENT: return "an argument is null, misaligned, unknown or of a wrong size";
    case ZV_ERROR_TEXT: return "the text is neither JSON nor XML, or cut short";
    case ZV_ERROR_MODEL: return "the text describes no mechanism that can be computed with";
    case ZV_ERROR_MEMORY: return "not enough memory";
    case ZV_ERROR_KERNELS: return "no kernels for this processor were found beside the library";
    case ZV_ERROR_FILE: return "the file cannot be read";
    case ZV_ERROR_NOT_FINITE: return "an argument is not finite, or no rotation";
    case ZV_ERROR_UNREACHABLE: return "a leg cannot take the pose";
    case ZV_ERROR_SINGULAR: return "the state is singular: accelerations are not determined";
    case ZV_ERROR_OVERFLOW: return "a result is not finite: numbers are too large";
    case ZV_ERROR_STATE: return "not a state of this rig";
    case ZV_ERROR_STOPPED: return "the rig has stopped after too many refused inputs";
    case ZV_ERROR_CONTACT: return "the contact is deeper than its model reaches, or switches too often";
    case ZV_ERROR_INTERNAL: return "a fault of the library";
    default: return "unknown code";
  }
}

zv_rig* zv_rig_create(const char* text, size_t size, char* message, size_t message_size) {
  return created(text, size, nullptr, nullptr, message, message_size);
}

zv_rig* zv_rig_create_with(const char* text, size_t size, const zv_options* options, int* code, char* message,
                           size_t message_size) {
  return created(text, size, options, code, message, message_size);
}

zv_rig* zv_rig_open(const char* path, const zv_options* options, int* code, char* message, size_t message_size) {
  if (!usable_or_null(code)) return nullptr;
  put_text("", message, message_size);
  std::string text;
  const int read = guarded(message, message_size, [&] { return text = contents(path), ZV_OK; });
  if (read == ZV_OK) return created(text.data(), text.size(), options, code, message, message_size);
  if (code) *code = read;
  return nullptr;
}

void zv_rig_free(zv_rig* rig) { delete rig; }

int zv_rig_info(const zv_rig* rig, zv_info* info) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  const Description& d = rig->description;
  zv_info ours{};
  ours.name = name_of(d).c_str();
  ours.kind = kind_of(d);
  ours.kernels = rig->kernels->name;
  ours.period = d.period;
  ours.substeps = d.substeps;
  ours.method = d.semi_implicit ? ZV_SEMI_IMPLICIT : ZV_RK4;
  ours.joints = d.chain ? d.chain->n() : d.docking && !d.docking->ring[0] ? 0 : kLegs;
  ours.inputs = static_cast<std::int32_t>(rig->machine->inputs.size());
  ours.outputs = static_cast<std::int32_t>(rig->machine->outputs.size());
  ours.input_size = rig->machine->inputs.size_of_all;
  ours.output_size = rig->machine->outputs.size_of_all;
  ours.start_size = static_cast<std::int32_t>(d.start.size());
  ours.state_size = static_cast<std::int32_t>(rig->state_size());
  return give(ours, info);
}

int zv_rig_input(const zv_rig* rig, int32_t index, zv_channel* channel) {
  return usable(rig) ? give_channel(rig->machine->inputs, index, true, channel) : ZV_ERROR_ARGUMENT;
}
int zv_rig_output(const zv_rig* rig, int32_t index, zv_channel* channel) {
  return usable(rig) ? give_channel(rig->machine->outputs, index, true, channel) : ZV_ERROR_ARGUMENT;
}

int zv_rig_status(const zv_rig* rig, zv_status* status) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  zv_status ours{};
  ours.time = rig->machine->time();
  ours.steps = rig->steps;
  ours.held_inputs = rig->held;
  ours.failures = rig->failures;
  ours.held_in_row = rig->held_in_row;
  ours.stopped = rig->stopped;
  return give(ours, status);
}

int zv_rig_prepare(zv_rig* rig) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  return guarded(nullptr, 0, [&] {
    std::vector<double> now(rig->state_size());
    rig->save(now.data());
    rig->stopped = false;
    for (int i = 0; i < 3; ++i) {  // a step that cannot be made from here has touched what it needs, too
      const Flushing flushing(rig->flush);
      rig->machine->advance();
      rig->machine->write(rig->trial.data());
      rig->restore(now.data());
    }
    return ZV_OK;
  });
}

int zv_rig_reset(zv_rig* rig, const double* start) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  if (!usable_or_null(start)) return rig->fail(ZV_ERROR_ARGUMENT, "start is misaligned");
  const std::size_t size = rig->description.start.size();
  for (std::size_t i = 0; start && i < size; ++i)
    if (!std::isfinite(start[i])) return rig->fail(ZV_ERROR_NOT_FINITE, "start has a number that is not finite");
  if (start && rig->description.hexapod) {
    double square = 0;
    for (int i = 3; i < 7; ++i) square += start[i] * start[i];
    if (!(std::fabs(square - 1) < 1e-6)) return rig->fail(ZV_ERROR_NOT_FINITE, "start has a quaternion that is no rotation");
  }
  for (std::size_t i = size - docking::Factors::kNumbers; start && rig->description.docking && i < size; ++i)
    if (!(start[i] > 0)) return rig->fail(ZV_ERROR_NOT_FINITE, "start has a factor that is not positive");
  return guarded(rig->message, sizeof rig->message, [&] {
    const int code = rig->reset(start ? start : rig->description.start.data());
    if (code == ZV_OK) return code;
    char why[kMessage];
    put_text(rig->message, why, sizeof why);
    rig->reset(rig->description.start.data());
    return rig->fail(code, why);
  });
}

int zv_rig_step(zv_rig* rig, const double* in, double* out) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  if (!usable_or_null(in) || !usable_or_null(out)) return rig->fail(ZV_ERROR_ARGUMENT, "in or out is misaligned");
  const int code = guarded(rig->message, sizeof rig->message, [&] {
    const Flushing flushing(rig->flush);
    return rig->step(in);
  });
  if (out) std::copy(rig->out.begin(), rig->out.end(), out);
  return code;
}

int zv_rig_outputs(const zv_rig* rig, double* out) {
  if (!usable(rig) || !usable(out)) return ZV_ERROR_ARGUMENT;
  std::copy(rig->out.begin(), rig->out.end(), out);
  return ZV_OK;
}

int zv_rig_get_state(const zv_rig* rig, double* state) {
  if (!usable(rig) || !usable(state)) return ZV_ERROR_ARGUMENT;
  rig->save(state);
  return ZV_OK;
}

int zv_rig_set_state(zv_rig* rig, const double* state) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  if (!usable(state)) return rig->fail(ZV_ERROR_ARGUMENT, "state is null or misaligned");
  const std::size_t size = rig->state_size();
  bool fine = state[0] == rig->mark;
  for (std::size_t i = 0; i < size; ++i) fine &= std::isfinite(state[i]);
  for (std::size_t i = 1; i < zv_rig::kHead; ++i) fine &= state[i] >= 0 && state[i] <= 9007199254740992.0;
  if (fine) fine = state[4] <= 2147483647.0;
  const std::size_t step = rig->state_size() - rig->machine->size();
  if (fine) fine = state[step] >= 0 && state[step] <= 9007199254740992.0;
  if (fine) fine = rig->machine->fits(state + step);
  if (!fine) return rig->fail(ZV_ERROR_STATE, "not a state of this rig: another model, other options, or damaged");
  rig->restore(state);
  return ZV_OK;
}

int zv_last_detail(const zv_rig* rig, char* message, size_t message_size) {
  if (!usable(rig)) return ZV_ERROR_ARGUMENT;
  put_text(rig->message, message, message_size);
  return rig->last_code;
}

// ---- functions

zv_function* zv_function_create(const zv_rig* rig, const char* name, const char* options, int* code, char* message,
                                size_t message_size) {
  if (!usable_or_null(code)) return nullptr;
  put_text("", message, message_size);
  std::unique_ptr<zv_function> f;
  const int result = guarded(message, message_size, [&] {
    if (!usable(rig) || !name) throw Refused{ZV_ERROR_ARGUMENT, "rig or name is null"};
    const std::string options_text = options ? options : "";
    f = std::make_unique<zv_function>();
    f->name = name;
    f->chain = rig->description.chain;
    f->hexapod = rig->description.hexapod;
    f->linkage = rig->description.linkage;
    f->kernels = rig->kernels;
    const Pairs pairs = pairs_of(options_text.c_str());
    make_function(*f, pairs);
    return zv_function_prepare(f.get());
  });
  if (code) *code = result;
  return result == ZV_OK ? f.release() : nullptr;
}

void zv_function_free(zv_function* function) { delete function; }

int zv_function_inputs(const zv_function* f) { return usable(f) ? static_cast<int>(f->inputs.size()) : ZV_ERROR_ARGUMENT; }
int zv_function_outputs(const zv_function* f) { return usable(f) ? static_cast<int>(f->outputs.size()) : ZV_ERROR_ARGUMENT; }

int zv_function_input(const zv_function* f, int32_t index, zv_channel* channel) {
  if (!usable(f) || index < 0 || index >= static_cast<std::int32_t>(f->inputs.size())) return ZV_ERROR_ARGUMENT;
  return give_channel(f->inputs, index, f->required[static_cast<std::size_t>(index)], channel);
}
int zv_function_output(const zv_function* f, int32_t index, zv_channel* channel) {
  return usable(f) ? give_channel(f->outputs, index, false, channel) : ZV_ERROR_ARGUMENT;
}

int zv_function_prepare(zv_function* f) {
  if (!usable(f)) return ZV_ERROR_ARGUMENT;
  return guarded(nullptr, 0, [&] {
    std::vector<std::vector<double>> given, got;
    std::vector<const double*> in;
    std::vector<double*> out;
    for (const Channel& c : f->inputs) {
      given.emplace_back(static_cast<std::size_t>(c.size), 0.1);
      in.push_back(given.back().data());
    }
    for (const Channel& c : f->outputs) {
      got.emplace_back(static_cast<std::size_t>(c.size));
      out.push_back(got.back().data());
    }
    f->call(1, in.data(), out.data());  // the state may have no result
    return ZV_OK;
  });
}

int zv_function_call(zv_function* f, size_t rows, const double* const* in, double* const* out) {
  if (!usable(f) || !usable(in) || !usable(out)) return ZV_ERROR_ARGUMENT;
  if (rows == 0) return ZV_OK;
  return guarded(nullptr, 0, [&] { return f->call(rows, in, out); });
}

}  // extern "C"
