// One linearisation point: wrenches on the ends, one at a time, on the linearised and constrained structure
// give the compliance of the ends and the twist map of every link at once (Andrews et al., sections 4 and 5,
// by a Schur complement instead of a walk, so that loops may be anywhere).
//
//   T = J K⁻¹ J_eᵀ restricted to loops,   C = J_e K⁻¹ J_eᵀ,   B = T C⁺,   M_u = Bᵀ M B,   D_u = Bᵀ D B
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/math/dense.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {

using multibody::SmallMotion;
using Response = SmallMotion::Response;

const char* to_string(InertiaKind kind) {
  constexpr const char* names[] = {"condensed", "operational", "published"};
  return names[static_cast<int>(kind)];
}

const char* to_string(Construction construction) {
  return construction == Construction::exact ? "exact" : "walk";
}

RangeInverse invert_in_range(const MatX& A, const VecX& scale, int most) {
  const int n = static_cast<int>(A.rows());
  const MatX scaled = scale.cwiseInverse().asDiagonal() * A * scale.cwiseInverse().asDiagonal();
  const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (scaled + scaled.transpose()));
  const VecX& values = eigen.values;  // ascending
  const double largest = std::max(std::abs(values[0]), std::abs(values[n - 1]));
  RangeInverse out;
  out.inverse = out.projector = MatX::Zero(n, n);
  if (!(largest > 0)) return out;
  // What rounding leaves of a direction that the mechanism does not have is far below what it has: the widest
  // gap of the spectrum's lower part, never more than its degrees of freedom.
  int kept = 0;
  while (kept < std::min(n, most) && values[n - 1 - kept] > 1e-13 * largest) ++kept;
  double widest = 1e3;
  int cut = kept;
  for (int k = 1; k < kept; ++k) {
    const double below = values[n - 1 - k] / largest, ratio = values[n - k] / values[n - 1 - k];
    if (below < 1e-9 && ratio > widest) widest = ratio, cut = k;
  }
  out.rank = cut;
  for (int k = 0; k < cut; ++k) {
    const VecX q = scale.cwiseProduct(eigen.vectors.col(n - 1 - k));
    const VecX dual = eigen.vectors.col(n - 1 - k).cwiseQuotient(scale);
    out.inverse += dual * dual.transpose() / values[n - 1 - k];
    out.projector += q * dual.transpose();
  }
  if (cut == n) out.projector.setIdentity();
  return out;
}

namespace {

// scale: a radian against the mechanism's radius. Twists are (rad, m).
VecX twist_scale(int ends, int modes, double radius) {
  VecX out = VecX::Ones(6 * ends + modes);
  for (int e = 0; e < ends; ++e) out.segment<3>(6 * e + 3).setConstant(radius);
  return out;
}

void add(Response& to, double factor, const Response& from) {
  for (std::size_t i = 0; i < to.twist.size(); ++i) to.twist[i] += factor * from.twist[i];
  for (std::size_t i = 0; i < to.rates.size(); ++i) to.rates[i] += factor * from.rates[i];
}

Response zero_like(const SmallMotion& motion) {
  return {std::vector<Vec6>(motion.tree.size(), Vec6::Zero()),
          std::vector<double>(motion.tree.v_count(), 0.0)};
}

class Builder {
 public:
  Builder(const Mechanism& m, SmallMotion& motion, const BuildOptions& options)
      : m_(m), motion_(motion), options_(options), ends_(static_cast<int>(m.ends.size())) {}

