// compile(): a model becomes a tree of links with compiled forces and an output layout.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "limber/articulated/stepper.h"
#include "limber/elastic/section_constants.h"
#include "limber/math/dense.h"
#include "limber/math/enclosing_ball.h"
#include "limber/model/features.h"

namespace limber::articulated {
int pair_of(SystemData& s, int a, int b) {
  const multibody::LinkPair pair{std::min(a, b), std::max(a, b)};
  for (std::size_t k = 0; k < s.pattern.pairs.size(); ++k)
    if (s.pattern.pairs[k].a == pair.a && s.pattern.pairs[k].b == pair.b) return static_cast<int>(k);
  s.pattern.pairs.push_back(pair);
  return static_cast<int>(s.pattern.pairs.size()) - 1;
}

void add_body_block(SystemData& s, int link, bool beyond_drag) {
  int& block = s.body_block_index[link];
  if (block < 0) {
    block = s.body_blocks++;
    s.drag.emplace_back();
    s.beyond_drag.push_back(0);
  }
  if (beyond_drag) s.beyond_drag[block] = 1;
}

namespace {

void refuse_nothing(const Model& model) {
  if (model.bodies().empty() && model.beams().empty())
    throw ModelError({{"scene", "", "", "has no bodies and no beams to simulate"}});
}

void compile_joints(SystemData& s) {
  const double inf = std::numeric_limits<double>::infinity();
  s.stiffness.assign(s.tree.v_count(), 0);
  s.damping.assign(s.tree.v_count(), 0);
  s.rest.assign(s.tree.v_count(), 0);
  s.has_rotation_law.assign(s.tree.size(), 0);
  std::vector<char> moved(s.tree.size(), 0);
  for (const PrescribedMotion& m : s.model.motions()) {
    s.motions.push_back({m.joint.value, m.position});
    moved[m.joint.value] = 1;
  }
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    const JointLaw& law = s.model.joints()[i].law;
    const bool rotation = has_rotation_vector(link.kind);
    for (int k = 0; k < link.dofs; ++k) {
      s.stiffness[link.v + k] = law.stiffness[k];
      s.damping[link.v + k] = law.damping[k];
      s.rest[link.v + k] = law.rest[k];
      if (rotation && (law.stiffness[k] > 0 || law.extras)) s.has_rotation_law[i] = 1;
      if (moved[i] || law.stops_softly(k)) continue;
      if (law.upper[k] < inf && !(rotation && (k == 1 || k == 2)))
        s.limits.push_back({i, k, -1, law.upper[k], law.restitution, true});
      if (law.lower[k] > -inf && !(rotation && k < 3))
        s.limits.push_back({i, k, -1, law.lower[k], law.restitution, false});
    }
  }
  for (const Drive& d : s.model.drives()) s.drives.push_back({d.joint.value, d});
  compile_controllers(s);
}

void compile_body_forces(SystemData& s) {
  s.body_block_index.assign(s.tree.size(), -1);
  for (int i = 0; i < s.tree.size(); ++i) {
    const Body& body = s.model.bodies()[i];
    if (body.linear_drag > 0 || body.angular_drag > 0) {
      add_body_block(s, i, false);
      s.drag[s.body_block_index[i]] =
          Inertia::about_com(body.linear_drag, s.tree[i].inertia.com(), body.angular_drag * Mat3::Identity());
      const double least = math::symmetric_eigen(s.tree[i].inertia.about_com()).values.minCoeff();
      if (s.tree[i].kind == JointKind::free && least > 0)
        s.drag_rate =
            std::max({s.drag_rate, body.linear_drag / s.tree[i].inertia.m, body.angular_drag / least});
    }
    if (s.model.wind())
      for (const Shape& shape : body.shapes) {
        add_body_block(s, i, true);
        s.wind_shapes.push_back({i, shape.geometry, s.tree[i].X_MB * shape.X_BG});
      }
  }
  for (const PointLoad& l : s.model.point_loads()) {
    s.written_loads = std::max(s.written_loads, l.of.value + 1);
    const LinkPoint at = s.link_point(l.at);
    s.loads.push_back({at, s.tree[at.link].X_MB.R, l.force, l.moment, l.follows, l.of.value});
  }
}

void compile_springs(SystemData& s) {
  for (const Spring& spring : s.model.springs()) {
    const elastic::SpringParameters law = elastic::law_of(spring);
    const int index = static_cast<int>(s.springs.size());
    s.springs.push_back({s.link_point(spring.a), s.link_point(spring.b), law});
    const bool a_on_ground = spring.a.on_world(), b_on_ground = spring.b.on_world();
    if ((a_on_ground && b_on_ground) || spring.a.body == spring.b.body) continue;
    if (!a_on_ground && !b_on_ground) {
      const LinkPoint a = s.link_point(spring.a), b = s.link_point(spring.b);
      s.pair_springs.push_back({a, b, law, pair_of(s, a.link, b.link), index});
      continue;
    }
    const LinkPoint at = s.link_point(a_on_ground ? spring.b : spring.a);
    add_body_block(s, at.link, true);
    s.ground_springs.push_back(
        {at, a_on_ground ? spring.a.p : spring.b.p, law, s.body_block_index[at.link], index});
  }
}

void compile_loops(SystemData& s) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Loop& loop : s.model.loops()) {
    CompiledLoop c;
    c.name = loop.name;
    c.kind = c.written = loop.kind;
    c.lead = loop.pitch / (2 * pi);
    c.length = loop.length;
    c.a = loop.a.value;
    c.b = loop.b.value;
    c.X_AF = c.a >= 0 ? s.tree[c.a].X_MB * loop.X_AF : loop.X_AF;
    c.X_BM = c.b >= 0 ? s.tree[c.b].X_MB * loop.X_BM : loop.X_BM;
    c.law = loop.law;
    const int d = dof_count(c.kind);
    bool holds = false;  // at times, by a limit or by friction
    for (int k = 0; k < d; ++k) {
      holds = holds || c.law.rubs(k);
      c.has_law = c.has_law || c.law.stiffness[k] > 0 || c.law.damping[k] > 0 || c.law.extras;
      if (c.law.stops_softly(k)) continue;
      const bool rotation = has_rotation_vector(c.kind);
      const int index = static_cast<int>(s.loops.size());
      const auto add = [&](double bound, bool upper) {
        Limit limit;
        limit.dof = k;
        limit.loop = index;
        limit.bound = bound;
        limit.restitution = c.law.restitution;
        limit.upper = upper;
        s.limits.push_back(limit);
        holds = true;
      };
      if (c.law.upper[k] < inf && !(rotation && (k == 1 || k == 2))) add(c.law.upper[k], true);
      if (c.law.lower[k] > -inf && !(rotation && k < 3)) add(c.law.lower[k], false);
    }
    if (c.has_law && c.a >= 0 && c.b >= 0) c.pair = pair_of(s, c.a, c.b);
    s.pattern.loops.push_back({c.a, c.b, holds ? 6 : closing_row_count(c.kind), {}});
    s.loops.push_back(std::move(c));
  }
}

