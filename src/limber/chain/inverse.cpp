#include "limber/chain/inverse.h"

#include <stdexcept>

#include "limber/math/so3.h"

namespace limber::chain {

Structure unloaded(const Structure& s, double factor) {
  if (!s.closures.empty())
    throw std::invalid_argument(
        "tie \"" + s.closures[0].name +
        "\": what it carries does not follow from the shape; the unloaded shape is found "
        "for trees that are held by their roots");
  const Rest rest = at_rest(s);
  Balance b;
  b.resize(s.links.count());
  turn(s, rest.shape, b);
  place(s, b);  // as it is given: nothing has moved
  Ties ties;
  ties.build(s, b, factor, rest.lambda);
  weigh(s, rest.shape, factor, ties.tugs(), false, b);
  Structure out = s;
  for (int k = 0; k < s.links.count(); ++k) {
    const Vec3 m = b.R[k].transpose() * b.tau[k];
    const Vec3 theta = joint_angle(s.links.stiffness[k], m, s.links.hinge[k] != 0);
    out.links.set_rest(k, s.links.R_f[k] * math::so3_exp(-theta));
    const int p = s.links.parent[k];
    const Vec3 force = p < 0 ? b.N[k] : Vec3(b.R[p].transpose() * b.N[k]);
    out.links.p_f[k] -= s.links.compliance[k] * force;
  }
  return out;
}

StaticReport opposite_load(Solver& solver, Rest& rest, const StaticOptions& options) {
  return solver.solve(rest, -1, options);
}

}  // namespace limber::chain
