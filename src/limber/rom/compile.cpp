// compile(): which body is simulated where, what may touch, and the output layout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/model/features.h"
#include "limber/rom/partition.h"
#include "limber/rom/system.h"

namespace limber::rom {
namespace {

void check_same(const Partition& parts, const ReducedModel& reduced) {
  bool same = parts.mechanisms.size() == reduced.mechanisms.size();
  for (std::size_t k = 0; same && k < parts.mechanisms.size(); ++k)
    same = parts.mechanisms[k].bodies == reduced.mechanisms[k].bodies &&
           parts.mechanisms[k].names == reduced.mechanisms[k].names &&
           parts.mechanisms[k].ends == reduced.mechanisms[k].ends;
  if (!same)
    throw ModelError(
        {{"run", "", "rom", "the reduced model was made from another mechanism, or for other ends"}});
}

void place_mechanisms(SystemData& s, const Partition& parts) {
  s.places.resize(s.model.bodies().size());
  for (std::size_t k = 0; k < s.reduced.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const int E = static_cast<int>(m.ends.size());
    MechanismPlace place{s.q_count, s.v_count, m.free_base ? 6 : 0};
    s.q_count = place.a() + m.coordinates();
    s.v_count = place.rate() + m.coordinates();
    s.mechanisms.push_back(place);
    for (std::size_t l = 0; l < m.bodies.size(); ++l) {
      BodyPlace at{BodyPlace::On::mechanism, static_cast<int>(k), static_cast<int>(l)};
      for (int e = 0; e < E; ++e)
        if (m.ends[e] == static_cast<int>(l)) at.end = e;
      s.places[m.bodies[l]] = at;
    }
    s.first_map.push_back(static_cast<int>(s.maps.size()));
    for (const Point& p : m.points) s.maps.push_back(make_maps(m.points[0].X, p.chart, 1 + m.columns()));
    std::vector<PlacedInput> inputs;
    for (const Input& input : m.inputs)
      for (const Drive& d : s.model.drives())
        if (d.joint.value == m.bodies[input.joint])
          inputs.push_back(
              {d.target[input.dof], d.kind == Drive::Kind::servo ? d.kd[input.dof] / d.kp[input.dof] : 0.0});
    s.inputs.push_back(std::move(inputs));
    std::vector<PlacedInput> servos;
    for (const CappedServo& servo : m.servos)
      for (const Drive& d : s.model.drives())
        if (d.joint.value == m.bodies[servo.joint]) servos.push_back({d.target[servo.dof]});
    s.servos.push_back(std::move(servos));
  }
  for (const int body : parts.props) {
    const Inertia& I = s.model.bodies()[body].inertia;
    PropPlace prop{body, s.q_count, s.v_count, Inertia::about_com(I.m, Vec3::Zero(), I.about_com()), I.com()};
    s.q_count += 7, s.v_count += 6;
    s.places[body] = {BodyPlace::On::prop, -1, -1, -1, static_cast<int>(s.props.size())};
    s.props.push_back(prop);
  }
  for (std::size_t l = 0; l < s.model.point_loads().size(); ++l)
    if (const BodyId b = s.model.point_loads()[l].at.body; b.valid())
      s.loads.push_back({static_cast<int>(l), s.places[b.value]});
}

void place_solids(SystemData& s) {
  if (!s.model.contact()) return;
  s.contacts = contact::SceneContacts(s.model, contact::beam_links(s.traces));
  s.restitution = s.model.contact()->restitution;
}

// What observe.cpp writes after the probes and energies, in the same order.
void lay_out_own(SystemData& s) {
  constexpr const char* axes[] = {".x", ".y", ".z"};
  const auto add = [&](std::string name, const char* unit) {
    s.layout.scalars.push_back({std::move(name), unit});
  };
  if (s.model.contact()) add("contact.cone_violation", "");
  for (const Mechanism& m : s.reduced.mechanisms) {
    const std::string name = s.reduced.mechanisms.size() == 1 ? "rom" : "rom." + m.name;
    add(name + ".distance", "");
    add(name + ".gap", "");
    if (m.quality.tested > 0) add(name + ".out_of_range", "");
    for (int c = 0; m.free_base && c < 3; ++c) add(name + ".momentum" + axes[c], "kg m/s");
    for (int c = 0; m.free_base && c < 3; ++c) add(name + ".angular_momentum" + axes[c], "kg m2/s");
  }
}

void lay_out(SystemData& s) {
  s.layout.title = s.model.title();
  observe::add_bodies(s.model, s.layout);
  observe::add_beams(s.traces, s.layout);
  observe::add_springs(s.model, s.layout);
  s.columns = observe::columns_for(s.model, Question::rom_run);
  observe::add_columns(s.model, s.columns, s.layout);
  lay_out_own(s);
}

}  // namespace

const char* to_string(Integrator integrator) {
  return integrator == Integrator::euler ? "euler" : "midpoint";
}
const char* to_string(ContactSolver solver) { return solver == ContactSolver::cone ? "cone" : "pgs"; }

System compile(const Model& model, const ReducedModel& reduced, const Options& options) {
  require(model, Question::rom_run);
  elastic::LinkedModel linked = elastic::beams_to_links(model);
  auto s = std::make_shared<SystemData>(std::move(linked), reduced, options);
  const Partition parts = partition(s->model, options.ends);
  check_same(parts, reduced);
  s->start = s->model.initial_poses();
  place_mechanisms(*s, parts);
  // Mechanisms start at rest: where their first point is.
  for (const Mechanism& m : s->reduced.mechanisms)
    for (std::size_t l = 0; l < m.bodies.size(); ++l) {
      const Pose base = m.free_base ? s->start[m.bodies[0]] : Pose{};
      if (!(m.free_base && l == 0)) s->start[m.bodies[l]] = base * m.points[0].X[l];
    }
  place_solids(*s);
  for (const Mechanism& m : s->reduced.mechanisms) s->size = std::max(s->size, m.radius);
  lay_out(*s);
  return System(s);
}

// How a body flies at the start, in its own axes: a free joint's rates are how M turns, in M, and how its
// origin moves, in F.
static Vec6 start_twist(const Joint& joint, const Pose& X_WB) {
  const Vec3 shift = joint.X_PF.R * Vec3(joint.velocity[3], joint.velocity[4], joint.velocity[5]);
  Vec6 V;
  V << joint.velocity[0], joint.velocity[1], joint.velocity[2], (X_WB.R * joint.X_BM.R).transpose() * shift;
  return joint.X_BM.motion(V);
}

State System::rest() const {
  const SystemData& s = *data_;
  State out;
  out.q.assign(s.q_count, 0), out.v.assign(s.v_count, 0);
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const MechanismPlace& place = s.mechanisms[k];
    std::copy_n(m.points[0].at.data(), m.coordinates(), out.q.data() + place.a());
    if (!m.free_base) continue;
    double *q = out.q.data() + place.q, *v = out.v.data() + place.v;
    const Pose& X = s.start[m.bodies[0]];
    store_pose(X, q);
    const Whole whole = whole_of(m, m.points[0].X);
    const Vec3 com = X * whole.com;
    std::copy_n(com.data(), 3, q + 7);
    // The base's own joint says how it flies at the start.
    const Vec6 own = start_twist(s.model.joints()[m.bodies[0]], X);
    const Vec3 speed = X.R * (own.tail<3>() + own.head<3>().cross(whole.com));
    const Vec3 spin = X.R * (whole.inertia * own.head<3>());
    std::copy_n(own.data(), 6, v);
    std::copy_n(speed.data(), 3, v + 6);
    std::copy_n(spin.data(), 3, v + 9);
  }
  for (const PropPlace& p : s.props) {
    store_pose(s.start[p.body], out.q.data() + p.q);
    const Joint& joint = s.model.joints()[p.body];
    const Vec6 own = start_twist(joint, s.start[p.body]);
    const Mat3& R = s.start[p.body].R;
    const Vec3 w = R * own.head<3>(), v = R * (own.tail<3>() + own.head<3>().cross(p.com));
    std::copy_n(w.data(), 3, out.v.data() + p.v);
    std::copy_n(v.data(), 3, out.v.data() + p.v + 3);
  }
  return out;
}

