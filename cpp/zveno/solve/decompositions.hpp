// Eigen's decompositions, compiled once: instantiating them takes longer than everything around them.
#pragma once

#include <Eigen/Dense>

extern template class Eigen::JacobiSVD<Eigen::MatrixXd>;
extern template class Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;
extern template class Eigen::HouseholderQR<Eigen::MatrixXd>;
