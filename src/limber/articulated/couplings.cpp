// Couplings of joints: gap = Σ factor q − offset (model/coupling.h). A coordinate's rate is that of its two
// links, q̇ = P·(φ − X φ_p) with P the joint's axes and S P = 1, so a coupling is a row over the links of its
// joints and their parents; carried to the joints it is the factors alone:
//
//   rigid    a row of the loops, Σ factor a = … ; it holds position and velocity as closing joints do
//   elastic  a spring k g, V = ½ k g², g the gap beyond ± half the backlash: forces −factor k g on the
//            coordinates, and k row rowᵀ on its links
//
// A cam's gap q_b − f(q_a) − offset has the factor −f′ on the cam: the row turns with it, accelerations have
// −f″ q̇_a² beside it, and a force F on the gap has the stiffness F f″ on the cam (for statics).
#include <algorithm>
#include <array>
#include <cmath>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

// The stretch of an elastic coupling's spring; zero between the flanks.
double stretch_of(const CompiledCoupling& c, double gap) {
  const double half = c.backlash / 2;
  return gap > half ? gap - half : gap < -half ? gap + half : 0;
}
bool touches(const CompiledCoupling& c, double gap) { return std::abs(gap) >= c.backlash / 2; }

// P of one coordinate in world axes: S (SᵀS)⁻¹. Only screws and constant velocity joints need the inverse.
Vec6 axis_of(const multibody::BlockSystem& m, const multibody::Link& link, int link_index, int dof) {
  const auto S = m.subspace(link_index);
  if (link.dofs == 1) return S.col(0) / S.col(0).squaredNorm();
  if (link.kind != JointKind::constant_velocity) return S.col(dof);
  const double a = S.col(0).squaredNorm(), b = S.col(0).dot(S.col(1)), d = S.col(1).squaredNorm();
  const Vec6 x = dof == 0 ? Vec6(d * S.col(0) - b * S.col(1)) : Vec6(a * S.col(1) - b * S.col(0));
  return x / (a * d - b * b);
}

int place_in(const std::vector<int>& links, int link) {
  return static_cast<int>(std::lower_bound(links.begin(), links.end(), link) - links.begin());
}

CompiledCoupling compiled(const SystemData& s, const Coupling& coupling) {
  CompiledCoupling c;
  for (const Coupling::Term& t : coupling.terms) {
    const int i = t.joint.value;
    const multibody::Link& link = s.tree[i];
    // A rotation vector is a quaternion in State::q: one number more.
    c.terms.push_back(
        {i, link.q + t.dof + (has_rotation_vector(link.kind) ? 1 : 0), link.v + t.dof, t.dof, t.factor});
    c.links.push_back(i);
    if (link.parent >= 0) c.links.push_back(link.parent);
  }
  std::sort(c.links.begin(), c.links.end());
  c.links.erase(std::unique(c.links.begin(), c.links.end()), c.links.end());
  c.profile = coupling.profile;
  c.offset = coupling.offset.value_or(0);
  c.rigid = coupling.rigid();
  c.turns = is_rotational(s.tree[c.terms.front().link].kind, c.terms.front().dof);
  c.stiffness = coupling.stiffness.value_or(0);
  c.damping = coupling.damping;
  c.backlash = coupling.backlash;
  return c;
}

}  // namespace

void compile_couplings(SystemData& s) {
  for (const Coupling& coupling : s.model.couplings()) {
    CompiledCoupling c = compiled(s, coupling);
    if (c.rigid) {
      CompiledLoop row;
      row.name = coupling.name;
      row.kind = JointKind::distance;  // as a rod: one row, no coordinates
      row.coupling = static_cast<int>(s.couplings.size());
      c.row = static_cast<int>(s.loops.size());
      s.pattern.loops.push_back({-1, -1, 1, c.links});
      s.loops.push_back(std::move(row));
    } else {
      for (std::size_t i = 0; i < c.links.size(); ++i)
        for (std::size_t j = i + 1; j < c.links.size(); ++j)
          c.pairs.push_back({static_cast<int>(i), static_cast<int>(j), pair_of(s, c.links[i], c.links[j])});
    }
    s.couplings.push_back(std::move(c));
  }
}

void set_coupling_offsets(SystemData& s) {
  for (std::size_t k = 0; k < s.couplings.size(); ++k)
    if (const Coupling& c = s.model.couplings()[k]; !c.offset && !c.profile) {
      s.couplings[k].offset = 0;
      s.couplings[k].offset = coupling_gap(s.couplings[k], s.q0.data());
    }
}

