// The C interface: no call, however wrong, crashes; what is refused changes nothing; no step allocates.
#include <zveno.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "check.hpp"

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const char* name) {
  std::ifstream file(std::string(ZVENO_TEST_DATA) + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
const std::string& arm() {
  static const std::string text = text_of("rig_arm.json");
  return text;
}
const std::string& ring() {
  static const std::string text = text_of("rig_ring.json");
  return text;
}
const std::string& linkage() {
  static const std::string text = text_of("rig_linkage.json");
  return text;
}
const std::string& docking() {
  static const std::string text = text_of("rig_docking.json");
  return text;
}

struct Free {
  void operator()(zv_rig* rig) const { zv_rig_free(rig); }
  void operator()(zv_function* f) const { zv_function_free(f); }
};
using Rig = std::unique_ptr<zv_rig, Free>;
using Function = std::unique_ptr<zv_function, Free>;

Rig make(const std::string& text, const zv_options* options = nullptr, int* code = nullptr, std::string* said = nullptr) {
  char message[200] = "unchanged";
  Rig rig(zv_rig_create_with(text.data(), text.size(), options, code, message, sizeof message));
  if (said) *said = message;
  return rig;
}

zv_info info_of(const zv_rig* rig) {
  zv_info info{};
  info.struct_size = sizeof info;
  CHECK_EQUAL(zv_rig_info(rig, &info), int(ZV_OK));
  return info;
}

struct Arrays {
  std::vector<double> in, out, state;
  explicit Arrays(const zv_info& info) : in(info.input_size), out(info.output_size), state(info.state_size) {}
};

}  // namespace

LAW(texts_that_are_cut_or_changed_give_a_code_and_a_sentence) {
  std::mt19937 rng(1);
  const char* const words[] = {"null", "[]", "{}", "1e999", "-1", "1e-300", "\"x\"", "true", "NaN", "1e308", "0", ","};
  for (const std::string* whole : {&arm(), &ring(), &linkage(), &docking()}) {
    CHECK(make(*whole) != nullptr);
    const std::size_t step = whole->size() / 60 + 1;
    for (std::size_t length = 0; length < whole->size(); length += step) {
      int code = 1;
      std::string said;
      CHECK(!make(whole->substr(0, length), nullptr, &code, &said));
      CHECK_EQUAL(code, int(ZV_ERROR_TEXT));
      CHECK(!said.empty() && said != "unchanged");
    }
    for (int i = 0; i < ZVENO_FUZZ; ++i) {
      std::string text = *whole;
      for (int k = 0; k < 1 + i % 3; ++k) {
        const std::size_t at = rng() % text.size();
        switch (rng() % 4) {
          case 0: text[at] = static_cast<char>(rng()); break;
          case 1: text.erase(at, 1 + rng() % 8); break;
          case 2: text.insert(at, words[rng() % 12]); break;
          default: {  // a number for another
            const std::size_t begin = text.find_first_of("0123456789", at), end = text.find_first_of(",]}", begin);
            if (begin != text.npos && end != text.npos) text.replace(begin, end - begin, words[rng() % 12]);
          }
        }
      }
      int code = 1;
      std::string said;
      const Rig rig = make(text, nullptr, &code, &said);
      CHECK(rig ? code == ZV_OK : code < 0 && !said.empty());
      if (!rig) continue;
      Arrays a(info_of(rig.get()));
      CHECK(zv_rig_step(rig.get(), a.in.data(), a.out.data()) <= ZV_INPUT_HELD);
    }
  }
}

LAW(urdf_that_is_cut_or_changed_gives_a_code_and_a_sentence) {
  std::mt19937 rng(3);
  const char* const words[] = {"<",
                               ">",
                               "\"",
                               "&",
                               "&amp;",
                               "&#0;",
                               "&#x110000;",
                               "<!--",
                               "-->",
                               "]]>",
                               "<![CDATA[",
                               "<?xml",
                               "<!DOCTYPE",
                               "1e999",
                               "-1",
                               "nan",
                               "\xff",
                               "\xef\xbb\xbf",
                               "/>",
                               "<a>",
                               "</a>",
                               "fixed",
                               "<link name='a'/>",
                               "5e-324",
                               "0 0 0",
                               " ",
                               "<joint/>"};
  std::string whole = text_of("tree.urdf");
  whole.erase(whole.find_last_of('>') + 1);
  CHECK(make(whole) != nullptr);
  for (std::size_t length = 0; length < whole.size(); length += whole.size() / 200 + 1) {
    int code = 1;
    std::string said;
    CHECK(!make(whole.substr(0, length), nullptr, &code, &said));
    CHECK_EQUAL(code, int(ZV_ERROR_TEXT));
    CHECK(!said.empty() && said != "unchanged");
  }
  int made = 0;
  for (int i = 0; i < 4 * ZVENO_FUZZ; ++i) {
    std::string text = whole;
    for (int k = 0; k < 1 + i % 3; ++k) {
      const std::size_t at = rng() % text.size();
      const char* word = words[rng() % (sizeof words / sizeof *words)];
      switch (rng() % 5) {
        case 0: text[at] = static_cast<char>(rng()); break;
        case 1: text.erase(at, 1 + rng() % 8); break;
        case 2: text.insert(at, word); break;
        case 3: text.insert(at, text.substr(rng() % text.size(), rng() % 200)); break;
        default: {  // a value for another
          const std::size_t begin = text.find('"', at), end = begin == text.npos ? begin : text.find('"', begin + 1);
          if (end != text.npos) text.replace(begin + 1, end - begin - 1, word);
        }
      }
    }
    int code = 1;
    std::string said;
    const Rig rig = make(text, nullptr, &code, &said);
    CHECK(rig ? code == ZV_OK : code < 0 && !said.empty());
    if (!rig) continue;
    ++made;
    Arrays a(info_of(rig.get()));
    CHECK(zv_rig_step(rig.get(), a.in.data(), a.out.data()) <= ZV_INPUT_HELD);
  }
  CHECK(made > 0);
  // deep, long and wide
  int code = 1;
  std::string deep = "<robot>";
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  CHECK(!make(deep, nullptr, &code));
  CHECK_EQUAL(code, int(ZV_ERROR_TEXT));
  std::string wide = "<robot";
  for (int i = 0; i < 100000; ++i) wide += " a" + std::to_string(i) + "=''";
  CHECK(!make(wide + "/>", nullptr, &code));
  CHECK_EQUAL(code, int(ZV_ERROR_TEXT));
}

LAW(wrong_arguments_are_refused) {
  const Rig rig = make(ring());
  zv_info info{};
  Arrays a(info_of(rig.get()));
  char odd[64];
  auto* misaligned = reinterpret_cast<double*>(odd + 1);
  CHECK_EQUAL(zv_rig_info(rig.get(), nullptr), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_info(rig.get(), &info), int(ZV_ERROR_ARGUMENT));  // struct_size is 0
  CHECK_EQUAL(zv_rig_info(nullptr, &info), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_step(nullptr, a.in.data(), a.out.data()), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_step(rig.get(), misaligned, a.out.data()), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_step(rig.get(), a.in.data(), misaligned), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_step(rig.get(), nullptr, nullptr), int(ZV_OK));
  CHECK_EQUAL(zv_rig_get_state(rig.get(), nullptr), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_set_state(rig.get(), misaligned), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_set_state(rig.get(), a.state.data()), int(ZV_ERROR_STATE));
  CHECK_EQUAL(zv_rig_reset(rig.get(), misaligned), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_prepare(nullptr), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_last_detail(nullptr, nullptr, 0), int(ZV_ERROR_ARGUMENT));
  CHECK(zv_last_detail(rig.get(), nullptr, 0) < 0);
  zv_channel channel{};
  channel.struct_size = sizeof channel;
  CHECK_EQUAL(zv_rig_input(rig.get(), -1, &channel), int(ZV_ERROR_ARGUMENT));
  CHECK_EQUAL(zv_rig_output(rig.get(), 100, &channel), int(ZV_ERROR_ARGUMENT));
  // an older caller knows the beginning of a struct: nothing behind it is written
  struct {
    std::size_t size;
    const char* name;
    const char* untouched;
  } old{sizeof(std::size_t) + sizeof(char*), nullptr, "here"};
  CHECK_EQUAL(zv_rig_info(rig.get(), reinterpret_cast<zv_info*>(&old)), int(ZV_OK));
  CHECK(old.name && std::strcmp(old.untouched, "here") == 0);
  int code = 0;
  CHECK(!zv_rig_create_with(nullptr, 3, nullptr, &code, nullptr, 0));
  CHECK_EQUAL(code, int(ZV_ERROR_ARGUMENT));
  CHECK(!zv_rig_open("no/such/file.json", nullptr, &code, nullptr, 0));
  CHECK_EQUAL(code, int(ZV_ERROR_FILE));
  CHECK(!zv_rig_open(nullptr, nullptr, nullptr, nullptr, 0));
  zv_options options{};
  CHECK(!make(ring(), &options, &code));  // struct_size is 0
  options.struct_size = sizeof options;
  options.period = kNan;
  CHECK(!make(ring(), &options, &code));
  CHECK_EQUAL(code, int(ZV_ERROR_ARGUMENT));
  options.period = 0, options.substeps = -1;
  CHECK(!make(ring(), &options, &code));
  options.substeps = 2, options.flags = ZV_FLUSH_DENORMALS, options.method = ZV_SEMI_IMPLICIT;
  CHECK(make(ring(), &options, &code));
  zv_rig_free(nullptr);
  zv_function_free(nullptr);
  for (int c = -20; c < 5; ++c) CHECK(std::strlen(zv_strerror(c)) > 3);
}

LAW(inputs_that_are_refused_are_held_and_stop_a_rig) {
  const Rig rig = make(arm());  // stops after three
  Arrays a(info_of(rig.get())), b(info_of(rig.get()));
  const double nan[] = {kNan};
  CHECK_EQUAL(zv_rig_step(rig.get(), a.in.data(), a.out.data()), int(ZV_OK));
  b.in[0] = nan[0];
  CHECK_EQUAL(zv_rig_step(rig.get(), b.in.data(), b.out.data()), int(ZV_INPUT_HELD));
  b.in[0] = 51;  // jumps
  CHECK_EQUAL(zv_rig_step(rig.get(), b.in.data(), b.out.data()), int(ZV_INPUT_HELD));
  b.in[0] = 49;
  CHECK_EQUAL(zv_rig_step(rig.get(), b.in.data(), b.out.data()), int(ZV_OK));
  b.in[0] = kNan;
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(zv_rig_step(rig.get(), b.in.data(), b.out.data()), int(ZV_INPUT_HELD));
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(zv_rig_step(rig.get(), b.in.data(), b.out.data()), int(ZV_ERROR_STOPPED));
  for (const double x : b.out) CHECK(std::isfinite(x));
  zv_status status{};
  status.struct_size = sizeof status;
  CHECK_EQUAL(zv_rig_status(rig.get(), &status), int(ZV_OK));
  CHECK(status.stopped == 1 && status.steps == 7 && status.held_inputs == 5);
  CHECK_EQUAL(zv_rig_reset(rig.get(), nullptr), int(ZV_OK));
  CHECK_EQUAL(zv_rig_step(rig.get(), a.in.data(), b.out.data()), int(ZV_OK));
  CHECK_SAME("after a reset", b.out.data(), a.out.data(), static_cast<std::ptrdiff_t>(a.out.size()));
}

LAW(a_step_that_cannot_be_made_changes_nothing) {
  const Rig rig = make(ring());
  Arrays a(info_of(rig.get())), b(info_of(rig.get()));
  CHECK_EQUAL(zv_rig_step(rig.get(), a.in.data(), a.out.data()), int(ZV_OK));
  zv_rig_get_state(rig.get(), a.state.data());
  for (const double force : {1e9, 1e200, 1e308}) {
    b.in[0] = force;
    CHECK(zv_rig_step(rig.get(), b.in.data(), b.out.data()) < 0);
    CHECK_SAME("outputs", b.out.data(), a.out.data(), static_cast<std::ptrdiff_t>(a.out.size()));
    char message[200];
    CHECK(zv_last_detail(rig.get(), message, sizeof message) < 0 && std::strlen(message) > 10);
  }
  b.in[0] = 0;
  zv_rig_step(rig.get(), b.in.data(), b.out.data());
  zv_rig_set_state(rig.get(), a.state.data());
  zv_rig_step(rig.get(), a.in.data(), a.out.data());
  CHECK_SAME("the next step", b.out.data(), a.out.data(), static_cast<std::ptrdiff_t>(a.out.size()));
}

LAW(calls_in_any_order_end_well) {
  std::mt19937 rng(2);
  const Rig rigs[] = {make(arm()), make(ring()), make(linkage()), make(docking())};
  const double specials[] = {0, -0.0, 1, -1e3, 1e30, 1e308, kNan, INFINITY, 5e-324};
  const char* const names[] = {"mass_matrix",        "pose",      "jacobian",        "closure",        "forward_dynamics",
                               "section_load",       "regressor", "derivatives",     "kinetic_energy", "nothing",
                               "second_derivatives", "residual",  "project_velocity"};
  const char* const options[] = {"",        "link=lower", "method=kane", "=", "link='x", "point=0,0,1 link=lower",
                                 "tau=all", "by=a"};
  for (int round = 0; round < 4 * ZVENO_FUZZ; ++round) {
    zv_rig* rig = rigs[rng() % 4].get();
    Arrays a(info_of(rig));
    for (double& x : a.in) x = rng() % 8 ? std::normal_distribution<>(0, 10)(rng) : specials[rng() % 9];
    switch (rng() % 6) {
      case 0: zv_rig_reset(rig, rng() % 2 ? nullptr : a.out.data()); break;
      case 1:
        zv_rig_get_state(rig, a.state.data());
        if (rng() % 2) a.state[rng() % a.state.size()] = specials[rng() % 9];
        zv_rig_set_state(rig, a.state.data());
        break;
      case 2: zv_rig_prepare(rig); break;
      case 3: {
        const Function f(zv_function_create(rig, names[rng() % 13], options[rng() % 8], nullptr, nullptr, 0));
        if (!f) break;
        std::vector<std::vector<double>> arrays;
        std::vector<const double*> in;
        std::vector<double*> out;
        arrays.reserve(64);
        const std::size_t rows = 1 + rng() % 9;
        zv_channel c{};
        c.struct_size = sizeof c;
        for (int i = 0; i < zv_function_inputs(f.get()); ++i) {
          CHECK_EQUAL(zv_function_input(f.get(), i, &c), int(ZV_OK));
          arrays.emplace_back(rows * static_cast<std::size_t>(c.size));
          for (double& x : arrays.back()) x = rng() % 8 ? std::normal_distribution<>(0, 1)(rng) : specials[rng() % 9];
          in.push_back(rng() % 8 ? arrays.back().data() : nullptr);
        }
        for (int i = 0; i < zv_function_outputs(f.get()); ++i) {
          CHECK_EQUAL(zv_function_output(f.get(), i, &c), int(ZV_OK));
          arrays.emplace_back(rows * static_cast<std::size_t>(c.size));
          out.push_back(rng() % 8 ? arrays.back().data() : nullptr);
        }
        zv_function_call(f.get(), rows, in.data(), out.data());
        break;
      }
      default: {
        const int code = zv_rig_step(rig, a.in.data(), a.out.data());
        CHECK(code <= ZV_INPUT_HELD);
        for (const double x : a.out) CHECK(std::isfinite(x));
      }
    }
  }
}

LAW(steps_and_calls_allocate_nothing) {
  for (const std::string* text : {&arm(), &ring(), &linkage(), &docking()}) {
    const Rig rig = make(*text);
    const bool chain = text == &arm() || text == &linkage();
    Arrays a(info_of(rig.get()));
    const Function f(zv_function_create(rig.get(), "mass_matrix", nullptr, nullptr, nullptr, 0));
    const double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, r[3] = {0.4, 0, 0};
    const double* in[2] = {chain ? a.in.data() : r, R};
    double M[36], *out[1] = {M};
    const long before = allocations();
    for (int i = 0; i < 200; ++i) {
      a.in[0] = i % 7 == 3 ? kNan : i % 50 == 1 ? 1e300 : 0.1 * i;  // refused ones too
      zv_rig_step(rig.get(), a.in.data(), a.out.data());
      zv_rig_get_state(rig.get(), a.state.data());
      zv_rig_set_state(rig.get(), a.state.data());
      if (i % 60 == 59) zv_rig_reset(rig.get(), nullptr);
      a.in[0] = 0.2;
      if (f) CHECK_EQUAL(zv_function_call(f.get(), 1, in, out), int(ZV_OK));
    }
    CHECK_EQUAL(allocations(), before);
    CHECK(f != nullptr || text == &docking());
  }
}

LAW(saved_states_go_on_with_the_same_bits) {
  for (const std::string* text : {&arm(), &ring(), &linkage(), &docking()}) {
    const Rig rig = make(*text), other = make(*text);
    Arrays a(info_of(rig.get())), b(info_of(rig.get()));
    for (int i = 0; i < 40; ++i) {
      for (double& x : a.in) x = text == &docking() ? i / 8 : std::sin(0.1 * i);  // a whole one is a phase
      zv_rig_step(rig.get(), a.in.data(), a.out.data());
      if (i == 20) zv_rig_get_state(rig.get(), a.state.data());
    }
    CHECK_EQUAL(zv_rig_set_state(other.get(), a.state.data()), int(ZV_OK));
    for (int i = 21; i < 40; ++i) {
      for (double& x : b.in) x = text == &docking() ? i / 8 : std::sin(0.1 * i);
      zv_rig_step(other.get(), b.in.data(), b.out.data());
    }
    CHECK_SAME("outputs", b.out.data(), a.out.data(), static_cast<std::ptrdiff_t>(a.out.size()));
    zv_rig_get_state(rig.get(), a.state.data());
    zv_rig_get_state(other.get(), b.state.data());
    CHECK_SAME("states", b.state.data(), a.state.data(), static_cast<std::ptrdiff_t>(a.state.size()));
  }
}
