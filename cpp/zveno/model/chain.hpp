// Chain: the compiled model. Immutable after construction, shared by threads.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <zveno/model/body.hpp>
#include <zveno/model/params.hpp>
#include <zveno/model/topology.hpp>

namespace zveno {

enum class LinkKind : std::uint8_t { fixed, revolute, prismatic };

// A link as the user describes it: the joint frame J stands at (rotation, position) in the parent link's frame, the link
// frame is J moved by q about or along `axis`; the body is given in the link frame. Besides what the body needs, the joint
// needs the effort rotor_inertia qdd + friction qd + stiffness (q - rest).
struct LinkSpec {
  std::string name, parent, joint_name;
  LinkKind kind = LinkKind::revolute;
  Vec3<double> axis{0, 0, 1}, position{0, 0, 0};
  Mat3<double> rotation = diagonal(1.0);
  BodySpec body;
  double rotor_inertia = 0, friction = 0, stiffness = 0, rest = 0;
};

// where the user's link frame U stands in a body of the compiled model (kWorld: in the base)
struct LinkFrame {
  int body;
  Mat3<double> R_BU;
  Vec3<double> p_BoUo_B;
  int link = -1;                // index into links(), -1 for the base
  bool stands_on_body = false;  // R_BU is 1 and p_BoUo_B is 0
};

class Chain {
 public:
  // throws ModelError
  Chain(std::string name, std::string base, const Vec3<double>& gravity, std::vector<LinkSpec> links);

  int n() const { return topology_.size(); }
  const std::string& name() const { return name_; }
  const std::string& base() const { return base_; }
  const Vec3<double>& gravity() const { return gravity_; }
  const Topology& topology() const { return topology_; }
  ModelView<double> view() const { return {&topology_, body_.data()}; }
  const BodyParams<double>& body(int b) const { return body_[b]; }

  // moving joints in the user's order; user_index[b] is the place of body b in q
  const std::vector<int>& user_index() const { return user_index_; }
  const std::vector<int>& body_of_joint() const { return body_of_joint_; }
  bool identity_order() const { return identity_order_; }
  const std::vector<std::string>& joint_names() const { return joint_names_; }

  // per body
  const std::vector<double>& offset() const { return offset_; }
  const std::vector<Turn<double>>& fixed_turn() const { return fixed_turn_; }  // of the offset
  const std::vector<int>& turning() const { return turning_; }                 // revolute ones
  bool has_offset() const { return has_offset_; }                              // one of them
  const std::vector<double>& rotor_inertia() const { return rotor_; }
  const std::vector<double>& friction() const { return friction_; }
  const std::vector<double>& stiffness() const { return stiffness_; }
  const std::vector<double>& rest() const { return rest_; }  // q of the unloaded spring
  const std::vector<double>& tiny_pivot() const { return tiny_pivot_; }
  bool has_rotor() const { return has_rotor_; }
  bool has_friction() const { return has_friction_; }
  bool has_spring() const { return has_spring_; }
  // frame of the link that body b's joint moves, in body b: the user's frame of the joint
  const LinkFrame& joint_frame(int b) const { return frames_[link_of_body_[b]]; }

  const std::vector<LinkSpec>& links() const { return links_; }
  const LinkFrame& frame(int link) const { return frames_[link]; }
  // the links that make up body b, indices into links(): the one that its joint moves, then what is welded to it
  const std::vector<int>& links_of_body(int b) const { return links_of_body_[b]; }
  // pairs of a joint and a link that it moves, by joints of the user and then by links: where those of each body begin
  const std::vector<int>& first_pair() const { return first_pair_; }
  int pairs() const { return pairs_; }
  // kBase for the base, kNoLink if unknown
  int find_link(const std::string& name) const {
    const auto it = index_.find(name);
    if (it != index_.end()) return it->second;
    return name == base_ ? kBase : kNoLink;
  }
  static constexpr int kBase = -1, kNoLink = -2;

  double total_mass() const { return total_mass_; }
  // of links welded to the base, about its origin: they matter in the base wrench only
  const Moments<double>& base_moments() const { return base_moments_; }

  const Suspicions& suspicions() const { return suspicions_; }

 private:
  std::string name_, base_;
  Vec3<double> gravity_;
  std::vector<LinkSpec> links_;
  std::unordered_map<std::string, int> index_;
  Topology topology_;
  std::vector<BodyParams<double>> body_;
  std::vector<Turn<double>> fixed_turn_;
  std::vector<double> offset_, rotor_, friction_, stiffness_, rest_, tiny_pivot_;
  std::vector<int> user_index_, body_of_joint_, link_of_body_, first_pair_, turning_;
  int pairs_ = 0;
  std::vector<LinkFrame> frames_;
  std::vector<std::vector<int>> links_of_body_;
  std::vector<std::string> joint_names_;
  Suspicions suspicions_;
  double total_mass_ = 0;
  Moments<double> base_moments_{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
  bool identity_order_ = true, has_rotor_ = false, has_friction_ = false, has_spring_ = false, has_offset_ = false;
};

}  // namespace zveno
