#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "limber/math/dense.h"

namespace limber::math {

MatX inverse(const MatX& A) { return A.inverse(); }
VecX solve_square(const MatX& A, const VecX& b) { return A.partialPivLu().solve(b); }

std::optional<VecX> solve_full_rank(const MatX& A, const VecX& b) {
  const Eigen::FullPivLU<MatX> lu(A);
  if (lu.rank() < A.cols()) return {};
  return VecX(lu.solve(b));
}

struct Cholesky::Factor {
  Eigen::LLT<MatX> llt;
};
Cholesky::Cholesky() : factor_(std::make_unique<Factor>()) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(const Cholesky& other) : factor_(std::make_unique<Factor>(*other.factor_)) {}
Cholesky& Cholesky::operator=(const Cholesky& other) {
  *factor_ = *other.factor_;
  return *this;
}
void Cholesky::compute(const MatX& A) { factor_->llt.compute(A); }
void Cholesky::solve(VecX& b) const { factor_->llt.solveInPlace(b); }
void Cholesky::solve_lower(MatX& B) const { factor_->llt.matrixL().solveInPlace(B); }

struct Lu::Factor {
  Eigen::PartialPivLU<MatX> lu;
};
Lu::Lu() : factor_(std::make_unique<Factor>()) {}
Lu::~Lu() = default;
Lu::Lu(const Lu& other) : factor_(std::make_unique<Factor>(*other.factor_)) {}
Lu& Lu::operator=(const Lu& other) {
  *factor_ = *other.factor_;
  return *this;
}
void Lu::compute(const MatX& A) { factor_->lu.compute(A); }
void Lu::solve(const MatX& B, MatX& X) const { X = factor_->lu.solve(B); }
void Lu::solve(const VecX& b, VecX& x) const { x = factor_->lu.solve(b); }

}  // namespace limber::math
