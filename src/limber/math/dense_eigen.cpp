#include <Eigen/Eigenvalues>

#include "limber/math/dense.h"

namespace limber::math {

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(A);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

SymmetricEigen symmetric_eigen(const MatX& A, const MatX& B) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> eigen(A, B);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

}  // namespace limber::math
