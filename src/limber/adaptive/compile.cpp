// compile(): a model becomes a tree, its assembly tree, weights, compiled loads and an output layout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/adaptive/system.h"
#include "limber/math/enclosing_ball.h"
#include "limber/model/features.h"

namespace limber::adaptive {
namespace {

constexpr const char* too_many_ties = "takes up to 200 springs between bodies, or 100 loops";
static_assert(most_tie_rows == 600);

// What the table of features refuses, more than the dense block of ties carries, or nothing at all.
void refuse(const Model& written, const Model& model) {
  std::vector<Problem> problems = refusals(written, Question::adaptive_run);
  const auto no = [&](const char* kind, const std::string& name, const char* why) {
    problems.push_back({kind, name, "", std::string("the adaptive method ") + why});
  };
  if (model.bodies().empty()) no("scene", "", "has no bodies to move");
  std::size_t rows = 0;
  for (const Spring& s : model.springs())
    if ((rows += 3) > most_tie_rows) no("spring", s.name, too_many_ties);
  for (const Loop& l : model.loops())
    if ((rows += 6) > most_tie_rows) no("loop", l.name, too_many_ties);
  if (!problems.empty()) throw ModelError(std::move(problems));
}

void compile_joints(SystemData& s) {
  const int n = s.tree.size();
  s.has_law.assign(n, 0);
  s.drive_of.assign(n, -1);
  s.q0.resize(s.tree.q_count());
  for (int k = 0; k < static_cast<int>(s.model.drives().size()); ++k) {
    const Drive& d = s.model.drives()[k];
    s.drive_of[d.joint.value] = k;
    s.has_law[d.joint.value] = 1;
    bool constant = true;
    for (const TimeFunction& f : d.target) constant = constant && f.is_constant();
    if (!constant) s.driven.push_back(d.joint.value);
  }
  for (int i = 0; i < n; ++i) {
    const multibody::Link& link = s.tree[i];
    const Joint& joint = s.model.joints()[i];
    multibody::set_coordinates(link, joint.position, s.q0.data() + link.q);
    for (int k = 0; k < link.dofs; ++k)
      if (joint.law.stiffness[k] > 0 || joint.law.damping[k] > 0) s.has_law[i] = 1;
    s.any_law = s.any_law || s.has_law[i];
    s.joints += link.dofs > 0;
  }
}

// A ball around places; however the world is turned it is the same one.
struct Ball {
  Vec3 centre = Vec3::Zero();
  double radius = -1;  // negative: of nothing

