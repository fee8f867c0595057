#include <Eigen/QR>
#include <Eigen/SVD>

#include "limber/math/dense.h"

namespace limber::math {

RowSpace row_space(const MatX& C) {
  const Eigen::Index n = C.cols();
  if (C.rows() == 0) return {MatX::Identity(n, n), 0};
  const Eigen::ColPivHouseholderQR<MatX> qr(C.transpose());
  const VecX diagonal = qr.matrixR().diagonal().cwiseAbs();
  const double largest = diagonal.size() > 0 ? diagonal.maxCoeff() : 0;
  RowSpace out;
  for (const double d : diagonal) out.rank += d > 1e-9 * largest && d > 0;
  out.Q = qr.householderQ() * MatX::Identity(n, n);
  return out;
}

MatX orthonormal_columns(const MatX& A, int count) {
  const Eigen::ColPivHouseholderQR<MatX> qr(A);
  return qr.householderQ() * MatX::Identity(A.rows(), count);
}

MatX nearest_rotation(const MatX& A) {
  const Eigen::JacobiSVD<MatX> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return svd.matrixU() * svd.matrixV().transpose();
}

PseudoInverse pseudo_inverse(const MatX& A) {
  const Eigen::CompleteOrthogonalDecomposition<MatX> qr(A);
  return {qr.pseudoInverse(), static_cast<int>(qr.rank())};
}

VecX solve_least_squares(const MatX& A, const VecX& b) { return A.colPivHouseholderQr().solve(b); }
VecX solve_least_norm(const MatX& A, const VecX& b) { return A.completeOrthogonalDecomposition().solve(b); }

}  // namespace limber::math