  Point build() {
    refuse();
    respond_to_ends();
    Point out;
    MatX C = MatX::Zero(6 * ends_, 6 * ends_);
    for (int c = 0; c < 6 * ends_; ++c) C.col(c) = end_twists(free_[c]);
    C = 0.5 * (C + C.transpose()).eval();
    if (options_.construction == Construction::walk) C = walk_compliance(motion_, m_.ends);
    const VecX scale = twist_scale(ends_, 0, m_.radius);
    const RangeInverse K = invert_in_range(C, scale, motion_.tree.v_count());
    if (K.rank == 0) throw std::invalid_argument("its end effectors cannot move");
    hold_shapes(K.inverse);
    find_modes(K);
    respond_to_inputs(K.inverse);

    const int n = 6 * ends_ + m_.modes, inputs = static_cast<int>(m_.inputs.size());
    out.C = MatX::Zero(n, n), out.K = MatX::Zero(n, n);
    out.C.topLeftCorner(6 * ends_, 6 * ends_) = C;
    out.K.topLeftCorner(6 * ends_, 6 * ends_) = K.inverse;
    for (int k = 0; k < m_.modes; ++k) {
      const int at = 6 * ends_ + k;
      out.K(at, at) = mode_values_[k];
      out.C(at, at) = 1 / mode_values_[k];
    }
    out.rank = K.rank + m_.modes;
    out.M.resize(n, n), out.D.resize(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        out.M(i, j) = out.M(j, i) = motion_.kinetic(shapes_[i], shapes_[j]);
        out.D(i, j) = motion_.damping(shapes_[i], shapes_[j]);
        out.D(j, i) = motion_.damping(shapes_[j], shapes_[i]);
      }
    out.D = 0.5 * (out.D + out.D.transpose()).eval();
    if (options_.inertia != InertiaKind::condensed) replace_inertia(K, out);
    out.input_force = input_force_;
    store_maps(inputs, out);
    // An end moves as its own coordinates say: without the rounding of T C⁺.
    for (int e = 0; e < ends_; ++e) {
      double* map = out.map.data() + static_cast<std::size_t>(m_.ends[e]) * 6 * (n + inputs);
      std::fill(map, map + 6 * (n + inputs), 0.0);
      for (int c = 0; c < 6 * ends_; ++c) Eigen::Map<Vec6>{map + 6 * c} = K.projector.block<6, 1>(6 * e, c);
    }
    store_momentum(out);
    store_watched(K.inverse, inputs, out);
    return out;
  }

 private:
  void refuse() {
    if (!motion_.factor())
      throw std::invalid_argument(fmt::format("nothing holds \"{}\": a joint without stiffness is free",
                                              m_.names[motion_.bad_link()]));
    if (motion_.directions().negative > 0) throw std::invalid_argument("it is not stable where it rests");
  }

  VecX end_twists(const Response& r) const {
    VecX out(6 * ends_);
    for (int e = 0; e < ends_; ++e)
      out.segment<6>(6 * e) = motion_.body_twist(m_.ends[e], r.twist[m_.ends[e]]);
    return out;
  }

  void respond_to_ends() {
    std::vector<Vec6> wrench(motion_.tree.size(), Vec6::Zero());
    const std::vector<double> none(motion_.tree.v_count(), 0.0);
    free_.resize(6 * ends_);
    for (int e = 0; e < ends_; ++e)
      for (int k = 0; k < 6; ++k) {
        wrench[m_.ends[e]] = motion_.world_wrench(m_.ends[e], Vec6::Unit(k));
        motion_.solve(wrench, none, free_[6 * e + k]);
        wrench[m_.ends[e]].setZero();
      }
  }

  // Shapes of the whole per unit of each end coordinate: B = T C⁺.
  void hold_shapes(const MatX& K) {
    shapes_.assign(6 * ends_, zero_like(motion_));
    for (int c = 0; c < 6 * ends_; ++c)
      for (int r = 0; r < 6 * ends_; ++r)
        if (K(r, c) != 0) add(shapes_[c], K(r, c), free_[r]);
  }

  // x less what the ends' motion in it makes: the ends stand still.
  void hold_ends(const MatX& K, Response& x) const {
    const VecX f = K * end_twists(x);
    for (int c = 0; c < 6 * ends_; ++c)
      if (f[c] != 0) add(x, -f[c], free_[c]);
  }

