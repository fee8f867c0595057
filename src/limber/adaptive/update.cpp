// Keeping the coefficients up to date (Redon and Lin 2005, section 5): a joint that moved changes the nodes
// from its own up to the root, a force those from its body up. Joints move where the back-substitution opened
// parts, and a part is opened after its parent, so all that changed shape is `active`, read from its end.
//
// Poses in the world are made where a force needs them: from a root down, each node's top body from its
// parent's, by the joint's pose and the pose of A's bottom in its top (X01).
#include <algorithm>

#include "limber/adaptive/system.h"

namespace limber::adaptive {

void joint_law(const SystemData& s, int link, const double* q, double t, double h, double* tau,
               double* kappa) {
  const multibody::Link& l = s.tree[link];
  const JointLaw& law = s.model.joints()[link].law;
  const int d = l.dofs;
  double* force = tau + l.v;
  double* block = kappa + l.block;
  std::fill_n(block, d * d, 0.0);
  const double* x = q + l.q;
  const elastic::JointConfiguration c = elastic::configuration_of(l.kind, x);
  const Vec6 gradient = elastic::joint_energy_gradient(l.kind, law, c).gradient;
  const Mat6 K = elastic::joint_hessian_psd(l.kind, law, c);
  for (int k = 0; k < d; ++k) {
    force[k] = -gradient[k];
    for (int m = 0; m < d; ++m) block[k * d + m] = h * h * K(m, k);
    block[k * d + k] += h * law.damping[k];
  }
  if (s.drive_of[link] < 0) return;
  const Drive& drive = s.model.drives()[s.drive_of[link]];
  for (int k = 0; k < d; ++k) {
    const double target = drive.target[k].value(t);
    if (drive.kind == Drive::Kind::force) {
      force[k] += target;
    } else {
      force[k] += drive.kp[k] * (target - x[k]);
      block[k * d + k] += h * h * drive.kp[k] + h * drive.kd[k];
    }
  }
}

double elastic_energy(const SystemData& s, const double* q, const std::vector<multibody::LinkMotion>& links) {
  double sum = 0;
  for (int i = 0; i < s.tree.size(); ++i) {
    if (!s.has_law[i]) continue;
    const multibody::Link& l = s.tree[i];
    sum += elastic::joint_energy(l.kind, s.model.joints()[i].law, elastic::configuration_of(l.kind, q + l.q));
  }
  return sum + tie_energy(s, links);
}

Vec6 load_on(const SystemData& s, int index, const Pose& X_WM, double t) {
  Vec6 sum = Vec6::Zero();
  for (int k = s.load_begin[index]; k < s.load_begin[index + 1]; ++k) {
    const CompiledLoad& load = s.loads[k];
    Vec3 force = load.force.value(t), moment = load.moment.value(t);
    const Mat3 R = load.follows ? load.R_MB : Mat3(X_WM.R.transpose());
    force = R * force;
    moment = R * moment;
    sum.head<3>() += moment + load.at.p.cross(force);
    sum.tail<3>() += force;
  }
  return sum;
}

JointInput joint_input(const SystemData& s, const State& state, const WorkspaceData& w, double t) {
  JointInput in;
  in.q = state.q.data();
  in.tau = w.tau.data();
  in.kappa = s.any_law ? w.kappa.data() : nullptr;
  in.weight = s.weight.data();
  in.gravity = s.model.gravity().value(t);
  return in;
}

namespace {

// Poses of the top bodies along the paths to the loads.
void place_paths(const SystemData& s, WorkspaceData& w) {
  const Coefficients& c = w.coefficients;
  for (std::size_t k = 0; k < s.paths.size(); ++k) {
    const PathNode& path = s.paths[k];
    if (path.parent < 0) continue;  // a root has no top of its own
    const int up = s.paths[path.parent].node;
    const AssemblyNode& n = c.node(up);
    if (n.is_root()) {
      w.path_pose[k] = pose_at(c.data(up) + at::X);
    } else if (!path.in_b) {
      w.path_pose[k] = w.path_pose[path.parent];
    } else {
      Pose X = w.path_pose[path.parent];
      if (n.a_join) X = X * pose_at(c.bottom(n.a) + at::X01);
      w.path_pose[k] = X * pose_at(c.data(up) + at::X);
    }
  }
}

void set_loads(const SystemData& s, WorkspaceData& w, double t, std::vector<int>* changed) {
  place_paths(s, w);
  if (s.tied()) return;  // solve_ties() does it
  for (std::size_t k = 0; k < s.loaded.size(); ++k) {
    const Vec6 f = load_on(s, static_cast<int>(k), w.path_pose[s.path_end[k]], t);
    if (w.coefficients.set_wrench(s.loaded[k], f) && changed)
      changed->push_back(s.assembly.nodes[s.assembly.leaf_of[s.loaded[k]]].parent);
  }
}

}  // namespace

void rebuild(const SystemData& s, const State& state, WorkspaceData& w, double t, double h) {
  w.h = h;
  for (int i = 0; i < s.tree.size(); ++i)
    if (s.has_law[i]) joint_law(s, i, state.q.data(), t, h, w.tau.data(), w.kappa.data());
  const JointInput in = joint_input(s, state, w, t);
  // Loads need poses and these the shapes below: biases once more, on the paths alone.
  w.coefficients.update_all(in, true, w.workers.get());
  w.dirty.clear();
  set_loads(s, w, t, &w.dirty);
  if (!w.dirty.empty())
    for (std::size_t k = s.paths.size(); k-- > 0;) w.coefficients.update_bias(s.paths[k].node, in, true);
  if (s.tied()) solve_ties(s, state, w, t, h);
  w.active.clear();
  w.biased = 0;
}

void bring_up_to_date(const SystemData& s, const State& state, WorkspaceData& w, double t, double h) {
  if (w.stamp == 0 || w.stamp != state.stamp || w.moved_all || (s.any_law && w.h != h))
    return rebuild(s, state, w, t, h);
  Coefficients& c = w.coefficients;
  if (s.any_law)
    for (const int i : w.active)
      if (const int link = c.node(i).link; link >= 0 && s.has_law[link])
        joint_law(s, link, state.q.data(), t, h, w.tau.data(), w.kappa.data());
  for (const int link : s.driven) joint_law(s, link, state.q.data(), t, h, w.tau.data(), w.kappa.data());
  const JointInput in = joint_input(s, state, w, t);
  // Nodes lie far apart in memory: ask for them two ahead.
  const auto ask = [&](int i) {
    const AssemblyNode& n = c.node(i);
    if (n.a >= 0) c.prefetch(n.a, false);
    c.prefetch(n.b, false);
    c.prefetch(i, true);
  };
  for (std::size_t k = w.active.size(); k-- > 0;) {
    if (k >= 2) ask(w.active[k - 2]);
    c.update_shape(w.active[k], in, true, true);
  }

  // Where forces changed, and up from there to what is updated anyway.
  w.dirty.clear();
  set_loads(s, w, t, &w.dirty);
  for (const int link : s.driven) w.dirty.push_back(s.assembly.node_of[link]);
  for (const int root : s.assembly.roots) w.dirty.push_back(root);  // gravity may change with time
  for (const int i : w.active) w.mark[i] = 2;
  for (int start : w.dirty)
    for (int i = start; i >= 0 && !w.mark[i]; i = c.node(i).parent) {
      w.mark[i] = 1;
      w.by_level[c.node(i).level].push_back(i);
    }
  w.biased = 0;
  for (auto level = w.by_level.rbegin(); level != w.by_level.rend(); ++level) {
    w.biased += static_cast<int>(level->size());
    for (const int i : *level) {
      c.update_bias(i, in, true);
      w.mark[i] = 0;
    }
    level->clear();
  }
  for (auto i = w.active.rbegin(); i != w.active.rend(); ++i) {
    c.update_bias(*i, in, true);
    w.mark[*i] = 0;
  }
  if (s.tied()) solve_ties(s, state, w, t, h);
}

Pose body_pose(const System& system, const State& state, Workspace& workspace, BodyId body) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const int link = body.value;
  if (w.stamp == 0 || w.stamp != state.stamp || w.moved_all) {
    // Along the linkage itself.
    Pose X = Pose::identity();
    for (int i = link; i >= 0; i = s.tree[i].parent)
      X = (s.tree[i].X_PF * multibody::joint_transform(s.tree[i], state.q.data() + s.tree[i].q)) * X;
    return X * s.tree[link].X_MB;
  }
  // Coefficients are those of before the last step: bring the poses of the joints that moved up to date.
  const double t = state.t;
  bring_up_to_date(s, state, w, t, w.h);
  w.active.clear();
  std::vector<int> path;
  for (int i = s.assembly.leaf_of[link]; i >= 0; i = s.assembly.nodes[i].parent) path.push_back(i);
  const Coefficients& c = w.coefficients;
  Pose X = pose_at(c.data(path.back()) + at::X);
  for (std::size_t k = path.size() - 2; k > 0; --k) {
    const AssemblyNode& n = c.node(path[k]);
    if (path[k - 1] != n.b) continue;
    if (n.a_join) X = X * pose_at(c.bottom(n.a) + at::X01);
    X = X * pose_at(c.data(path[k]) + at::X);
  }
  return X * s.tree[link].X_MB;
}

}  // namespace limber::adaptive