void compile_riders(SystemData& s) {
  for (const Rider& r : s.model.riders()) {
    CompiledRider c;
    c.mass = r.mass;
    c.position = r.position;
    double at = 0;
    for (std::size_t k = 0; k < r.bodies.size(); ++k) {
      CompiledRider::Stretch stretch;
      const LinkPoint from = s.link_point(r.from[k]), to = s.link_point(r.to[k]);
      stretch.link = from.link;
      stretch.from = from.p;
      stretch.to = to.p;
      stretch.begin = at;
      stretch.end = at += (to.p - from.p).norm();
      c.road.push_back(stretch);
    }
    s.riders.push_back(std::move(c));
  }
}

// Parts of the structure that neither joints nor springs nor loops tie to each other.
void find_parts(SystemData& s) {
  const int n = s.tree.size();
  std::vector<int> root(n);
  for (int i = 0; i < n; ++i) root[i] = i;
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  const auto tie = [&](int a, int b) {
    if (a < 0 || b < 0 || multibody::stands(s.tree, a) || multibody::stands(s.tree, b)) return;
    a = find(a), b = find(b);
    root[std::max(a, b)] = std::min(a, b);
  };
  for (int i = 0; i < n; ++i) tie(i, s.tree[i].parent);
  for (const multibody::LinkPair& p : s.pattern.pairs) tie(p.a, p.b);
  for (const multibody::ElasticSite& e : s.pattern.elastic)
    for (const int k : e.links) tie(e.links.front(), k);
  for (const multibody::LoopSite& l : s.pattern.loops) {
    tie(l.a, l.b);
    for (const int k : l.more) tie(l.a >= 0 ? l.a : l.b, k);
  }
  s.part_of.assign(n, -1);
  std::vector<int> number(n, -1);
  for (int i = 0; i < n; ++i) {
    if (multibody::stands(s.tree, i)) continue;
    int& part = number[find(i)];
    if (part < 0) part = s.part_count++;
    s.part_of[i] = part;
  }
}

