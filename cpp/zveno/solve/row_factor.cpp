#include <zveno/solve/row_factor.hpp>

#include <algorithm>

#include <Eigen/QR>

namespace zveno {

void add_rows(double* R, int k, const double* rows, std::int64_t m) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int most = std::max(128, 3 * k);  // rows that stay in the cache together with R
  Eigen::MatrixXd stack(k + most, k);
  Eigen::Map<RowMajor> upper(R, k, k);
  for (std::int64_t first = 0; first < m; first += most) {
    const int count = static_cast<int>(std::min<std::int64_t>(most, m - first));
    stack.topRows(k) = upper;
    stack.middleRows(k, count) = Eigen::Map<const RowMajor>(rows + first * k, count, k);
    Eigen::Ref<Eigen::MatrixXd> used = stack.topRows(k + count);
    const Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> qr(used);
    upper.setZero();
    upper.triangularView<Eigen::Upper>() = used.topRows(k);
  }
}

}  // namespace zveno