  // Lowest vibrations with the ends held, by subspace iteration with K⁻¹.
  void find_modes(const RangeInverse& K) {
    const int wanted = m_.modes;
    if (wanted == 0) return;
    const int inner = motion_.tree.v_count() - K.rank;
    const int size = std::min(inner, 2 * wanted + 4);
    if (size < wanted)
      throw std::invalid_argument(fmt::format("it has fewer than {} internal vibrations", wanted));
    std::vector<Response> X(size, zero_like(motion_)), Y = X;
    unsigned seed = 7;
    for (Response& x : X)
      for (Vec6& t : x.twist)
        for (int k = 0; k < 6; ++k) {
          seed = seed * 1664525u + 1013904223u;
          t[k] = (seed >> 8) * (2.0 / 16777216) - 1;
        }
    std::vector<Vec6> wrench(motion_.tree.size());
    const std::vector<double> none(motion_.tree.v_count(), 0.0);
    VecX values = VecX::Zero(size);
    for (int round = 0; round < 200; ++round) {
      MatX stiff(size, size), mass(size, size);
      for (int c = 0; c < size; ++c) {
        for (int i = 0; i < motion_.tree.size(); ++i) wrench[i] = motion_.mass[i] * X[c].twist[i];
        motion_.solve(wrench, none, Y[c]);
        hold_ends(K.inverse, Y[c]);
      }
      // Yᵀ K Y = Yᵀ M X where the ends stand still.
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
          stiff(i, j) = motion_.kinetic(Y[i], X[j]);
          mass(i, j) = motion_.kinetic(Y[i], Y[j]);
        }
      // Directions that are not there (fewer freedoms than asked) have neither: left out by their mass.
      const math::SymmetricEigen ritz = math::symmetric_eigen(
          0.5 * (stiff + stiff.transpose()),
          0.5 * (mass + mass.transpose()) + 1e-14 * mass.trace() * MatX::Identity(size, size));
      for (int c = 0; c < size; ++c) {
        X[c] = zero_like(motion_);
        for (int r = 0; r < size; ++r) add(X[c], ritz.vectors(r, c), Y[r]);
      }
      const double change = (ritz.values - values).head(wanted).cwiseAbs().maxCoeff();
      values = ritz.values;
      if (round > 2 && change <= 1e-11 * std::abs(values[wanted - 1])) break;
    }
    for (int k = 0; k < wanted; ++k) {
      const double mass = motion_.kinetic(X[k], X[k]);
      if (!(values[k] > 0) || !(mass > 0))
        throw std::invalid_argument(fmt::format("it has fewer than {} internal vibrations", wanted));
      Response unit = zero_like(motion_);
      add(unit, 1 / std::sqrt(mass), X[k]);
      shapes_.push_back(std::move(unit));
      mode_values_.push_back(values[k]);
    }
  }

  void respond_to_inputs(const MatX& K) {
    const int inputs = static_cast<int>(m_.inputs.size());
    input_force_ = MatX::Zero(6 * ends_ + m_.modes, inputs);
    const std::vector<Vec6> none(motion_.tree.size(), Vec6::Zero());
    std::vector<double> tau(motion_.tree.v_count(), 0.0);
    for (int k = 0; k < inputs; ++k) {
      const Input& input = m_.inputs[k];
      const int at = motion_.tree[input.joint].v + input.dof;
      tau[at] = input.gain;
      Response r;
      motion_.solve(none, tau, r);
      tau[at] = 0;
      input_force_.col(k).head(6 * ends_) = -K * end_twists(r);
      hold_ends(K, r);
      held_inputs_.push_back(std::move(r));
    }
  }

  void replace_inertia(const RangeInverse& K, Point& out) const {
    MatX A = options_.inertia == InertiaKind::published ? walk_accelerability(motion_, m_.ends)
                                                        : operational_accelerability();
    const VecX scale = twist_scale(ends_, 0, m_.radius);
    out.M.topLeftCorner(6 * ends_, 6 * ends_) = invert_in_range(A, scale, K.rank).inverse;
  }

