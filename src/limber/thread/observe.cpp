// What the rest of the program sees of threads: lines, stripes, rings, probes and energies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/math/trig.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

struct Directors {
  Vec3 d_y, d_z;
};

Directors directors(const double* e, int slot, double xi) {
  const double *p = e + 12 * slot, *q = xi > 0 ? p + 12 : p;
  Directors out;
  for (int i = 0; i < 3; ++i) {
    out.d_y[i] = (1 - xi) * p[6 + i] + xi * q[6 + i];
    out.d_z[i] = (1 - xi) * p[9 + i] + xi * q[9 + i];
  }
  // Between nodes the directions are drawn at the length that the nodes give them.
  const double a = Eigen::Map<const Vec3>(p + 6).norm(), b = Eigen::Map<const Vec3>(q + 6).norm();
  const double c = Eigen::Map<const Vec3>(p + 9).norm(), d = Eigen::Map<const Vec3>(q + 9).norm();
  if (out.d_y.norm() > 0) out.d_y *= ((1 - xi) * a + xi * b) / out.d_y.norm();
  if (out.d_z.norm() > 0) out.d_z *= ((1 - xi) * c + xi * d) / out.d_z.norm();
  return out;
}

struct Observer : observe::Source {
  const SystemData& s;
  const State& state;
  WorkspaceData& w;
  result::Energy energies;
  ContactReport contacts;

  Observer(const SystemData& system, const State& now, WorkspaceData& work, const result::Energy& e,
           const ContactReport& c = {})
      : s(system), state(now), w(work), energies(e), contacts(c) {}

  Station at(int thread, double fraction) const {
    return at_spot(thread, spot_at(s, state, thread, fraction));
  }

  Station at_spot(int thread, const Spot& spot) const {
    const double l = w.length[spot.slot];
    const Midline m = midline(state.e.data(), spot.slot, l, spot.xi);
    const Directors d = directors(state.e.data(), spot.slot, spot.xi);
    const ElementArrays& a = w.elements;
    Station out;
    out.x = m.x, out.tangent = m.slope, out.d_y = d.d_y, out.d_z = d.d_z;
    const Rod& rod = s.threads[thread].rod;
    out.tension = a.stress[0][spot.slot];
    out.torque = a.stress[3][spot.slot];
    // Moments of the elements hold in their middles: between middles they are interpolated.
    const int first = state.first[thread], last = state.first[thread + 1] - 2;
    const int other = std::clamp(spot.xi < 0.5 ? spot.slot - 1 : spot.slot + 1, first, last);
    const bool alone = other == spot.slot || w.length[other] == 0;
    const double f = alone ? 0 : std::abs(spot.xi - 0.5) * l / (0.5 * (l + w.length[other]));
    for (int i = 0; i < 2; ++i)
      out.moment[i] = (1 - f) * a.stress[4 + i][spot.slot] + f * a.stress[4 + i][other];
    if (s.options.element == Element::log) {
      out.twist = out.torque / (rod.G * rod.J);
      out.curvature = {out.moment[0] / (rod.E * rod.I_y), out.moment[1] / (rod.E * rod.I_z)};
      return out;
    }
    // The other elements are straight at ease, and stiffer than EI and GJ: their strains are those of their
    // shape.
    const Vec3 here = turn(spot.slot), there = alone ? Vec3(Vec3::Zero()) : turn(other);
    out.twist = here[0];
    for (int i = 0; i < 2; ++i) out.curvature[i] = (1 - f) * here[1 + i] + f * there[1 + i];
    return out;
  }

  // Of the section along an element [1/m]: that of its gradients' rotations less what shear leans it.
  Vec3 turn(int slot) const {
    const Table &z = w.elements.z, &strain = w.elements.strain;
    const Vec3 turn(z[3][slot], z[4][slot] + (strain[4][slot + 1] - strain[4][slot]),
                    z[5][slot] - (strain[3][slot + 1] - strain[3][slot]));
    return turn / w.length[slot];
  }

