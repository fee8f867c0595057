#include "limber/articulated/column_gradient.h"

#include <algorithm>
#include <cmath>

namespace limber::articulated {

using multibody::Link;

namespace {

constexpr double way_of_pose = 1e-5, way_of_twist = 1e-4;  // errors: their squares, and 1e-16 over them

// Which probe each column of the layout is of.
std::vector<const Probe*> probes_of_columns(const SystemData& s) {
  std::vector<const Probe*> out;
  for (const Probe& p : s.columns) {
    result::Layout one;
    observe::add_columns(s.model, {p}, one);
    out.insert(out.end(), one.scalars.size(), &p);
  }
  return out;
}

bool sees_all(Quantity q) {
  switch (q) {
    case Quantity::kinetic_energy:
    case Quantity::gravity_energy:
    case Quantity::elastic_energy:
    case Quantity::total_energy:
    case Quantity::total_momentum:
    case Quantity::total_angular_momentum:
      return true;
    default:
      return false;
  }
}

double sum(const result::Snapshot& at, std::span<const WeightedColumn> columns) {
  double out = 0;
  for (const WeightedColumn& c : columns) out += c.weight * at.scalars[static_cast<std::size_t>(c.column)];
  return out;
}

// By every coordinate and rate, through all that is observed.
void by_coordinates(const System& system, const State& state, Workspace& workspace,
                    std::span<const WeightedColumn> columns, std::vector<double>& q_bar,
                    std::vector<double>& v_bar) {
  const SystemData& s = system.data();
  State moved = state;
  const auto look = [&] { return sum_of_columns(system, moved, workspace, columns); };
  double fastest = 0;
  for (std::size_t n = 0; n < state.v.size(); ++n)
    fastest = std::max(fastest, std::abs(state.v[n]) * s.rate_unit[n]);
  for (const Link& link : s.tree.links())
    for (int k = 0; k < link.dofs; ++k) {
      const auto n = static_cast<std::size_t>(link.v + k);
      double way[6] = {};
      way[k] = 1;
      const auto at = [&](double by) {
        multibody::integrate_joint(link.kind, state.q.data() + link.q, way, by, moved.q.data() + link.q);
        return look();
      };
      const double d = way_of_pose / s.rate_unit[n], e = way_of_twist * (1 + fastest) / s.rate_unit[n];
      q_bar[n] += (at(d) - at(-d)) / (2 * d);
      std::copy_n(state.q.data() + link.q, multibody::coordinate_count(link.kind), moved.q.data() + link.q);
      moved.v[n] = state.v[n] + e;
      const double up = look();
      moved.v[n] = state.v[n] - e;
      v_bar[n] += (up - look()) / (2 * e);
      moved.v[n] = state.v[n];
    }
}

// By every link's pose and twist, and by joints' coordinates and rates beside them, through the columns
// alone; then from the links to the joints.
class ByLinks {
 public:
  ByLinks(const System& system, const State& state, Workspace& workspace,
          std::span<const WeightedColumn> columns)
      : s_(system.data()), state_(state), moved_(state), w_(workspace.data()), columns_(columns) {
    multibody::kinematics(s_.tree, state.q.data(), state.v.data(), w_.links);
    links_ = w_.links;
    at_.resize(s_.layout);
    here_ = look();
    for (const LinkMotion& m : links_) speed_ = std::max(speed_, m.V.cwiseAbs().maxCoeff());
  }

  void add_to(std::vector<double>& q_bar, std::vector<double>& v_bar) {
    std::vector<Vec6> pose(links_.size(), Vec6::Zero()), twist(pose);
    for (int i = 0; i < s_.tree.size(); ++i) {
      if (is_seen(i)) find_link(i, pose[i], twist[i]);
      if (joint_is_seen(i)) find_joint(i, q_bar, v_bar);
    }
    // V = X⁻¹V_p + S v.
    for (int i = s_.tree.size() - 1; i >= 0; --i) {
      const Link& link = s_.tree[i];
      const double *q = state_.q.data() + link.q, *v = state_.v.data() + link.v;
      const multibody::Subspace S = multibody::motion_subspace(link, q);
      const Vec6 own = multibody::joint_twist(link.kind, link.lead, q, v), V_in = links_[i].V - own;
      const Vec6 rho = pose[i] - cross_force(V_in, twist[i]);
      for (int k = 0; k < link.dofs; ++k) {
        double way[6] = {}, up[7], down[7];
        q_bar[link.v + k] += S.col(k).dot(rho);
        v_bar[link.v + k] += S.col(k).dot(twist[i]);
        if (!multibody::axes_turn(link.kind)) continue;
        way[k] = 1;
        multibody::integrate_joint(link.kind, q, way, way_of_pose, up);
        multibody::integrate_joint(link.kind, q, way, -way_of_pose, down);
        const Vec6 turned = multibody::joint_twist(link.kind, link.lead, up, v) -
                            multibody::joint_twist(link.kind, link.lead, down, v);
        q_bar[link.v + k] += twist[i].dot(turned) / (2 * way_of_pose);
      }
      if (link.parent < 0) continue;
      pose[link.parent] += links_[i].X_PM.force(pose[i]);
      twist[link.parent] += links_[i].X_PM.force(twist[i]);
    }
  }

