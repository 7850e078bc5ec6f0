// URDF text to a chain, strictly, as Chain.from_urdf of Python reads it. Text is untrusted.
#pragma once

#include <memory>
#include <string_view>

#include <zveno/model/chain.hpp>

namespace zveno {

// whether the first visible character begins an element
bool looks_like_xml(std::string_view text);

// Throws TextError where the text is no XML, ModelError where it is no robot. Gravity is 9.81 m/s^2 along -z. Limits, dry
// friction and damping have no part in the chain, as in Python by default.
std::shared_ptr<const Chain> chain_of_urdf(std::string_view text);

}  // namespace zveno
