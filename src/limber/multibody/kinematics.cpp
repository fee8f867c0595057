// Forward pass: X_WM = X_WP X_PM, V = X_PM⁻¹ V_P + S v, c = V × S v + S̊ v (Featherstone 2008, table 5.1).
#include "limber/multibody/kinematics.h"

#include "limber/multibody/parallel_walk.h"

namespace limber::multibody {

void kinematics(const Tree& tree, const double* q, const double* v, std::vector<LinkMotion>& links,
                Workers* workers) {
  walk_forward(tree, workers, [&](int i) {
    const Link& link = tree[i];
    LinkMotion& m = links[i];
    const double* qi = q + link.q;
    const double* vi = v + link.v;
    m.X_PM = link.X_PF * joint_transform(link.kind, qi);
    const Vec6 V_J = joint_twist(link.kind, qi, vi);
    if (link.parent >= 0) {
      const LinkMotion& p = links[link.parent];
      m.X_WM = p.X_WM * m.X_PM;
      m.V = m.X_PM.inverse_motion(p.V) + V_J;
    } else {
      m.X_WM = m.X_PM;
      m.V = V_J;
    }
    m.c = cross_motion(m.V, V_J) + joint_twist_rate(link.kind, qi, vi);
  });
}

void poses(const Tree& tree, const double* q, std::vector<LinkMotion>& links, Workers* workers) {
  walk_forward(tree, workers, [&](int i) {
    const Link& link = tree[i];
    LinkMotion& m = links[i];
    m.X_PM = link.X_PF * joint_transform(link.kind, q + link.q);
    m.X_WM = link.parent >= 0 ? links[link.parent].X_WM * m.X_PM : m.X_PM;
  });
}

void integrate(const Tree& tree, const double* q, const double* v, double h, double* q_out) {
  for (const Link& link : tree.links()) integrate_joint(link.kind, q + link.q, v + link.v, h, q_out + link.q);
}

double kinetic_energy(const Tree& tree, const std::vector<LinkMotion>& links) {
  double sum = 0;
  for (int i = 0; i < tree.size(); ++i) sum += 0.5 * links[i].V.dot(tree[i].inertia.momentum(links[i].V));
  return sum;
}

bool stands(const Tree& tree, int link) {
  while (link >= 0 && tree[link].dofs == 0) link = tree[link].parent;
  return link < 0;
}

Vec3 moved_mass(const Tree& tree, const std::vector<LinkMotion>& links) {
  Vec3 sum = Vec3::Zero();
  for (int i = 0; i < tree.size(); ++i) {
    if (stands(tree, i)) continue;
    const Inertia& I = tree[i].inertia;
    sum += links[i].X_WM.R * I.h + I.m * links[i].X_WM.p;
  }
  return sum;
}

double gravity_energy(const Tree& tree, const std::vector<LinkMotion>& links, const Vec3& g) {
  double sum = 0;
  for (int i = 0; i < tree.size(); ++i) {
    if (stands(tree, i)) continue;
    const Inertia& I = tree[i].inertia;
    sum -= g.dot(links[i].X_WM.R * I.h + I.m * links[i].X_WM.p);
  }
  return sum;
}

Vec6 momentum_in_world(const Tree& tree, const std::vector<LinkMotion>& links) {
  Vec6 sum = Vec6::Zero();
  for (int i = 0; i < tree.size(); ++i) sum += links[i].X_WM.force(tree[i].inertia.momentum(links[i].V));
  return sum;
}

}  // namespace limber::multibody