math::Jet profile_at(const CompiledCoupling& c, const double* q) {
  return c.profile ? c.profile.jet_at(q[c.terms[1].q]) : math::Jet{};
}

double slope_of(const CompiledCoupling& c, const CompiledCoupling::Term& t, const math::Jet& profile) {
  return c.profile && &t == &c.terms[1] ? -profile.rate : t.factor;
}

double coupling_gap(const CompiledCoupling& c, const double* q) {
  if (c.profile) return q[c.terms[0].q] - c.profile.value(q[c.terms[1].q]) - c.offset;
  double sum = -c.offset;
  for (const CompiledCoupling::Term& t : c.terms) sum += t.factor * q[t.q];
  return sum;
}

double coupling_rate(const CompiledCoupling& c, const math::Jet& profile, const double* v) {
  double sum = 0;
  for (const CompiledCoupling::Term& t : c.terms) sum += slope_of(c, t, profile) * v[t.v];
  return sum;
}

double coupling_bias(const CompiledCoupling& c, const math::Jet& profile, const double* v) {
  return c.profile ? -profile.second * v[c.terms[1].v] * v[c.terms[1].v] : 0;
}

void put_coupling_row(const SystemData& s, const CompiledCoupling& c, const math::Jet& profile,
                      const multibody::BlockSystem& m, std::vector<Vec6>& row) {
  for (Vec6& on : row) on.setZero();
  for (const CompiledCoupling::Term& t : c.terms) {
    const multibody::Link& link = s.tree[t.link];
    const Vec6 axis = slope_of(c, t, profile) * axis_of(m, link, t.link, t.dof);
    row[place_in(c.links, t.link)] += axis;
    if (link.parent >= 0)
      row[place_in(c.links, link.parent)] -=
          multibody::shift_wrench(axis, m.origin[t.link] - m.origin[link.parent]);
  }
}

void add_profile_stiffness(const SystemData& s, const CompiledCoupling& c, const math::Jet& profile,
                           double force, std::vector<double>& joint_blocks) {
  if (!c.profile) return;
  const CompiledCoupling::Term& cam = c.terms[1];
  const multibody::Link& link = s.tree[cam.link];
  joint_blocks[link.block + cam.dof * link.dofs + cam.dof] += force * profile.second;
}

// Teeth part rather than pull: the energy of their spring is lost then.
double coupling_force(const CompiledCoupling& c, const double* q, const double* v) {
  const double gap = coupling_gap(c, q);
  if (!touches(c, gap)) return 0;
  const double rate = c.damping > 0 ? coupling_rate(c, profile_at(c, q), v) : 0;
  const double force = -c.stiffness * stretch_of(c, gap) - c.damping * rate;
  return c.backlash > 0 && force * gap > 0 ? 0 : force;
}

void add_coupling_forces(const SystemData& s, const double* q, const double* v, const Weights& weights,
                         WorkspaceData& w) {
  for (const CompiledCoupling& c : s.couplings) {
    const double gap = coupling_gap(c, q);
    if (c.rigid || !touches(c, gap)) continue;
    const math::Jet profile = profile_at(c, q);
    const double rate = coupling_rate(c, profile, v), elastic = -c.stiffness * stretch_of(c, gap);
    const double force = coupling_force(c, q, v);
    w.dissipated_power += (elastic - force) * rate;
    if (c.backlash > 0 && force == 0) continue;
    for (const CompiledCoupling::Term& t : c.terms)
      w.tau[t.v] += slope_of(c, t, profile) * (force - weights.ahead * c.stiffness * rate);
  }
}

void add_coupling_blocks(const SystemData& s, const double* q, double d, double k, multibody::BlockSystem& m,
                         std::vector<Vec6>& row) {
  for (const CompiledCoupling& c : s.couplings) {
    if (c.rigid || !touches(c, coupling_gap(c, q))) continue;
    row.resize(c.links.size());
    put_coupling_row(s, c, profile_at(c, q), m, row);
    const double Q = k * c.stiffness + d * c.damping;
    for (std::size_t i = 0; i < row.size(); ++i) m.diagonal[c.links[i]] += Q * row[i] * row[i].transpose();
    for (const auto& [i, j, pair] : c.pairs) m.off[pair] += Q * row[i] * row[j].transpose();
  }
}

double coupling_energy(const SystemData& s, const double* q) {
  double sum = 0;
  for (const CompiledCoupling& c : s.couplings)
    if (!c.rigid) {
      const double stretch = stretch_of(c, coupling_gap(c, q));
      sum += 0.5 * c.stiffness * stretch * stretch;
    }
  return sum;
}

}  // namespace limber::articulated
