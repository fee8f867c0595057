#include <Eigen/Eigenvalues>

#include "limber/math/dense.h"

namespace limber::math {

template <int N>
SmallEigen<N> small_eigen(const Eigen::Matrix<double, N, N>& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, N, N>> eigen(A);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}
template SmallEigen<1> small_eigen(const Eigen::Matrix<double, 1, 1>&);
template SmallEigen<2> small_eigen(const Eigen::Matrix<double, 2, 2>&);
template SmallEigen<3> small_eigen(const Eigen::Matrix<double, 3, 3>&);
template SmallEigen<4> small_eigen(const Eigen::Matrix<double, 4, 4>&);
template SmallEigen<5> small_eigen(const Eigen::Matrix<double, 5, 5>&);
template SmallEigen<6> small_eigen(const Eigen::Matrix<double, 6, 6>&);

Vec3 small_eigenvalues(const Mat3& A) {
  return Eigen::SelfAdjointEigenSolver<Mat3>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace limber::math