  Mat3 section_axes(const Attachment& place) const {
    const Station x = at(place.beam.value, place.s);
    const Vec3 e_x = x.d_y.cross(x.d_z).normalized();
    const Vec3 e_y = (x.d_y - e_x * e_x.dot(x.d_y)).normalized();
    Mat3 R;
    R << e_x, e_y, e_x.cross(e_y);
    return R * math::rotation_x(-s.threads[place.beam.value].rod.angle);  // the section's own axes
  }

  Vec3 section_turn(const Attachment& place) const {
    // From the rates of the directors, each of which turns as d' = ω × d.
    const Spot spot = spot_at(s, state, place.beam.value, place.s);
    const Directors d = directors(state.e.data(), spot.slot, spot.xi);
    const double *p = state.v.data() + 12 * spot.slot, *q = spot.xi > 0 ? p + 12 : p;
    Vec3 vy, vz;
    for (int i = 0; i < 3; ++i) {
      vy[i] = (1 - spot.xi) * p[6 + i] + spot.xi * q[6 + i];
      vz[i] = (1 - spot.xi) * p[9 + i] + spot.xi * q[9 + i];
    }
    const Vec3 y = d.d_y.normalized(), z = d.d_z.normalized(), x = y.cross(z).normalized();
    const Vec3 ry = vy / d.d_y.norm(), rz = vz / d.d_z.norm();
    return 0.5 * (z.dot(ry) - y.dot(rz)) * x + x.dot(rz) * y - x.dot(ry) * z;
  }

  // Of a body that is carried, or driven: by central differences of its given motion.
  CarriedRate body_rate(const Attachment& place) const {
    const int body = place.body.value;
    if (const Carried* carried = carried_body(s, body)) return carried_rate(state, *carried, place.p);
    constexpr double step = 1e-6;
    std::vector<Pose> before(s.bodies.size()), after(s.bodies.size());
    s.poses(state.t - step, before);
    s.poses(state.t + step, after);
    return {(after[body] * place.p - before[body] * place.p) / (2 * step),
            math::so3_log(after[body].R * before[body].R.transpose()) / (2 * step)};
  }

  Vec3 position(const Attachment& place) const override {
    if (!place.beam.valid()) return w.X_WB[place.body.value] * place.p;
    return at(place.beam.value, place.s).x + section_axes(place) * place.p;
  }
  Mat3 axes(const Attachment& place) const override {
    return place.beam.valid() ? section_axes(place) : w.X_WB[place.body.value].R;
  }
  Vec3 velocity(const Attachment& place) const override {
    if (!place.beam.valid()) return body_rate(place).velocity;
    const Spot spot = spot_at(s, state, place.beam.value, place.s);
    return midline(state.v.data(), spot.slot, w.length[spot.slot], spot.xi).x +
           section_turn(place).cross(section_axes(place) * place.p);
  }
  Vec3 angular_velocity(const Attachment& place) const override {
    return place.beam.valid() ? section_turn(place) : body_rate(place).turn;
  }
  // The force is known along the thread alone.
  observe::SectionReading section(const Probe& p) const override {
    const Station x = at(p.at.beam.value, p.at.s);
    const Mat3 own = math::rotation_x(s.threads[p.at.beam.value].rod.angle);  // from the principal axes
    return {x.tension,
            x.curvature.norm(),
            x.twist,
            x.moment.norm(),
            x.torque,
            Vec3(x.tension, 0, 0),
            own * Vec3(x.torque, x.moment[0], x.moment[1])};
  }
  observe::SpringReading spring(SpringId id) const override {
    const Tether& k = s.tethers[id.value];
    const Vec3 d = tether_point(s, state, state.e.data(), k, w) - tether_anchor(k, w);
    const double length = d.norm();
    // A damped one hangs on what rests.
    const double rate = length > 0 ? d.dot(tether_rate(s, state, state.v.data(), k, w)) / length : 0;
    return {length, elastic::spring_tension(k.law, length, rate)};
  }
  result::Energy energy() const override { return energies; }
  observe::Ledger ledger() const override { return {state.dissipated, state.work, state.energy0}; }
  observe::ContactReading contact() const override { return {contacts.contacts, contacts.deepest}; }

