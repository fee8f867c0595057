// Decompositions of dense matrices, each compiled once here: Eigen's templates cost 5 to 20 s in every file
// that uses one. The algorithms are Eigen's; what is kernel work on small fixed sizes stays inline where it
// is used.
#pragma once

#include <memory>
#include <optional>

#include "limber/math/types.h"

namespace limber::math {

// A symmetric matrix by its eigenvalues, ascending, and unit eigenvectors.
struct SymmetricEigen {
  VecX values;
  MatX vectors;
};
SymmetricEigen symmetric_eigen(const MatX& A);
SymmetricEigen symmetric_eigen(const MatX& A, const MatX& B);  // A x = λ B x, B positive definite, xᵀ B x = 1

// The same for the sizes of a joint: N = 1 … 6.
template <int N>
struct SmallEigen {
  Eigen::Matrix<double, N, 1> values;
  Eigen::Matrix<double, N, N> vectors;
};
template <int N>
SmallEigen<N> small_eigen(const Eigen::Matrix<double, N, N>& A);
Vec3 small_eigenvalues(const Mat3& A);

// Directions that rows of C see (the first `rank` columns of Q) and do not see (the others), Q orthogonal; a
// row counts from 1e-9 of the largest on.
struct RowSpace {
  MatX Q;
  int rank = 0;
};
RowSpace row_space(const MatX& C);

MatX orthonormal_columns(const MatX& A, int count);  // the first `count`, largest first
MatX nearest_rotation(const MatX& A);                // U Vᵀ of A = U S Vᵀ
MatX inverse(const MatX& A);
struct PseudoInverse {
  MatX inverse;
  int rank = 0;
};
PseudoInverse pseudo_inverse(const MatX& A);

VecX solve_square(const MatX& A, const VecX& b);  // by LU with row pivots
std::optional<VecX> solve_full_rank(const MatX& A,
                                    const VecX& b);      // by LU with full pivots; nothing if singular
VecX solve_least_squares(const MatX& A, const VecX& b);  // by QR with column pivots
VecX solve_least_norm(const MatX& A, const VecX& b);     // of all least-squares solutions the shortest

// Factors that are kept, computed into the same memory again and again.
class Cholesky {
 public:
  Cholesky();
  ~Cholesky();
  Cholesky(const Cholesky& other);
  Cholesky& operator=(const Cholesky& other);
  void compute(const MatX& A);
  void solve(VecX& b) const;        // A⁻¹ b in place
  void solve_lower(MatX& B) const;  // L⁻¹ B in place, A = L Lᵀ

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};
class Lu {
 public:
  Lu();
  ~Lu();
  Lu(const Lu& other);
  Lu& operator=(const Lu& other);
  void compute(const MatX& A);
  void solve(const MatX& B, MatX& X) const;
  void solve(const VecX& b, VecX& x) const;

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

}  // namespace limber::math