  // J M⁻¹ Jᵀ within the loops: the same solve with the inertia in the place of the stiffness.
  MatX operational_accelerability() const {
    SmallMotion inert(motion_.tree, motion_.pattern);
    inert.K.origin = motion_.K.origin, inert.K.S = motion_.K.S, inert.K.loops = motion_.K.loops;
    inert.K.diagonal = motion_.mass;
    inert.K.length = motion_.K.length;
    for (Mat6& A : inert.K.off) A.setZero();
    std::fill(inert.K.joint.begin(), inert.K.joint.end(), 0.0);
    inert.X_WM = motion_.X_WM;
    if (!inert.factor()) throw std::invalid_argument("a link of it has no inertia");
    MatX out(6 * ends_, 6 * ends_);
    std::vector<Vec6> wrench(motion_.tree.size(), Vec6::Zero());
    const std::vector<double> none(motion_.tree.v_count(), 0.0);
    Response r;
    for (int c = 0; c < 6 * ends_; ++c) {
      const int end = m_.ends[c / 6];
      wrench[end] = motion_.world_wrench(end, Vec6::Unit(c % 6));
      inert.solve(wrench, none, r);
      wrench[end].setZero();
      out.col(c) = end_twists(r);
    }
    return 0.5 * (out + out.transpose());
  }

  void store_maps(int inputs, Point& out) const {
    const int n = static_cast<int>(shapes_.size()), links = motion_.tree.size();
    out.X.resize(links);
    out.map.resize(static_cast<std::size_t>(links) * 6 * (n + inputs));
    for (int l = 0; l < links; ++l) {
      out.X[l] = motion_.X_WM[l] * motion_.tree[l].X_MB;
      double* map = out.map.data() + static_cast<std::size_t>(l) * 6 * (n + inputs);
      for (int c = 0; c < n + inputs; ++c) {
        const Response& r = c < n ? shapes_[c] : held_inputs_[c - n];
        Eigen::Map<Vec6>{map + 6 * c} = motion_.body_twist(l, r.twist[l]);
      }
    }
  }

  void store_momentum(Point& out) const {
    out.momentum = MatX::Zero(6, static_cast<int>(shapes_.size()));
    out.inertia = Inertia{};
    for (int l = 0; l < motion_.tree.size(); ++l) {
      const Pose& X = out.X[l];
      out.inertia += m_.inertias[l].in_frame(X);
      const double* map = out.map.data() + static_cast<std::size_t>(l) * 6 * m_.columns();
      for (int c = 0; c < out.momentum.cols(); ++c)
        out.momentum.col(c) += X.force(m_.inertias[l].momentum(Eigen::Map<const Vec6>(map + 6 * c)));
    }
  }

  void store_watched(const MatX& K, int inputs, Point& out) {
    const int n = static_cast<int>(shapes_.size()), count = m_.watched();
    out.watched_rows = MatX::Zero(count, n + inputs);
    out.watched_compliance = MatX::Zero(count, count);
    const std::vector<Vec6> none(motion_.tree.size(), Vec6::Zero());
    std::vector<double> tau(motion_.tree.v_count(), 0.0);
    const auto place = [&](int k) {
      const auto [joint, dof] = m_.watched_joint(k);
      return motion_.tree[joint].v + dof;
    };
    for (int k = 0; k < count; ++k) {
      for (int c = 0; c < n + inputs; ++c)
        out.watched_rows(k, c) = (c < n ? shapes_[c] : held_inputs_[c - n]).rates[place(k)];
      tau[place(k)] = 1;
      Response r;
      motion_.solve(none, tau, r);
      tau[place(k)] = 0;
      hold_ends(K, r);
      for (int other = 0; other < count; ++other) out.watched_compliance(other, k) = r.rates[place(other)];
    }
  }

  const Mechanism& m_;
  SmallMotion& motion_;
  BuildOptions options_;
  int ends_;
  std::vector<Response> free_;         // (6 ends) unit wrenches on the ends
  std::vector<Response> shapes_;       // (n) unit coordinates
  std::vector<Response> held_inputs_;  // (inputs) unit inputs, ends held
  std::vector<double> mode_values_;    // [1/s²]
  MatX input_force_;
};

}  // namespace

Point make_point(const Mechanism& mechanism, SmallMotion& motion, const BuildOptions& options) {
  return Builder(mechanism, motion, options).build();
}

}  // namespace limber::rom