  // One ring a node, one after the other as a single line along the inside; spare ones rest at the end.
  void rings(const Piece& p, Vec3* to) const {
    const ThreadInfo& info = s.threads[p.thread];
    const int corners = static_cast<int>(info.outline.size());
    const int first = sample_spot(state, p, 0).slot, last = sample_spot(state, p, p.samples - 1).slot + 1;
    for (int k = 0; k <= p.to - p.from; ++k) {
      const double* q = state.e.data() + 12 * std::min(first + k, last);
      const Eigen::Map<const Vec3> x(q), y(q + 6), z(q + 9);
      for (int i = 0; i <= corners; ++i) {
        const Vec2 c = info.outline[first + k <= last ? i % corners : 0].cwiseProduct(info.extent);
        *to++ = x + c[0] * y + c[1] * z;
      }
    }
  }

  void lines(result::Snapshot& snapshot) const {
    std::size_t next = 0;
    for (const Piece& p : s.pieces) {
      const ThreadInfo& info = s.threads[p.thread];
      const int n = p.samples;
      for (int i = 0; i < n; ++i) {
        const Station x = at_spot(p.thread, sample_spot(state, p, i));
        snapshot.points[next + i] = x.x;
        snapshot.points[next + n + i] = x.x + info.extent[0] * x.d_y;
        snapshot.points[next + 2 * n + i] = x.x + info.extent[1] * x.d_z;
      }
      next += 3 * static_cast<std::size_t>(n);
      rings(p, snapshot.points.data() + next);
      next += static_cast<std::size_t>(p.rings);
    }
    for (const Tether& k : s.tethers) {
      snapshot.points[next++] = tether_point(s, state, state.e.data(), k, w);
      snapshot.points[next++] = tether_anchor(k, w);
    }
  }
};

result::Energy energy_now(const SystemData& s, const State& state, WorkspaceData& w) {
  set_mesh(s, state, w);
  set_damping(s, state, 0, w);
  w.scale_h = s.damps ? -1 : 0;
  s.poses(state.t, w.X_WB);
  place_carried(s, state, state.e.data(), w.X_WB);
  evaluate(s, state.e.data(), w);
  result::Energy out;
  for (int j = 0; j < state.node_count(); ++j) out.elastic += w.elements.energy[0][j];
  mass_times(w, state.node_count(), state.v.data(), w.scratch.data());
  for (int i = 0; i < 12 * state.node_count(); ++i) out.kinetic += 0.5 * state.v[i] * w.scratch[i];
  out.gravity = gravity_potential(s, state, state.e.data(), state.t, 1, w);
  out.elastic += tether_energy(s, state, state.e.data(), w);
  return out;
}

}  // namespace

result::Energy energy(const System& system, const State& state, Workspace& workspace) {
  return energy_now(system.data(), state, workspace.data());
}

void open_ledger(const System& system, State& state, Workspace& workspace) {
  state.energy0 = energy(system, state, workspace).total();
  state.dissipated = state.work = 0;
}

