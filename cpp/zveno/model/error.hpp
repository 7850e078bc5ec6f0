#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace zveno {

// data that make no mechanical sense; names the link
class ModelError : public std::runtime_error {
 public:
  ModelError(std::string link, const std::string& message) : std::runtime_error(message), link(std::move(link)) {}
  std::string link;  // empty when the fault is not one link's
};

// what looks wrong but can be computed with: (link, text)
using Suspicions = std::vector<std::pair<std::string, std::string>>;

// a number in a message
std::string number_text(double x);

}  // namespace zveno
