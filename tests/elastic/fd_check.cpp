#include "tests/elastic/fd_check.h"

#include <Eigen/Eigenvalues>

namespace limber::testing {

::testing::AssertionResult is_psd(const MatX& H) {
  const double scale = std::max(H.cwiseAbs().maxCoeff(), 1e-300);
  const double skew = (H - H.transpose()).cwiseAbs().maxCoeff() / scale;
  if (!(skew < 1e-14)) return ::testing::AssertionFailure() << "asymmetry " << skew << " in\n" << H;
  const double least =
      Eigen::SelfAdjointEigenSolver<MatX>(H, Eigen::EigenvaluesOnly).eigenvalues()[0] / scale;
  if (!(least > -1e-13))
    return ::testing::AssertionFailure() << "eigenvalue " << least << " (relative) in\n" << H;
  return ::testing::AssertionSuccess();
}

}  // namespace limber::testing