  void extend(const Ball& other) {
    const Vec3 d = other.centre - centre;
    const double apart = d.norm();
    if (other.radius < 0 || apart + other.radius <= radius) return;
    if (radius < 0 || apart + radius <= other.radius) {
      *this = other;
      return;
    }
    const double both = 0.5 * (apart + radius + other.radius);
    centre += (both - radius) / apart * d;
    radius = both;
  }
  double farthest(const Vec3& from) const { return (centre - from).norm() + radius; }
};

// Reach: from the joint to the far side of a ball around all that hangs on it, as the scene starts, over
// the farthest that its own link has (its centre of mass, the joints it carries). Inertia: the root of SᵀIS
// of all that hangs on it, stiff, over that of the link alone.
void set_weights(SystemData& s) {
  constexpr double largest = 1e7;  // a row of ten million links; roots of rounding are larger
  const int n = s.tree.size();
  s.weight.assign(s.tree.v_count(), 1);
  if (s.options.weights == Weights::none) return;
  std::vector<multibody::LinkMotion> links(n);
  const std::vector<double> rest(s.tree.v_count(), 0.0);
  multibody::kinematics(s.tree, s.q0.data(), rest.data(), links);
  std::vector<Ball> around(n);
  std::vector<double> size(n, 0.0);  // [m] of the link alone
  std::vector<Inertia> inertia(n);
  for (int i = n - 1; i >= 0; --i) {
    const multibody::Link& link = s.tree[i];
    const Pose& X = links[i].X_WM;
    const Vec3 com = X * link.inertia.com();
    inertia[i] += link.inertia;
    size[i] = std::max(size[i], (com - X.p).norm());
    around[i].extend({X.p, 0});
    around[i].extend({com, 0});
    if (link.parent >= 0) {
      inertia[link.parent] += inertia[i].in_frame(links[i].X_PM);
      around[link.parent].extend(around[i]);
      size[link.parent] = std::max(size[link.parent], (X.p - links[link.parent].X_WM.p).norm());
    }
    const double reach = around[i].farthest(X.p);
    const multibody::Subspace S = multibody::motion_subspace(link, s.q0.data() + link.q);
    for (int k = 0; k < link.dofs; ++k) {
      double& w = s.weight[link.v + k];
      const Vec6 column = S.col(k);
      if (s.options.weights == Weights::inertia)
        w = std::sqrt(column.dot(inertia[i].momentum(column)) / column.dot(link.inertia.momentum(column)));
      else if (is_rotational(link.kind, k))
        w = reach / size[i];
      if (!(w >= 1 && w < largest)) w = 1;  // a link without size or inertia of its own, but for rounding
    }
  }
}

void compile_ties(SystemData& s) {
  for (const Spring& spring : s.model.springs()) {
    const LinkPoint a = s.link_point(spring.a), b = s.link_point(spring.b);
    TiedSpring tied;
    tied.link_a = a.link, tied.link_b = b.link;
    tied.p_a = a.p, tied.p_b = b.p;
    tied.law = elastic::law_of(spring);
    tied.acts = a.link != b.link;
    s.tied_springs.push_back(tied);
  }
  for (const Loop& l : s.model.loops()) {
    TiedLoop tied;
    tied.link_a = l.a.value, tied.link_b = l.b.value;
    tied.kind = l.kind;
    tied.X_AF = l.a.value >= 0 ? s.tree[l.a.value].X_MB * l.X_AF : l.X_AF;
    tied.X_BM = l.b.value >= 0 ? s.tree[l.b.value].X_MB * l.X_BM : l.X_BM;
    tied.law = l.law;
    for (int k = 0; k < dof_count(l.kind); ++k)
      tied.has_law = tied.has_law || l.law.stiffness[k] > 0 || l.law.damping[k] > 0;
    s.tied_loops.push_back(tied);
  }
  const std::vector<Pose> X_WB = s.model.initial_poses();
  std::vector<Vec3> points;
  for (int i = 0; i < s.tree.size(); ++i) {
    if (multibody::stands(s.tree, i)) continue;
    points.emplace_back(X_WB[i] * s.model.bodies()[i].inertia.com());
    points.emplace_back((X_WB[i] * s.tree[i].X_MB.inverse()).p);
  }
  if (const double radius = math::enclosing_ball(points).radius; radius > 0) s.size = 2 * radius;
}

void compile_loads(SystemData& s) {
  for (const PointLoad& l : s.model.point_loads()) {
    const LinkPoint at = s.link_point(l.at);
    if (at.link < 0) continue;  // on the ground: moves nothing
    s.loads.push_back({at, s.tree[at.link].X_MB.R, l.force, l.moment, l.follows, 0});
  }
  compile_ties(s);
  find_paths(s);
}

void lay_out(SystemData& s) {
  s.layout.title = s.model.title();
  s.layout.frame_value = "activity";
  observe::add_bodies(s.model, s.layout);
  observe::add_beams(s.traces, s.layout);
  observe::add_springs(s.model, s.layout);
  s.columns = observe::columns_for(s.model, Question::adaptive_run);
  observe::add_columns(s.model, s.columns, s.layout);
  for (const OwnColumn& own : own_columns)
    if (!own.of_loops || !s.tied_loops.empty()) s.layout.scalars.push_back({own.name, own.unit});
}

}  // namespace

void find_paths(SystemData& s) {
  s.loaded.clear(), s.paths.clear(), s.path_end.clear();
  for (const CompiledLoad& l : s.loads) s.loaded.push_back(l.at.link);
  for (const TiedSpring& spring : s.tied_springs)
    for (const int link : {spring.link_a, spring.link_b})
      if (spring.acts && link >= 0) s.loaded.push_back(link);
  for (const TiedLoop& loop : s.tied_loops)
    for (const int link : {loop.link_a, loop.link_b})
      if (link >= 0) s.loaded.push_back(link);
  std::sort(s.loaded.begin(), s.loaded.end());
  s.loaded.erase(std::unique(s.loaded.begin(), s.loaded.end()), s.loaded.end());
  const auto place_of = [&](int link) {
    return link < 0 ? -1
                    : static_cast<int>(std::lower_bound(s.loaded.begin(), s.loaded.end(), link) -
                                       s.loaded.begin());
  };
  for (CompiledLoad& l : s.loads) l.body = place_of(l.at.link);
  for (TiedSpring& spring : s.tied_springs)
    if (spring.acts) spring.a = place_of(spring.link_a), spring.b = place_of(spring.link_b);
  for (TiedLoop& loop : s.tied_loops) loop.a = place_of(loop.link_a), loop.b = place_of(loop.link_b);
  std::stable_sort(s.loads.begin(), s.loads.end(),
                   [](const auto& x, const auto& y) { return x.body < y.body; });
  s.load_begin.assign(s.loaded.size() + 1, 0);
  for (const CompiledLoad& l : s.loads) ++s.load_begin[l.body + 1];
  for (std::size_t k = 0; k < s.loaded.size(); ++k) s.load_begin[k + 1] += s.load_begin[k];

  // The nodes above them, from the roots down: descending indices.
  std::vector<int> place(s.assembly.nodes.size(), -1), nodes;
  for (const int link : s.loaded)
    for (int i = s.assembly.leaf_of[link]; i >= 0 && place[i] < 0; i = s.assembly.nodes[i].parent) {
      place[i] = 0;
      nodes.push_back(i);
    }
  std::sort(nodes.rbegin(), nodes.rend());
  for (std::size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int>(k);
  for (const int i : nodes) {
    const int up = s.assembly.nodes[i].parent;
    const AssemblyNode& n = s.assembly.nodes[i];
    s.paths.push_back({i, up < 0 ? -1 : place[up], n.a < 0 ? -1 : place[n.a], n.b < 0 ? -1 : place[n.b],
                       up >= 0 && s.assembly.nodes[up].b == i});
  }
  for (const int link : s.loaded) s.path_end.push_back(place[s.assembly.leaf_of[link]]);
}

const char* to_string(Measure measure) {
  constexpr const char* names[] = {"relative_joint", "absolute_joint", "relative_linkage",
                                   "absolute_linkage"};
  return names[static_cast<int>(measure)];
}

const char* to_string(Weights weights) {
  constexpr const char* names[] = {"none", "reach", "inertia"};
  return names[static_cast<int>(weights)];
}

SystemData::SystemData(elastic::LinkedModel linked, const Options& opts)
    : model(std::move(linked.model)),
      traces(std::move(linked.traces)),
      options(opts),
      tree(model),
      assembly(tree) {
  compile_joints(*this);
  set_weights(*this);
  compile_loads(*this);
  lay_out(*this);
}

WorkspaceData::WorkspaceData(const SystemData& s)
    : coefficients(s.tree, s.assembly),
      refine(coefficients),
      workers(s.options.cpu_threads > 1 ? std::make_unique<multibody::Workers>(s.options.cpu_threads)
                                        : nullptr),
      tau(s.tree.v_count(), 0.0),
      kappa(s.any_law ? s.tree.block_count() : 0, 0.0),
      qdd(s.tree.v_count(), 0.0),
      path_pose(s.paths.size()),
      mark(s.assembly.nodes.size(), 0),
      by_level(s.assembly.depth + 1) {
  // Room for a step of usual size, so that it allocates nothing.
  const std::size_t some = std::min<std::size_t>(s.assembly.nodes.size(), 4096);
  active.reserve(some);
  nonzero.reserve(some);
  load_wrench.resize(s.loaded.size());
  if (s.tied()) ties = std::make_unique<TieWorkspace>(s);
  dirty.reserve(s.loaded.size() + s.driven.size() + s.assembly.roots.size());
  for (std::size_t level = 0; level < by_level.size(); ++level)
    by_level[level].reserve(std::min(s.loaded.size() + s.driven.size() + s.assembly.roots.size(), some));
}

System compile(const Model& model, const Options& options) {
  elastic::LinkedModel linked = elastic::beams_to_links(model);
  refuse(model, linked.model);
  return System(std::make_shared<SystemData>(std::move(linked), options));
}

}  // namespace limber::adaptive
