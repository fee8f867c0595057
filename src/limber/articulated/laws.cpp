// Laws of joints beyond plain springs and dampers (model/joint.h, elastic/joint_law.h): of each coordinate
// f(q − rest) − preload, stops that give, d(rate). A step takes the positive part of a slope into its matrix
// and the exact force into its residual, so that it converges to the law itself.
#include <algorithm>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

const JointLaw& law_of(const SystemData& s, const ExtraLaw& e) { return s.model.joints()[e.link].law; }

elastic::CoordinateLaw spring_at(const SystemData& s, const ExtraLaw& e, const double* q) {
  const JointLaw& law = law_of(s, e);
  elastic::CoordinateLaw out = elastic::extra_spring(*law.extras, e.dof, q[e.q] - law.rest[e.dof]);
  const elastic::CoordinateLaw stop = elastic::extra_stop(law, e.dof, q[e.q]);
  out.energy += stop.energy, out.force += stop.force, out.slope += stop.slope;
  return out;
}

double& diagonal_of(const SystemData& s, const ExtraLaw& e, std::vector<double>& blocks) {
  const multibody::Link& link = s.tree[e.link];
  return blocks[link.block + e.dof * link.dofs + e.dof];
}

}  // namespace

void compile_extra_laws(SystemData& s) {
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    if (!s.model.joints()[i].law.extras) continue;
    for (int k = 0; k < link.dofs; ++k)
      s.extra_laws.push_back({i, k, link.v + k, has_rotation_vector(link.kind) ? -1 : link.q + k});
  }
}

void add_extra_laws(const SystemData& s, const double* q, const double* v, const Weights& weights,
                    WorkspaceData& w) {
  for (const ExtraLaw& e : s.extra_laws) {
    double& block = diagonal_of(s, e, w.joint_block);
    if (e.q >= 0) {
      const elastic::CoordinateLaw at = spring_at(s, e, q);
      const double slope = std::max(at.slope, 0.0);
      w.tau[e.v] -= at.force + weights.ahead * slope * v[e.v];
      block += weights.k * slope;
    }
    const math::Dual damper = elastic::extra_damper(law_of(s, e), e.dof, e.q >= 0 ? q[e.q] : 0, v[e.v]);
    w.tau[e.v] -= damper.value;
    block += weights.d * std::max(damper.rate, 0.0);
    w.dissipated_power += damper.value * v[e.v];
  }
}

double extra_energy(const SystemData& s, const double* q) {
  double sum = 0;
  for (const ExtraLaw& e : s.extra_laws)
    if (e.q >= 0) sum += spring_at(s, e, q).energy;
  return sum;
}

void add_extra_stiffness(const SystemData& s, const double* q, bool clamp,
                         std::vector<double>& joint_blocks) {
  for (const ExtraLaw& e : s.extra_laws) {
    if (e.q < 0) continue;
    const double slope = spring_at(s, e, q).slope;
    diagonal_of(s, e, joint_blocks) += clamp ? std::max(slope, 0.0) : slope;
  }
}

math::Dual damper_force(const JointLaw& law, int dof, double q, double rate) {
  math::Dual out{law.damping[dof] * rate, law.damping[dof]};
  if (!law.extras) return out;
  const math::Dual more = elastic::extra_damper(law, dof, q, rate);
  return {out.value + more.value, out.rate + more.rate};
}

}  // namespace limber::articulated
