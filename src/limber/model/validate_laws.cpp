// What is wrong with laws: of joints, springs and bushings.
#include <fmt/format.h>

#include <cmath>

#include "limber/model/validate.h"

namespace limber {
namespace {

class LawProblems {
 public:
  LawProblems(const char* kind, const std::string& name, std::vector<Problem>& out)
      : kind_(kind), name_(name), out_(out) {}

  void add(const char* field, std::string message) {
    out_.push_back({kind_, name_, field, std::move(message)});
  }
  void non_negative(const char* field, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      add(field, fmt::format("must be zero or positive, got {:.6g}", value));
  }
  void finite(const char* field, double value) {
    if (!std::isfinite(value)) add(field, fmt::format("must be finite, got {:.6g}", value));
  }
  void spring(const char* field, const Law& law) {
    if (!law) return;
    const math::Dual at = law.at(0);
    if (!std::isfinite(at.value) || !std::isfinite(at.rate))
      add(field, fmt::format("must have a value and a slope at 0, got {:.6g} and {:.6g}", at.value, at.rate));
  }
  // What is at rest has no damper: its force vanishes with the rate.
  void damper(const char* field, const Law& law) {
    spring(field, law);
    if (law && std::isfinite(law.value(0)) && law.value(0) != 0)
      add(field, fmt::format("must be 0 where the rate is 0, got {:.6g}", law.value(0)));
  }

 private:
  const char* kind_;
  const std::string& name_;
  std::vector<Problem>& out_;
};

void check_friction(const JointExtras& e, int i, JointKind kind, LawProblems& p) {
  p.non_negative("friction", e.friction_static[i]);
  p.non_negative("friction", e.friction_dynamic[i]);
  p.non_negative("friction", e.friction_velocity[i]);
  if (e.friction_dynamic[i] > e.friction_static[i])
    p.add("friction", fmt::format("static must not be less than dynamic, got {:.6g} and {:.6g}",
                                  e.friction_static[i], e.friction_dynamic[i]));
  if (e.friction_static[i] > 0 && has_rotation_vector(kind) && i < 3)
    p.add("friction",
          fmt::format("a {} joint turns about no axis of its own: it has no dry friction", to_string(kind)));
}

void check_stop(const JointLaw& law, int i, JointKind kind, LawProblems& p) {
  const JointExtras& e = *law.extras;
  p.non_negative("stop_stiffness", e.stop_stiffness[i]);
  p.non_negative("stop_damping", e.stop_damping[i]);
  if (e.stop_stiffness[i] == 0 && e.stop_damping[i] > 0)
    p.add("stop_damping", "needs a stop_stiffness: a rigid stop has no rate to damp");
  if (e.stop_stiffness[i] > 0 && has_rotation_vector(kind))
    p.add("stop_stiffness", fmt::format("the stops of a {} joint are rigid", to_string(kind)));
  if (e.stop_stiffness[i] > 0 && law.restitution > 0)
    p.add("restitution", "is of rigid stops; these have a stop_stiffness");
}

// Symmetric to what is typed, and positive semidefinite.
void check_matrix(const char* field, const Mat6& A, LawProblems& p) {
  if (!A.allFinite()) return p.add(field, "must be finite");
  constexpr double rounding = 1e-9;
  const double size = A.norm();
  for (int i = 0; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j)
      if (std::abs(A(i, j) - A(j, i)) > rounding * size)
        return p.add(field,
                     fmt::format("must be symmetric: row {} column {} is {:.6g}, row {} column {} {:.6g}",
                                 i + 1, j + 1, A(i, j), j + 1, i + 1, A(j, i)));
  // Turns and shifts have other units: scaled to a unit diagonal.
  Vec6 scale;
  for (int i = 0; i < 6; ++i) {
    if (A(i, i) < 0 || (A(i, i) == 0 && A.row(i).norm() > 0))
      return p.add(field, "must be positive semidefinite");
    scale[i] = A(i, i) > 0 ? 1 / std::sqrt(A(i, i)) : 0;
  }
  Mat6 unit = scale.asDiagonal() * A * scale.asDiagonal();
  unit = (0.5 * (unit + unit.transpose())).eval();
  // Elimination with the largest pivot first finds a negative direction, if there is one.
  for (int round = 0; round < 6; ++round) {
    int k = 0;
    for (int i = 1; i < 6; ++i)
      if (unit(i, i) > unit(k, k)) k = i;
    for (int i = 0; i < 6; ++i)
      if (unit(i, i) < -rounding) return p.add(field, "must be positive semidefinite");
    const double pivot = unit(k, k);
    if (!(pivot > rounding)) break;
    const Vec6 column = unit.col(k);
    unit -= column * column.transpose() / pivot;
  }
  if (unit.norm() > 1e-6) p.add(field, "must be positive semidefinite");
}

}  // namespace

void find_law_problems(const char* kind, const std::string& name, JointKind joint, const JointLaw& law,
                       std::vector<Problem>& out) {
  if (!law.extras) return;
  LawProblems p(kind, name, out);
  for (int i = 0; i < dof_count(joint); ++i) {
    p.spring("spring_force", law.extras->spring[i]);
    p.damper("damping_force", law.extras->damper[i]);
    p.finite("preload", law.extras->preload[i]);
    check_stop(law, i, joint, p);
    check_friction(*law.extras, i, joint, p);
  }
}

void find_law_problems(const Spring& s, std::vector<Problem>& out) {
  LawProblems p("spring", s.name, out);
  p.spring("spring_force", s.force);
  p.damper("damping_force", s.damper);
  p.finite("preload", s.preload);
  if (s.force && s.stiffness != 0) p.add("spring_force", "give either a stiffness or this");
  if (s.damper && s.damping != 0) p.add("damping_force", "give either a damping or this");
  if (s.tension_only && s.force)
    p.add("tension_only", "is of a stiffness; let the spring_force itself end, as max(0, …) does");
  if (s.tension_only && s.preload != 0)
    p.add("preload", "a cable that only pulls has none: give it a shorter rest_length");
}

void find_law_problems(const Bushing& x, int bodies, std::vector<Problem>& out) {
  LawProblems p("bushing", x.name, out);
  for (const auto& [id, field] : {std::pair{x.a, "a"}, std::pair{x.b, "b"}})
    if (id.value < -1 || id.value >= bodies) p.add(field, "refers to a body that does not exist");
  if (x.a == x.b) p.add("b", "a bushing needs two bodies");
  if (!x.X_AF.p.allFinite() || !x.X_AF.R.allFinite()) p.add("a_frame", "must be finite");
  if (!x.X_BM.p.allFinite() || !x.X_BM.R.allFinite()) p.add("b_frame", "must be finite");
  check_matrix("stiffness", x.stiffness, p);
  check_matrix("damping", x.damping, p);
}

void find_law_problems(const Coupling& c, std::vector<Problem>& out) {
  if (!c.profile) return;
  LawProblems p("coupling", c.name, out);
  if (c.terms.size() != 2 || c.terms[0].factor != 1 || c.terms[1].factor != -1)
    p.add("profile", "a cam has two coordinates: a follower, 1, and a cam, -1");
  const math::Jet at = c.profile.jet_at(0);
  if (!std::isfinite(at.value) || !std::isfinite(at.rate) || !std::isfinite(at.second))
    p.add("profile",
          fmt::format("must have a value, a slope and a curvature at 0, got {:.6g}, {:.6g} and {:.6g}",
                      at.value, at.rate, at.second));
}

}  // namespace limber