bool any_bounces(const Model& m) {
  const auto given = [](const std::optional<double>& e) { return e.value_or(0) > 0; };
  const Contact& c = *m.contact();
  return c.restitution > 0 ||
         std::ranges::any_of(m.bodies(), [&](const Body& b) { return given(b.restitution); }) ||
         std::ranges::any_of(m.surfaces(),
                             [&](const SurfaceKind& k) { return given(k.terms.restitution); }) ||
         std::ranges::any_of(c.pairs, [&](const SurfacePair& p) { return given(p.terms.restitution); });
}

void compile_contacts(SystemData& s) {
  if (!s.model.contact()) return;
  s.contacts = contact::SceneContacts(s.model, contact::beam_links(s.traces));
  s.bounces = any_bounces(s.model);
  find_parts(s);
}

// Fewer rows than these are always solved in one dense block, which names those that hang on others.
constexpr int many_loop_rows = 60;

// The solver, by what the elimination would cost: the figures are of docs/theory/articulated.md.
void choose_solver(SystemData& s) {
  s.tree_only = s.pattern.pairs.empty() && s.pattern.loops.empty() && s.couplings.empty() &&
                s.cables.empty() && s.options.solver == Solver::automatic && s.contacts.empty();
  if (s.tree_only) return;
  s.solver = s.options.solver == Solver::automatic ? Solver::gaba : s.options.solver;
  if (s.solver != Solver::gaba) return;
  double rows = 0;
  for (const multibody::LoopSite& loop : s.pattern.loops) rows += loop.capacity;
  const bool has_rigid =
      std::any_of(s.couplings.begin(), s.couplings.end(), [](const auto& c) { return c.rigid; });
  // A coupling's row has more than two bodies.
  if (rows > many_loop_rows && !has_rigid && s.cables.empty()) {
    auto plan = std::make_shared<const multibody::LoopPlan>(s.tree, s.pattern);
    constexpr double rounds = 4;  // of the elimination: as much as its iterations cost
    constexpr double slower = 3;  // a flop of the dense block, pivoted and one number at a time
    if (slower * rows * rows * rows / 3 > rounds * plan->order.flops) {
      s.loop_plan = std::move(plan);
      return;
    }
  }
  s.order = multibody::find_order(s.tree, s.pattern);
  constexpr double too_wide = 60e3;  // flops a body: from here on PCG is quicker
  if (s.options.solver == Solver::automatic && s.order.flops > too_wide * s.tree.size())
    s.solver = Solver::pcg;
}

// Across the joints and centres of mass of what can move.
void measure_size(SystemData& s) {
  std::vector<Vec3> points;
  const std::vector<Pose> X_WB = s.model.initial_poses();
  for (int i = 0; i < s.tree.size(); ++i) {
    if (multibody::stands(s.tree, i)) continue;
    s.moving_mass += s.tree[i].inertia.m;
    points.emplace_back(X_WB[i] * s.model.bodies()[i].inertia.com());
    points.emplace_back((X_WB[i] * s.tree[i].X_MB.inverse()).p);
  }
  for (const Loop& l : s.model.loops())
    points.emplace_back(l.b == world ? l.X_BM.p : Vec3(X_WB[l.b.value] * l.X_BM.p));
  if (const double radius = math::enclosing_ball(points).radius; radius > 0) s.size = 2 * radius;
  s.rate_unit.resize(s.tree.v_count());
  for (const multibody::Link& link : s.tree.links())
    for (int k = 0; k < link.dofs; ++k)
      s.rate_unit[link.v + k] = is_rotational(link.kind, k) ? 1 : 1 / s.size;
}

