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
  out.inverse = MatX::Zero(n, n);
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
    const VecX dual = eigen.vectors.col(n - 1 - k).cwiseQuotient(scale);
    out.inverse += dual * dual.transpose() / values[n - 1 - k];
  }
  out.basis = scale.asDiagonal() * eigen.vectors.rightCols(cut).rowwise().reverse();
  return out;
}

namespace {

// Half a turn against the mechanism's radius. Twists are (rad, m).
VecX twist_scale(int ends, double radius) {
  VecX out = VecX::Constant(6 * ends, pi);
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
  Builder(const Mechanism& m, const Rest& rest, const BuildOptions& options)
      : m_(m), rest_(rest), motion_(rest.motion), options_(options), ends_(static_cast<int>(m.ends.size())) {
    refuse();
    respond_to_ends();
    C_ = MatX::Zero(6 * ends_, 6 * ends_);
    for (int c = 0; c < 6 * ends_; ++c) C_.col(c) = end_twists(free_[c]);
    C_ = 0.5 * (C_ + C_.transpose()).eval();
    if (options_.construction == Construction::walk) C_ = walk_compliance(motion_, m_.ends);
    K_ = invert_in_range(C_, twist_scale(ends_, m_.radius), motion_.tree.v_count());
    if (K_.rank == 0) throw std::invalid_argument("its end effectors cannot move");
    hold_shapes();
  }

  // Rates of the joints in all directions: those of the ends, then of internal vibrations.
  MatX directions() {
    MatX out(motion_.tree.v_count(), K_.rank + m_.modes);
    for (int c = 0; c < K_.rank; ++c) out.col(c) = rates(shapes_[c]);
    const std::vector<Response> modes = find_modes();
    for (int k = 0; k < m_.modes; ++k) out.col(K_.rank + k) = rates(modes[k]) / size_of(modes[k]);
    return rest_.rate_to_change * out;
  }

  Point build() {
    Point out;
    out.C = C_, out.K = K_.inverse, out.rank = K_.rank;
    hold_coordinates();
    const int n = m_.coordinates(), inputs = static_cast<int>(m_.inputs.size());
    out.M.resize(n, n), out.D.resize(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        out.M(i, j) = out.M(j, i) = motion_.kinetic(columns_[i], columns_[j]);
        out.D(i, j) = motion_.damping(columns_[i], columns_[j]);
        out.D(j, i) = motion_.damping(columns_[j], columns_[i]);
      }
    out.D = 0.5 * (out.D + out.D.transpose()).eval();
    if (options_.inertia != InertiaKind::condensed) replace_inertia(out);
    out.response = MatX::Zero(n + inputs, n + inputs);
    out.response.topLeftCorner(n, n) = stiffness_;
    respond_to_inputs(out);
    store_maps(out);
    store_momentum(out);
    store_watched(out);
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

  // Shapes of the whole that move the ends along the basis of their range: T C⁺ basis.
  void hold_shapes() {
    const MatX load = K_.inverse * K_.basis;
    shapes_.assign(K_.rank, zero_like(motion_));
    for (int c = 0; c < K_.rank; ++c)
      for (int r = 0; r < 6 * ends_; ++r)
        if (load(r, c) != 0) add(shapes_[c], load(r, c), free_[r]);
  }

  VecX rates(const Response& r) const {
    return Eigen::Map<const VecX>(r.rates.data(), motion_.tree.v_count());
  }
  // How far its links move at most, in half turns and radii.
  double size_of(const Response& r) const {
    double most = 0;
    for (int l = 0; l < motion_.tree.size(); ++l) {
      const Vec6 V = motion_.body_twist(l, r.twist[l]);
      most = std::max({most, V.head<3>().norm() / pi, V.tail<3>().norm() / m_.radius});
    }
    return most;
  }
  Response moved_by(const VecX& tau) {
    Response out;
    motion_.solve(std::vector<Vec6>(motion_.tree.size(), Vec6::Zero()),
                  std::vector<double>(tau.data(), tau.data() + tau.size()), out);
    return out;
  }

  // Shapes per unit of each coordinate: the static shapes of the ends and, for as many coordinates as these
  // leave open, what their labels' forces do while the ends stand still; then all turned so that the labels
  // are the unit matrix. Where the ends have more directions than there are coordinates: of all shapes with
  // given labels the one of least energy.
  void hold_coordinates() {
    const int n = m_.coordinates();
    const MatX labels = rest_.rate_to_change.transpose() * m_.labels;
    MatX L(n, K_.rank);
    for (int c = 0; c < K_.rank; ++c) L.col(c) = labels.transpose() * rates(shapes_[c]);
    std::vector<Response> S = shapes_;
    MatX energy = K_.basis.transpose() * K_.inverse * K_.basis;
    if (const int open = n - K_.rank; open > 0) {
      MatX unit = L;
      for (int c = 0; c < unit.cols(); ++c) unit.col(c).normalize();
      const MatX N = math::row_space(unit.transpose()).Q.rightCols(open);
      MatX forces = labels * N, more(open, open);
      for (int k = 0; k < open; ++k) {
        Response r = moved_by(forces.col(k));
        hold_ends(K_.inverse, r);
        for (int other = 0; other < open; ++other) more(other, k) = forces.col(other).dot(rates(r));
        S.push_back(std::move(r));
      }
      L.conservativeResize(n, n);
      energy.conservativeResize(n, n);
      energy.topRightCorner(K_.rank, open).setZero(), energy.bottomLeftCorner(open, K_.rank).setZero();
      energy.bottomRightCorner(open, open) = 0.5 * (more + more.transpose());
      for (int k = 0; k < open; ++k) L.col(K_.rank + k) = labels.transpose() * rates(S[K_.rank + k]);
    }
    const MatX soft = math::inverse(energy) * L.transpose();
    stiffness_ = math::inverse(L * soft);
    turn_ = soft * stiffness_;
    if (!turn_.allFinite()) throw std::invalid_argument("its joints do not tell how its end effectors move");
    stiffness_ = 0.5 * (stiffness_ + stiffness_.transpose()).eval();
    columns_.assign(n, zero_like(motion_));
    for (int c = 0; c < n; ++c)
      for (int r = 0; r < static_cast<int>(S.size()); ++r)
        if (turn_(r, c) != 0) add(columns_[c], turn_(r, c), S[r]);
    labels_ = labels;
  }

  // x less what the ends' motion in it makes: the ends stand still.
  void hold_ends(const MatX& K, Response& x) const {
    const VecX f = K * end_twists(x);
    for (int c = 0; c < 6 * ends_; ++c)
      if (f[c] != 0) add(x, -f[c], free_[c]);
  }

  // Lowest vibrations with the ends held, by subspace iteration with K⁻¹.
  std::vector<Response> find_modes() {
    const int wanted = m_.modes;
    if (wanted == 0) return {};
    const int inner = motion_.tree.v_count() - K_.rank;
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
        hold_ends(K_.inverse, Y[c]);
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
    X.resize(wanted);
    for (int k = 0; k < wanted; ++k)
      if (!(values[k] > 0) || !(motion_.kinetic(X[k], X[k]) > 0))
        throw std::invalid_argument(fmt::format("it has fewer than {} internal vibrations", wanted));
    return X;
  }

  // What a unit of each input does with the coordinates held: r − B c, c = Wᵀ r the labels of its free
  // response r; the energy's mixed derivative is −H c, the one by inputs −τᵀ r + cᵀ H c.
  void respond_to_inputs(Point& out) {
    const int n = m_.coordinates(), inputs = static_cast<int>(m_.inputs.size());
    MatX c(n, inputs), work(inputs, inputs);
    std::vector<VecX> tau(inputs, VecX::Zero(motion_.tree.v_count()));
    for (int k = 0; k < inputs; ++k) {
      tau[k][motion_.tree[m_.inputs[k].joint].v + m_.inputs[k].dof] = m_.inputs[k].gain;
      Response r = moved_by(tau[k]);
      c.col(k) = labels_.transpose() * rates(r);
      for (int other = 0; other <= k; ++other) work(other, k) = work(k, other) = tau[other].dot(rates(r));
      for (int i = 0; i < n; ++i) add(r, -c(i, k), columns_[i]);
      columns_.push_back(std::move(r));
    }
    out.response.topRightCorner(n, inputs) = -stiffness_ * c;
    out.response.bottomLeftCorner(inputs, n) = out.response.topRightCorner(n, inputs).transpose();
    out.response.bottomRightCorner(inputs, inputs) = c.transpose() * stiffness_ * c - work;
  }

  // Of the ends' own directions; others keep the links'.
  void replace_inertia(Point& out) const {
    MatX A = options_.inertia == InertiaKind::published ? walk_accelerability(motion_, m_.ends)
                                                        : operational_accelerability();
    const MatX own =
        K_.basis.transpose() * invert_in_range(A, twist_scale(ends_, m_.radius), K_.rank).inverse * K_.basis;
    MatX links(K_.rank, K_.rank);
    for (int i = 0; i < K_.rank; ++i)
      for (int j = 0; j < K_.rank; ++j) links(i, j) = motion_.kinetic(shapes_[i], shapes_[j]);
    const MatX on_ends = turn_.topRows(K_.rank);
    out.M += on_ends.transpose() * (own - links) * on_ends;
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

  void store_maps(Point& out) const {
    const int links = motion_.tree.size(), columns = m_.columns();
    out.X.resize(links);
    out.map.resize(static_cast<std::size_t>(links) * 6 * columns);
    for (int l = 0; l < links; ++l) {
      out.X[l] = motion_.X_WM[l] * motion_.tree[l].X_MB;
      double* map = out.map.data() + static_cast<std::size_t>(l) * 6 * columns;
      for (int c = 0; c < columns; ++c)
        Eigen::Map<Vec6>{map + 6 * c} = motion_.body_twist(l, columns_[c].twist[l]);
    }
  }

  void store_momentum(Point& out) const {
    out.momentum = MatX::Zero(6, m_.coordinates());
    out.inertia = Inertia{};
    for (int l = 0; l < motion_.tree.size(); ++l) {
      const Pose& X = out.X[l];
      out.inertia += m_.inertias[l].in_frame(X);
      const double* map = out.map.data() + static_cast<std::size_t>(l) * 6 * m_.columns();
      for (int c = 0; c < out.momentum.cols(); ++c)
        out.momentum.col(c) += X.force(m_.inertias[l].momentum(Eigen::Map<const Vec6>(map + 6 * c)));
    }
  }

  // A force on a watched coordinate moves it by rᵀ H⁻¹ r through the coordinates a, and by the rest beside
  // them.
  void store_watched(Point& out) {
    const int n = m_.coordinates(), count = m_.watched();
    out.watched_rows = MatX::Zero(count, m_.columns());
    out.watched_compliance = MatX::Zero(count, count);
    const auto place = [&](int k) {
      const auto [joint, dof] = m_.watched_joint(k);
      return motion_.tree[joint].v + dof;
    };
    for (int k = 0; k < count; ++k) {
      for (int c = 0; c < m_.columns(); ++c) out.watched_rows(k, c) = columns_[c].rates[place(k)];
      const Response r = moved_by(VecX::Unit(motion_.tree.v_count(), place(k)));
      for (int other = 0; other < count; ++other) out.watched_compliance(other, k) = r.rates[place(other)];
    }
    if (count == 0) return;
    const MatX rows = out.watched_rows.leftCols(n);
    out.watched_compliance -= rows * math::inverse(stiffness_) * rows.transpose();
    for (int k = 0; k < count; ++k)
      out.watched_compliance(k, k) = std::max(out.watched_compliance(k, k), 0.0);
  }

  const Mechanism& m_;
  const Rest& rest_;
  SmallMotion& motion_;
  BuildOptions options_;
  int ends_;
  MatX C_;
  RangeInverse K_;
  std::vector<Response> free_;     // (6 ends) unit wrenches on the ends
  std::vector<Response> shapes_;   // (rank) along the basis of the ends' range
  std::vector<Response> columns_;  // (n + inputs) unit coordinates; unit inputs with these held
  MatX labels_;                    // (rates × n) per rate of the joints where they are
  MatX turn_, stiffness_;          // shapes to columns; H
};

// Least squares in the joints' rates, slides by the radius and hinges by half a turn.
MatX labels_of(const MatX& directions, const multibody::Tree& tree, double radius) {
  VecX unit = VecX::Constant(directions.rows(), pi);
  for (const multibody::Link& link : tree.links()) {
    if (link.kind == JointKind::prismatic) unit[link.v] = radius;
    if (link.kind == JointKind::free) unit.segment<3>(link.v + 3).setConstant(radius);
  }
  const MatX scaled = unit.cwiseProduct(unit).cwiseInverse().asDiagonal() * directions;
  return scaled * math::inverse(directions.transpose() * scaled);
}

}  // namespace

bool extend_coordinates(Mechanism& m, const Rest& rest, const BuildOptions& options) {
  const MatX here = Builder(m, rest, options).directions();
  const int had = static_cast<int>(m.directions.cols()), more = static_cast<int>(here.cols()) - had;
  if (more <= 0) return false;
  if (had == 0) {
    m.rest = rest.x;
    m.directions = here;
  } else {
    const MatX left = here - m.directions * (m.labels.transpose() * here);
    MatX scaled = left;
    for (int c = 0; c < left.cols(); ++c) scaled.col(c) /= here.col(c).norm();
    const MatX added = math::orthonormal_columns(scaled, more) * (m.directions.norm() / std::sqrt(had));
    m.directions.conservativeResize(Eigen::NoChange, had + more);
    m.directions.rightCols(more) = added;
  }
  m.labels = labels_of(m.directions, rest.motion.tree, m.radius);
  return true;
}

Point make_point(const Mechanism& mechanism, const Rest& rest, const BuildOptions& options) {
  return Builder(mechanism, rest, options).build();
}

}  // namespace limber::rom
