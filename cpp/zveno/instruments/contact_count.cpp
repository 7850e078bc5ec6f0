#include <zveno/instruments/count.hpp>

#include <zveno/kernel/contact/contact.hpp>

namespace zveno {

std::vector<StageCounts> count_contact() {
  using V = AnyVec<Counted>;
  RingShape shape{};
  shape.sign = 1, shape.root_radius = 0.555, shape.tip_radius = 0.44, shape.height = 0.11;
  shape.root_half_angle = 0.51, shape.tip_half_angle = 0.19, shape.fillet = shape.window = 0.01;
  shape.extension = 0.02, shape.thickness = 0.06;
  ContactLaw law;
  law.blend = 2e-4, law.friction = 0.1, law.creep_speed = 5e-3;
  const contact::Petals petals(shape);
  const contact::Direction<Counted> middle{Counted(1.0), Counted(0.0)};
  const contact::Spot<Counted> spot{1e6, 8, Counted(0.06), V{0.05, 0.5, 0.1}};
  const V v{0.01, 0.02, 0.03};
  const auto counted = [&](const auto& touch) {
    Counted::reset();
    contact::respond(law, spot, touch(contact::Place<Counted>(spot.at)), v);
    return Counted::now();
  };
  using P = contact::Place<Counted>;
  return {{"edge", counted([&](const P& p) { return contact::edge(petals, p, middle); })},
          {"side", counted([&](const P& p) { return contact::side(petals, p, middle); })},
          {"face", counted([&](const P& p) { return contact::face(0.585, 0.05, 100.0, p); })}};
}

}  // namespace zveno