void lay_out(SystemData& s) {
  s.layout.title = s.model.title();
  observe::add_bodies(s.model, s.layout);
  for (const Rider& r : s.model.riders()) s.layout.frames.push_back({r.name, r.shapes, r.color, false});
  observe::add_beams(s.traces, s.layout);
  observe::add_springs(s.model, s.layout);
  for (std::size_t i = 0; i < s.cables.size(); ++i)
    s.layout.polylines.push_back({s.cables[i].name, cable_points(s.cables[i]), 0, s.model.cables()[i].color});
  s.columns = observe::columns_for(s.model, Question::articulated_run);
  observe::add_columns(s.model, s.columns, s.layout);
  s.asked_loops.assign(s.loops.size(), 0);
  for (const Probe& p : s.columns) {
    const Told told = p.told();
    if (told == Told::closing_reaction) s.asked_loops[p.loop.value] = 1;
    s.asks_forces = s.asks_forces || told == Told::acceleration || told == Told::reaction ||
                    told == Told::closing_reaction || is_of_section(told) ||
                    p.quantity == Quantity::motion_force || p.quantity == Quantity::coupling_force;
    s.asks_works = s.asks_works || told == Told::load_work || p.quantity == Quantity::drive_work ||
                   p.quantity == Quantity::motion_work;
  }
}

// A joint that can move must move something: one solve at the start finds the massless body that would not.
void refuse_massless_motion(const System& system) {
  const SystemData& s = system.data();
  WorkspaceData w(s);
  const State state = system.rest();
  evaluate(s, state.q.data(), state.v.data(), 0, {0, 0, 0}, w);
  multibody::AbaInput in;
  in.links = &w.links;
  in.tau = w.tau.data();
  std::vector<double> a(s.tree.v_count());
  for (const CompiledMotion& m : s.motions) {  // a joint with a given motion needs no mass
    JointLock lock;
    lock.link = m.link;
    lock.rows = s.tree[m.link].dofs;
    lock.C.setIdentity();
    lock.g.setZero();
    w.lock_index[m.link] = static_cast<int>(w.locks.size());
    w.locks.push_back(lock);
  }
  in.locks = w.locks.data();
  in.lock_index = w.lock_index.data();
  if (multibody::aba(s.tree, state.q.data(), in, w.aba, a.data())) return;
  const Joint& joint = s.model.joints()[w.aba.bad_link];
  throw ModelError(
      {{"body", s.model.bodies()[w.aba.bad_link].name, "mass",
        fmt::format("joint \"{}\" can move it, but neither it nor what hangs on it has mass or inertia "
                    "in that direction",
                    joint.name)}});
}

}  // namespace

int order_of(Integrator integrator) {
  switch (integrator) {
    case Integrator::euler:
    case Integrator::implicit_euler:
      return 1;
    case Integrator::midpoint:
    case Integrator::sdirk:
      return 2;
    case Integrator::rk4:
    case Integrator::gauss:
    case Integrator::sdirk4:
      return 4;
  }
  return 0;
}

const char* to_string(Integrator integrator) {
  switch (integrator) {
    case Integrator::euler:
      return "euler";
    case Integrator::midpoint:
      return "midpoint";
    case Integrator::implicit_euler:
      return "implicit_euler";
    case Integrator::sdirk:
      return "sdirk";
    case Integrator::rk4:
      return "rk4";
    case Integrator::gauss:
      return "gauss";
    case Integrator::sdirk4:
      return "sdirk4";
  }
  return "";
}

const char* to_string(Solver solver) {
  constexpr const char* names[] = {"automatic", "gaba", "pcg", "pcg_rows", "dense"};
  return names[static_cast<int>(solver)];
}

LinkPoint SystemData::link_point(const Attachment& a) const {
  if (a.on_world()) return {-1, a.p};
  return {a.body.value, tree[a.body.value].X_MB * a.p};
}

