// Times zveno's forward dynamics of a linkage written by bench/compare.py, one call a state.
//   linkage_zveno <linkage.txt> <seconds per function>
// Prints JSON: for every set of results nanoseconds per call and the largest deviation from the accelerations in the file.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <zveno/batch/rows.hpp>
#include <zveno/solve/close.hpp>

#include "measure.hpp"
#include "program.hpp"

namespace {

double number(std::istream& in) {
  double value = 0;
  in >> value;
  return value;
}

int whole(std::istream& in) { return int(number(in)); }

zveno::Vec3<double> vector(std::istream& in) {
  const double x = number(in), y = number(in), z = number(in);
  return {x, y, z};
}

zveno::Mat3<double> matrix(std::istream& in) {
  zveno::Mat3<double> m;
  for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = number(in);
  return m;
}

std::string called(int link) { return link < 0 ? "base" : "l" + std::to_string(link); }

zveno::LinkSpec link(std::istream& in, int index) {
  zveno::LinkSpec l;
  l.name = called(index);
  l.joint_name = "j" + std::to_string(index);
  l.parent = called(whole(in));
  l.kind = static_cast<zveno::LinkKind>(whole(in));
  l.axis = vector(in);
  l.position = vector(in);
  l.rotation = matrix(in);
  l.body.mass = number(in);
  l.body.com = vector(in);
  l.body.inertia = matrix(in);
  return l;
}

zveno::LoopSide side(std::istream& in, const zveno::Chain& chain) {
  const int index = chain.find_link(called(whole(in)));
  const zveno::LinkFrame frame =
      index == zveno::Chain::kBase ? zveno::LinkFrame{zveno::kWorld, zveno::diagonal(1.0), {0, 0, 0}} : chain.frame(index);
  zveno::LoopSide s;
  s.body = frame.body;
  s.R = times(frame.R_BU, matrix(in));
  s.p = frame.p_BoUo_B + times(frame.R_BU, vector(in));
  s.R_U = frame.R_BU;
  return s;
}

zveno::LoopRow row(std::istream& in) {
  zveno::LoopRow r;
  r.type = static_cast<zveno::RowType>(whole(in));
  r.axis = whole(in);
  r.terms = whole(in);
  for (int k = 0; k < r.terms; ++k) r.term[k] = {whole(in), whole(in), number(in)};
  r.scale = number(in);
  r.c = number(in);
  return r;
}

std::unique_ptr<zveno::Linkage> linkage(std::istream& in) {
  const zveno::Vec3<double> gravity = vector(in);
  std::vector<zveno::LinkSpec> links;
  for (int k = 0, count = whole(in); k < count; ++k) links.push_back(link(in, k));
  const auto chain = std::make_shared<const zveno::Chain>("linkage", "base", gravity, links);
  const double length = number(in), open = number(in);
  std::vector<zveno::LoopConstraint> constraints;
  std::vector<zveno::LoopRow> rows;
  for (int k = 0, count = whole(in); k < count; ++k) {
    zveno::LoopConstraint c;
    c.name = "loop" + std::to_string(k);
    c.a = side(in, *chain);
    c.b = side(in, *chain);
    c.coefficients.assign(chain->n(), 0.0);
    c.first = int(rows.size());
    c.count = whole(in);
    for (int i = 0; i < c.count; ++i) rows.push_back(row(in));
    constraints.push_back(c);
  }
  return std::make_unique<zveno::Linkage>(chain, length, open, 0, constraints, rows);
}

struct State {
  std::vector<double> q, qd, tau, expected;
};

// `outputs`: one bit for each result
zveno::Failure call(const zveno::Linkage& linkage, zveno::LinkageFunction function, const State& s, unsigned outputs,
                    double* const* out) {
  zveno::LinkageJob job(linkage, function, &zveno::choose_rows);
  job.outputs = outputs;
  zveno::Rows rows;
  rows[zveno::Param::q].data = s.q.data();
  rows[zveno::Param::qd].data = s.qd.data();
  rows[zveno::Param::tau].data = s.tau.data();
  for (int k = 0; k < zveno::output_count(job); ++k)
    if (outputs >> k & 1) rows.out[k] = out[k];
  rows.count = 1;
  rows.check_inputs = true;
  return zveno::kernel_table().run(job, rows, 0, 1);
}

void run(const char* path, double seconds) {
  std::ifstream in(path);
  const std::unique_ptr<zveno::Linkage> model = linkage(in);
  const int n = model->chain().n(), m = model->rows();
  std::vector<State> states(std::size_t(whole(in)));
  for (State& s : states)
    for (std::vector<double>* part : {&s.q, &s.qd, &s.tau, &s.expected}) {
      part->resize(n);
      for (double& x : *part) x = number(in);
    }
  if (!in || states.empty()) throw std::runtime_error(std::string("cannot read linkage from ") + path);

  std::vector<double> G(states.size() * m * n);
  for (std::size_t k = 0; k < states.size(); ++k) {
    double* to = G.data() + k * m * n;
    if (call(*model, zveno::LinkageFunction::constraint_jacobian, states[k], 1, &to))
      throw std::runtime_error("no Jacobian");
  }
  model->choose(zveno::choose_rows(*model, G.data(), int(states.size())));

  constexpr auto kFunction = zveno::LinkageFunction::forward_dynamics;
  const zveno::LinkageJob job(*model, kFunction);
  std::vector<std::vector<double>> results;
  std::vector<double*> out;
  for (int k = 0; k < zveno::output_count(job); ++k) results.emplace_back(zveno::output_size(job, k));
  for (std::vector<double>& x : results) out.push_back(x.data());
  const struct {
    const char* name;
    unsigned outputs;
  } kinds[] = {{"qdd", 1}, {"qdd and multipliers", 3}, {"everything", zveno::kEverything}};
  const char* between = "{";
  for (const auto& kind : kinds) {
    const auto one = [&](std::size_t k) {
      if (call(*model, kFunction, states[k], kind.outputs, out.data())) throw std::runtime_error("forward dynamics failed");
      return out[0][0];
    };
    const double deviation = bench::deviation(
        states.size(), n, [&](std::size_t k) { return one(k), out[0]; },
        [&](std::size_t k) { return states[k].expected.data(); });
    const double nanoseconds = bench::best_of(states.size(), seconds, one);
    std::printf("%s\"%s\": {\"ns\": %.1f, \"deviation\": %.1e}", between, kind.name, nanoseconds, deviation);
    between = ",\n ";
  }
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 2, "<linkage.txt> <seconds per function>", [&] { run(argv[1], std::atof(argv[2])); });
}
