#include <zveno/solve/decompositions.hpp>

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;
template class Eigen::HouseholderQR<Eigen::MatrixXd>;