SystemData::SystemData(elastic::LinkedModel linked, const Options& opts)
    : model(std::move(linked.model)), traces(std::move(linked.traces)), options(opts), tree(model) {
  compile_joints(*this);
  compile_body_forces(*this);
  compile_springs(*this);
  compile_loops(*this);
  compile_couplings(*this);
  compile_extra_laws(*this);
  compile_friction(*this);
  compile_bushings(*this);
  compile_cables(*this);
  compile_riders(*this);
  compile_contacts(*this);
  choose_solver(*this);
  measure_size(*this);
  lay_out(*this);
}

namespace {

constexpr int anderson_depth = 5;  // 3 to 8 need as many iterations

// Of two stages that are iterated together: as one vector.
std::vector<double> twice(std::vector<double> x) {
  const std::size_t n = x.size();
  x.resize(2 * n);
  std::copy_n(x.begin(), n, x.begin() + static_cast<std::ptrdiff_t>(n));
  return x;
}

}  // namespace

WorkspaceData::WorkspaceData(const SystemData& s)
    : workers(s.worth_threads() ? std::make_unique<multibody::Workers>(s.options.cpu_threads) : nullptr),
      links(s.tree.size()),
      links_other(s.tree.size()),
      tau(s.tree.v_count()),
      wrench(s.tree.size()),
      joint_block(s.tree.block_count()),
      body_block(s.body_blocks),
      body_block_index(s.body_block_index),
      block_used(s.body_blocks + 1),
      aba(s.tree),
      lock_index(s.tree.size(), -1),
      limit_active(s.limits.size()),
      limit_changes(s.limits.size()),
      limit_over(s.limits.size()),
      servo(6 * s.drives.size(), ServoState::linear),
      rub(s.rubs.size()),
      rub_changes(s.rubs.size()),
      rub_force(s.rubs.size()),
      rub_start(s.rubs.size()),
      rub_end(s.rubs.size()),
      q_mid(s.tree.q_count()),
      v_mid(s.tree.v_count()),
      q_end(s.tree.q_count()),
      v_end(s.tree.v_count()),
      a(s.tree.v_count()),
      a_new(s.tree.v_count()),
      a_body(s.tree.size()),
      carried(s.tree.size()),
      tension_block(s.tree.size()),
      u_base(s.tree.v_count()),
      v_base(s.tree.v_count()),
      u(s.tree.v_count()),
      anderson(s.rate_unit, s.options.integrator == Integrator::euler ? 0 : anderson_depth),
      anderson_pair(twice(s.rate_unit), s.options.integrator == Integrator::gauss ? anderson_depth : 0),
      blocks(s.tree_only ? nullptr : std::make_unique<Blocks>(s)),
      contacts(s.contacts.empty() ? nullptr : std::make_unique<Contacts>(s, blocks->system)) {
  locks.reserve(s.motions.size() + s.limits.size() + s.rubs.size());
  for (const CompiledCable& c : s.cables) cables.emplace_back(c);
  cable_from = s.cable_start;
  control.resize(s.model.controllers().size()), control_rate = control_end = control;
  if (s.asks_works) powers.resize(s.work_of_motion(s.motions.size())), works = powers;
  const Integrator by = s.options.integrator;
  if (by != Integrator::rk4 && by != Integrator::gauss && by != Integrator::sdirk4) return;
  for (auto* stages : {&stage_a, &stage_v, &stage_u, &stage_k})
    stages->assign(5, std::vector<double>(s.tree.v_count()));
  stage_control.assign(5, control);
  pair.resize(2 * a.size());
  pair_new.resize(2 * a.size());
}

namespace {

// Coordinates and velocities as the model says, loops closed.
void place_at_start(SystemData& s) {
  s.q0.resize(s.tree.q_count());
  s.v0.resize(s.tree.v_count());
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    multibody::set_coordinates(link, s.model.joints()[i].position, s.q0.data() + link.q);
    std::copy_n(s.model.joints()[i].velocity.begin(), link.dofs, s.v0.data() + link.v);
  }
  for (const CompiledMotion& m : s.motions) {
    const multibody::Link& link = s.tree[m.link];
    prescribed(m, link, 0, s.q0.data() + link.q, s.v0.data() + link.v);
  }
  set_coupling_offsets(s);
}