 private:
  double look() {
    put_scalars_placed(s_, moved_, w_, {}, at_);
    return sum(at_, columns_);
  }
  double moved(int i, const Vec6& pose, const Vec6& twist) {
    w_.links[i].X_WM = links_[i].X_WM * math::se3_exp(pose);
    w_.links[i].V = links_[i].V + twist;
    const double out = look();
    w_.links[i] = links_[i];
    return out;
  }
  // Any of its numbers: along a way that no probe is likely to be blind to.
  bool is_seen(int i) {
    Vec6 way;
    way << 0.31, -0.47, 0.59, 0.71 * s_.size, -0.23 * s_.size, 0.37 * s_.size;
    return moved(i, 1e-3 * way, (1 + speed_) * way) != here_;
  }
  bool joint_is_seen(int i) {
    const Link& link = s_.tree[i];
    if (link.dofs == 0) return false;
    const double way[6] = {0.31e-3, -0.47e-3, 0.59e-3, 0.71e-3, -0.23e-3, 0.37e-3};
    multibody::integrate_joint(link.kind, state_.q.data() + link.q, way, 1, moved_.q.data() + link.q);
    for (int k = 0; k < link.dofs; ++k) moved_.v[link.v + k] += way[k];
    const bool out = look() != here_;
    moved_.q = state_.q, moved_.v = state_.v;
    return out;
  }
  void find_link(int i, Vec6& pose, Vec6& twist) {
    for (int d = 0; d < 6; ++d) {
      const double by = way_of_pose * (d < 3 ? 1 : s_.size), e = way_of_twist * (1 + speed_);
      Vec6 way = Vec6::Zero();
      way[d] = 1;
      pose[d] = (moved(i, by * way, Vec6::Zero()) - moved(i, -by * way, Vec6::Zero())) / (2 * by);
      twist[d] = (moved(i, Vec6::Zero(), e * way) - moved(i, Vec6::Zero(), -e * way)) / (2 * e);
    }
  }
  void find_joint(int i, std::vector<double>& q_bar, std::vector<double>& v_bar) {
    const Link& link = s_.tree[i];
    for (int k = 0; k < link.dofs; ++k) {
      const auto n = static_cast<std::size_t>(link.v + k);
      const double d = way_of_pose / s_.rate_unit[n], e = way_of_twist * (1 + speed_);
      double way[6] = {};
      way[k] = 1;
      const auto at = [&](double by) {
        multibody::integrate_joint(link.kind, state_.q.data() + link.q, way, by, moved_.q.data() + link.q);
        const double out = look();
        moved_.q = state_.q;
        return out;
      };
      const auto with = [&](double by) {
        moved_.v[n] = state_.v[n] + by;
        const double out = look();
        moved_.v[n] = state_.v[n];
        return out;
      };
      q_bar[n] += (at(d) - at(-d)) / (2 * d);
      v_bar[n] += (with(e) - with(-e)) / (2 * e);
    }
  }

  const SystemData& s_;
  const State& state_;
  State moved_;
  WorkspaceData& w_;
  std::span<const WeightedColumn> columns_;
  std::vector<LinkMotion> links_;
  result::Snapshot at_;
  double here_ = 0, speed_ = 0;
};

}  // namespace

double sum_of_columns(const System& system, const State& state, Workspace& workspace,
                      std::span<const WeightedColumn> columns) {
  result::Snapshot at;
  put_scalars(system, state, workspace, at);
  return sum(at, columns);
}

void add_column_gradient(const System& system, const State& state, Workspace& workspace,
                         std::span<const WeightedColumn> columns, std::vector<double>& q_bar,
                         std::vector<double>& v_bar) {
  const SystemData& s = system.data();
  const std::vector<const Probe*> probes = probes_of_columns(s);
  const bool all = s.asks_forces || std::ranges::any_of(columns, [&](const WeightedColumn& c) {
                     return sees_all(probes[static_cast<std::size_t>(c.column)]->quantity);
                   });
  if (all) return by_coordinates(system, state, workspace, columns, q_bar, v_bar);
  ByLinks(system, state, workspace, columns).add_to(q_bar, v_bar);
}

}  // namespace limber::articulated