// A node's coordinates feel f = ∂V/∂x and a force g_k = ∂V/∂a_k on each of its vectors a_k = x_,x, x_,y,
// x_,z. A motion of the node as a whole does the work of the force f and of the moment Σ a_k × g_k: what the
// coordinates that are free leave over is nothing, so this is what the held ones need.
std::vector<Reaction> reactions(const System& system, const State& state, Workspace& workspace, double load) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  energy_now(s, state, w);
  external_forces(s, state, state.e.data(), state.t, load, 0, false, w);
  if (s.contact) add_contact_forces(s, state, w, w.external.data());
  std::copy_n(w.elements.g.begin(), 12 * state.node_count(), w.scratch.begin());
  if (s.options.element == Element::log) to_world(w, state.node_count(), w.scratch.data(), w.scratch.data());
  std::vector<Reaction> out;
  for (const Fix& fix : s.fixes) {
    if (!holds(fix, state)) continue;
    const int node = 12 * node_at(state, fix.thread, fix.place);
    const auto vector = [&](int k) { return Eigen::Map<const Vec3>(state.e.data() + node + 3 * k); };
    const auto held = [&](int k) -> Vec3 {
      return Eigen::Map<const Vec3>(w.scratch.data() + node + 3 * k) -
             Eigen::Map<const Vec3>(w.external.data() + node + 3 * k);
    };
    Reaction r{s.model.beams()[fix.thread].name, fix.place == 0, vector(0), held(0), Vec3::Zero()};
    for (int k = 1; k < 4; ++k) r.moment += vector(k).cross(held(k));
    const int last = state.first[fix.thread + 1] - 1;
    if (!r.root) r.name += fmt::format("@{:.4g}", static_cast<double>(fix.place) / state.place[last]);
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<ContactForce> contact_forces(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  std::vector<ContactForce> out;
  if (!s.contact) return out;
  set_mesh(s, state, w);
  take_last(s, state, w, w.contact);
  for (const LastTouch& t : w.contact.last) {
    const int body = t.b < 0 ? s.solids[-1 - t.b].body : -1;
    out.push_back({s.threads[w.thread_of[t.a]].name,
                   t.b >= 0    ? s.threads[w.thread_of[t.b]].name
                   : body >= 0 ? s.model.bodies()[body].name
                               : "world",
                   midline_point(state.e.data(), t.a, w.length[t.a], t.xi_a), t.force});
  }
  return out;
}

std::vector<SpringTension> spring_tensions(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  const result::Energy energies = energy_now(s, state, workspace.data());
  const Observer at(s, state, workspace.data(), energies);
  std::vector<SpringTension> out;
  for (std::size_t i = 0; i < s.tethers.size(); ++i) {
    const observe::SpringReading now = at.spring(SpringId{static_cast<std::int32_t>(i)});
    out.push_back({s.model.springs()[i].name, now.length, now.tension});
  }
  return out;
}

Station station(const System& system, const State& state, Workspace& workspace, int thread, double s) {
  const result::Energy energy = energy_now(system.data(), state, workspace.data());
  return Observer(system.data(), state, workspace.data(), energy).at(thread, s);
}

std::vector<Station> stations(const System& system, const State& state, Workspace& workspace, int thread,
                              int count) {
  const result::Energy energy = energy_now(system.data(), state, workspace.data());
  const Observer at(system.data(), state, workspace.data(), energy);
  std::vector<Station> out;
  for (int i = 0; i < count; ++i) out.push_back(at.at(thread, static_cast<double>(i) / (count - 1)));
  return out;
}

std::vector<Station> stations(const System& system, const State& state, Workspace& workspace,
                              const Piece& piece) {
  const result::Energy energy = energy_now(system.data(), state, workspace.data());
  const Observer at(system.data(), state, workspace.data(), energy);
  std::vector<Station> out;
  for (int i = 0; i < piece.samples; ++i)
    out.push_back(at.at_spot(piece.thread, sample_spot(state, piece, i)));
  return out;
}

ContactReport contact_report(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  if (!s.contact) return {};
  set_mesh(s, state, workspace.data());
  s.poses(state.t, workspace.data().X_WB);
  place_carried(s, state, state.e.data(), workspace.data().X_WB);
  return {static_cast<int>(state.touch.size()) / LastTouch::size,
          deepest_overlap(s, state, state.e.data(), workspace.data()).depth};
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  const result::Energy energies = energy(system, state, workspace);
  const Observer at(s, state, workspace.data(), energies, contact_report(system, state, workspace));
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (std::size_t i = 0; i < s.bodies.size(); ++i) observe::put_frame(at.w.X_WB[i], i, snapshot);
  at.lines(snapshot);
  observe::put_columns(s.model, s.columns, at, snapshot);
}

}  // namespace limber::thread