// What closing the loops does to the pose as written, if it is more than a person would round to.
std::string moved_by_closing(const SystemData& s, const std::vector<double>& q, WorkspaceData& w) {
  constexpr double noted = 0.01;  // of the structure's size
  const std::vector<double> still(s.tree.v_count(), 0.0);
  multibody::kinematics(s.tree, s.q0.data(), still.data(), w.links, nullptr);
  multibody::kinematics(s.tree, q.data(), still.data(), w.links_other, nullptr);
  double most = 0;
  int which = 0;
  for (int i = 0; i < s.tree.size(); ++i)
    if (const double d = (w.links[i].X_WM.p - w.links_other[i].X_WM.p).norm(); d > most) most = d, which = i;
  if (!(most > noted * s.size)) return "";
  return fmt::format(
      "closing the loops moves \"{}\" by {:.3g} m from where it is written, before the run starts",
      s.model.bodies()[which].name, most);
}

// Whether rows of the loops hang on each other where these are closed, and contradict each other elsewhere:
// a linkage that moves only because its axes are just so.
bool rows_contradict(const SystemData& s, const std::vector<double>& q, WorkspaceData& w) {
  if (!w.blocks->gaba) return false;
  const auto dropped = [&](const std::vector<double>& at) {
    const std::vector<double> still(s.tree.v_count(), 0.0);
    evaluate(s, at.data(), still.data(), 0, {0, 0, 0}, w);
    return factor_blocks(s, w) ? w.blocks->gaba->dropped_rows() : 0;
  };
  const int closed = dropped(q);
  if (closed == 0) return false;
  std::vector<double> shift(s.tree.v_count()), open(q.size());
  for (std::size_t k = 0; k < shift.size(); ++k)
    shift[k] = 1e-3 * (1.0 + 0.37 * static_cast<double>(k % 5)) / s.rate_unit[k];
  multibody::integrate(s.tree, q.data(), shift.data(), 1, open.data());
  return dropped(open) < closed;
}

void close_at_start(SystemData& s) {
  if (s.loops.empty()) return;
  WorkspaceData w(s);
  State state;
  state.q = s.q0;
  state.v = s.v0;
  state.a.assign(s.tree.v_count(), 0);
  result::SolveReport report;
  if (!Stepper(s, state, w, report).assemble())
    throw ModelError({{"loop", report.worst, "", report.message}});
  s.warning = moved_by_closing(s, state.q, w);
  s.rows_contradict = rows_contradict(s, state.q, w);
  s.q0 = state.q;
  s.v0 = state.v;
}

BeamFibres fibres_of(const SectionShape& shape) {
  const elastic::SectionConstants c = elastic::section_constants(shape);
  const elastic::PrincipalMoments moments = elastic::principal_moments(c);
  const bool round = std::holds_alternative<Circle>(shape) || std::holds_alternative<Tube>(shape);
  // Turned axes: the outline is at most this far from the centroid.
  const double reach = Vec2(c.y_max, c.z_max).norm();
  if (moments.angle != 0) return {moments.I_y, moments.I_z, reach, reach, round};
  return {moments.I_y, moments.I_z, c.y_max, c.z_max, round};
}

}  // namespace

System compile(const Model& model, const Options& options) {
  refuse_nothing(model);
  require(model, Question::articulated_run);
  const std::optional<Model> releasable = with_releasable_joints(model);
  auto data = std::make_shared<SystemData>(
      elastic::beams_to_links(releasable ? *releasable : model, elastic::Stretch::held), options);
  for (const Beam& beam : model.beams()) data->fibres.push_back(fibres_of(model[beam.section].shape));
  for (const PointLoad& l : model.point_loads()) data->load_names.push_back(l.name);
  for (const DistributedLoad& l : model.distributed_loads()) data->load_names.push_back(l.name);
  place_at_start(*data);
  const System system(data);
  refuse_massless_motion(system);
  close_at_start(*data);
  Workspace w(system);
  data->energy0 = energy(system, system.rest(), w).total();
  return system;
}

}  // namespace limber::articulated
