// For sources that are compiled without Eigen (FMUs): their model has passed model/checks.cpp when it was exported, and is
// no URDF.
#include <zveno/model/body.hpp>
#include <zveno/rig/urdf.hpp>

namespace zveno {

std::vector<std::string> check_body(const BodySpec&, const std::string&, const std::string&) { return {}; }

// those of chains are the nearest already, and of chains of other legs than custom ones only the size matters
Mat3<double> nearest_rotation(const Mat3<double>& R) { return R; }

bool looks_like_xml(std::string_view) { return false; }
std::shared_ptr<const Chain> chain_of_urdf(std::string_view) { throw ModelError("", "this library reads no URDF"); }

}  // namespace zveno