std::vector<ContactPart> contact_parts(const System& system) {
  std::vector<ContactPart> out;
  for (const BodyPlace& at : system.data().places) out.push_back({at.mechanism, true});
  return out;
}

const Model& System::model() const { return data_->model; }
const ReducedModel& System::reduced() const { return data_->reduced; }
const result::Layout& System::layout() const { return data_->layout; }
int System::dof_count() const {
  int out = 6 * static_cast<int>(data_->props.size());
  for (const Mechanism& m : data_->reduced.mechanisms) out += m.coordinates() + (m.free_base ? 6 : 0);
  return out;
}
std::string System::solver() const {
  int ends = 0, points = 0;
  for (const Mechanism& m : data_->reduced.mechanisms)
    ends += static_cast<int>(m.ends.size()), points += static_cast<int>(m.points.size());
  return fmt::format("reduced: {} end effector{}, {} point{}", ends, ends == 1 ? "" : "s", points,
                     points == 1 ? "" : "s");
}

SystemData::SystemData(elastic::LinkedModel linked, const ReducedModel& r, const Options& o)
    : model(std::move(linked.model)), traces(std::move(linked.traces)), reduced(r), options(o) {}

MechanismScratch::MechanismScratch(const Mechanism& m, int base_freedoms) : blend(m) {
  const int n = m.coordinates() + base_freedoms;
  rhs = v = v_new = VecX::Zero(n);
  input_rate = VecX::Zero(m.inputs.size());
  servos.cut.resize(m.servos.size());
  X.resize(m.bodies.size());
  way.assign(m.bodies.size(), Vec3::Zero());
  parts.assign(m.points.size(), VecX::Zero(1 + m.columns()));
}

WorkspaceData::WorkspaceData(const SystemData& s)
    : workers(s.options.cpu_threads > 1 ? std::make_unique<multibody::Workers>(s.options.cpu_threads)
                                        : nullptr),
      X(s.start),
      solids(s.contacts.solids().size()) {
  for (std::size_t k = 0; k < s.reduced.mechanisms.size(); ++k)
    mechanisms.emplace_back(s.reduced.mechanisms[k], s.mechanisms[k].base);
  for (std::size_t k = 0; k < solids.size(); ++k) solids[k].geometry = s.contacts.solids()[k].geometry;
  broad.resize(static_cast<int>(solids.size()));
  prop_v.resize(6 * s.props.size());
  impulse.assign(s.mechanisms.size(), Vec6::Zero());
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

}  // namespace limber::rom
