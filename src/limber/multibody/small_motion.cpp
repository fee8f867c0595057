#include "limber/multibody/small_motion.h"

#include <algorithm>

namespace limber::multibody {

SmallMotion::SmallMotion(const Tree& t, const Pattern& p)
    : tree(t),
      pattern(p),
      K(tree, pattern),
      D(tree, pattern),
      mass(tree.size(), Mat6::Zero()),
      X_WM(tree.size()),
      closing_compliance(pattern.loops.size(), Mat6::Zero()),
      lock_index_(tree.size(), -1),
      gaba_(tree, pattern, false),
      scratch_(gaba_),
      rhs_(K),
      x_(K),
      product_(tree.size()) {}

void SmallMotion::set_locks(const JointLock* locks, int count) {
  locks_.assign(locks, locks + count);
  std::fill(lock_index_.begin(), lock_index_.end(), -1);
  for (int k = 0; k < count; ++k) {
    locks_[k].g.setZero();
    lock_index_[locks_[k].link] = k;
  }
  K.locks = count > 0 ? locks_.data() : nullptr;
  K.lock_index = count > 0 ? lock_index_.data() : nullptr;
}

bool SmallMotion::factor() {
  if (!gaba_.factor(K, true)) {
    bad_link_ = gaba_.bad_link();
    return false;
  }
  // A pivot that had to be moved is a direction in which nothing pushes back.
  bad_link_ = gaba_.directions().moved > 0 ? gaba_.directions().least_link : -1;
  return gaba_.directions().moved == 0;
}

void SmallMotion::solve(const std::vector<Vec6>& wrench, const std::vector<double>& tau, Response& out) {
  rhs_.wrench = wrench;
  rhs_.tau = tau;
  for (Vec6& g : rhs_.g) g.setZero();
  gaba_.solve(rhs_, scratch_, x_, true);
  out.twist = x_.twist;
  out.rates = x_.a;
}

double SmallMotion::kinetic(const Response& a, const Response& b) const {
  double sum = 0;
  for (int i = 0; i < tree.size(); ++i) sum += a.twist[i].dot(mass[i] * b.twist[i]);
  return sum;
}

double SmallMotion::damping(const Response& a, const Response& b) {
  blocks_times(D, b.twist.data(), product_.data());
  double sum = 0;
  for (int i = 0; i < tree.size(); ++i) sum += a.twist[i].dot(product_[i]);
  for (const Link& link : tree.links())
    for (int i = 0; i < link.dofs; ++i)
      for (int j = 0; j < link.dofs; ++j)
        sum += a.rates[link.v + i] * D.joint[link.block + j * link.dofs + i] * b.rates[link.v + j];
  return sum;
}

Vec6 SmallMotion::body_twist(int link, const Vec6& twist) const {
  const Mat3& R = X_WM[link].R;
  Vec6 in_M;
  in_M << R.transpose() * twist.head<3>(), R.transpose() * twist.tail<3>();
  return tree[link].X_MB.inverse_motion(in_M);
}

Vec6 SmallMotion::world_wrench(int link, const Vec6& wrench_B) const {
  const Mat3& R = X_WM[link].R;
  const Vec6 in_M = tree[link].X_MB.force(wrench_B);
  Vec6 out;
  out << R * in_M.head<3>(), R * in_M.tail<3>();
  return out;
}

}  // namespace limber::multibody
