// What the rest of the program sees of a reduced model: poses of all links, lines, probes, energies, how far
// it is from where it was linearised, and how far its joints come apart.
#include <algorithm>
#include <cmath>

#include "limber/elastic/joint_law.h"
#include "limber/multibody/closing_joint.h"
#include "limber/multibody/joint_kinematics.h"
#include "limber/rom/statics.h"
#include "limber/rom/system.h"

namespace limber::rom {
namespace {

class Observer : public observe::Source {
 public:
  Observer(const SystemData& s, const State& state, WorkspaceData& w) : s_(s), state_(state), w_(w) {
    for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
      read_ends(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
    place_bodies(s, state, true, w);
    find_energies();
  }

  Vec3 position(const Attachment& at) const override { return w_.X[at.body.value] * at.p; }
  Mat3 axes(const Attachment& at) const override { return w_.X[at.body.value].R; }
  Vec3 velocity(const Attachment& at) const override {
    const Vec6 V = twist(at.body.value);
    return w_.X[at.body.value].R * (V.tail<3>() + V.head<3>().cross(at.p));
  }
  Vec3 angular_velocity(const Attachment& at) const override {
    return w_.X[at.body.value].R * twist(at.body.value).head<3>();
  }
  observe::JointReading joint(JointId id) const override {
    const JointAt at = joint_at(id.value);
    return {at.x, at.rate, joint_force(id.value)};
  }
  observe::SpringReading spring(SpringId id) const override {
    const Spring& spring = s_.model[id];
    const auto pose = [&](const Attachment& a) { return a.body.valid() ? w_.X[a.body.value] : Pose{}; };
    const auto speed = [&](const Attachment& a) {
      return a.body.valid() ? twist(a.body.value) : Vec6(Vec6::Zero());
    };
    const elastic::SpringState now =
        elastic::spring_state(elastic::law_of(spring), pose(spring.a), spring.a.p, speed(spring.a),
                              pose(spring.b), spring.b.p, speed(spring.b));
    return {now.length, now.tension};
  }
  result::Energy energy() const override { return energy_; }
  observe::ContactReading contact() const override { return {w_.contact_count, w_.overlap}; }

  // Twist of a body in its own axes.
  Vec6 twist(int body) const {
    const BodyPlace& at = s_.places[body];
    if (at.on == BodyPlace::On::prop) {
      const PropPlace& p = s_.props[at.prop];
      const Mat3& R = w_.X[body].R;
      const double* v = state_.v.data() + p.v;
      const Vec3 spin = R.transpose() * Vec3(v[0], v[1], v[2]);
      Vec6 out;
      out << spin, R.transpose() * Vec3(v[3], v[4], v[5]) - spin.cross(p.com);
      return out;
    }
    if (at.on != BodyPlace::On::mechanism) return Vec6::Zero();
    const Mechanism& m = s_.reduced.mechanisms[at.mechanism];
    const MechanismPlace& place = s_.mechanisms[at.mechanism];
    const MechanismScratch& x = w_.mechanisms[at.mechanism];
    const double* v = state_.v.data() + place.v;
    const double* own = v + (place.base > 0 ? 9 : 0);
    Vec6 out = Vec6::Zero();
    if (at.end >= 0)
      out = Eigen::Map<const Vec6>(own + 6 * at.end);
    else
      out = link_map(m, x.blend, at.link).leftCols(m.coordinates()) *
            Eigen::Map<const VecX>(own, m.coordinates());
    if (place.base > 0)
      out += (at.end >= 0 ? x.ends.X[at.end] : x.X[at.link]).inverse_motion(Eigen::Map<const Vec6>(v));
    return out;
  }

  // The columns of lay_out_own() (compile.cpp), in the same order.
  void put_own(std::size_t next, result::Snapshot& out) const {
    const auto put = [&](double x) { out.scalars[next++] = x; };
    if (s_.model.contact()) put(w_.cone_violation);
    for (std::size_t k = 0; k < s_.reduced.mechanisms.size(); ++k) {
      const Mechanism& m = s_.reduced.mechanisms[k];
      put(w_.mechanisms[k].blend.distance);
      put(joint_gap(m, w_.mechanisms[k].X));
      if (m.quality.tested > 0) put(out_of_range(m, w_.mechanisms[k].blend) ? 1 : 0);
      if (!m.free_base) continue;
      const Vec6 sum = momentum(static_cast<int>(k));
      for (int c = 0; c < 3; ++c) put(sum[3 + c]);
      for (int c = 0; c < 3; ++c) put(sum[c]);
    }
  }

 private:
  // Of all links as they move, about their centre of mass, world axes: (angular; linear).
  Vec6 momentum(int k) const {
    const Mechanism& m = s_.reduced.mechanisms[k];
    Vec6 sum = Vec6::Zero();
    double mass = 0;
    Vec3 com = Vec3::Zero();
    for (std::size_t l = 0; l < m.bodies.size(); ++l) {
      const Pose& X = w_.X[m.bodies[l]];
      sum += X.force(m.inertias[l].momentum(twist(m.bodies[l])));
      com += m.inertias[l].m * (X * m.inertias[l].com());
      mass += m.inertias[l].m;
    }
    com /= mass;
    sum.head<3>() -= com.cross(sum.tail<3>());
    // The links' centre of mass goes where the momentum says, whatever the maps say about their velocities.
    const double* v = state_.v.data() + s_.mechanisms[k].v;
    sum.tail<3>() = mass * Vec3(v[6], v[7], v[8]);
    return sum;
  }

  // A joint as the links stand: coordinates (x: rotation vectors), rates.
  struct JointAt {
    double q[7] = {};
    DofArray x{};
    Vec6 rate = Vec6::Zero();
  };
  JointAt joint_at(int body) const {
    const Joint& j = s_.model.joints()[body];
    const Pose X_WF = j.parent.valid() ? w_.X[j.parent.value] * j.X_PF : j.X_PF;
    const Pose X = X_WF.inverse() * (w_.X[body] * j.X_BM);
    JointAt out;
    multibody::closing_coordinates({j.kind}, X, out.q, out.x);
    Vec6 V = j.X_BM.inverse_motion(twist(body));
    if (j.parent.valid()) V -= X.inverse_motion(j.X_PF.inverse_motion(twist(j.parent.value)));
    const int n = dof_count(j.kind);
    const multibody::Subspace S = multibody::motion_subspace(j.kind, 0, out.q);
    for (int k = 0; k < n; ++k) out.rate[k] = S.col(k).dot(V) / S.col(k).squaredNorm();
    return out;
  }

  // Elastic + damping + drive force on the coordinates: what the reduced model says the joint carries.
  Vec6 joint_force(int body) const {
    const Joint& j = s_.model.joints()[body];
    const JointAt at = joint_at(body);
    const elastic::JointConfiguration c = elastic::configuration_of(j.kind, at.q);
    Vec6 out = -elastic::joint_energy_gradient(j.kind, j.law, c).gradient;
    for (int k = 0; k < dof_count(j.kind); ++k) out[k] -= j.law.damping[k] * at.rate[k];
    for (const Drive& d : s_.model.drives()) {
      if (d.joint.value != body) continue;
      for (int k = 0; k < dof_count(j.kind); ++k) {
        const double target = d.target[k].value(state_.t);
        out[k] += d.kind == Drive::Kind::force
                      ? target
                      : std::clamp(d.kp[k] * (target - at.x[k]) +
                                       d.kd[k] * (d.target[k].rate(state_.t) - at.rate[k]),
                                   -d.max_force[k], d.max_force[k]);
      }
    }
    return out;
  }

  void find_energies() {
    const Vec3 g = s_.model.gravity().value(state_.t);
    for (std::size_t k = 0; k < s_.mechanisms.size(); ++k) {
      const Mechanism& m = s_.reduced.mechanisms[k];
      const MechanismPlace& place = s_.mechanisms[k];
      const MechanismScratch& x = w_.mechanisms[k];
      const int n = m.coordinates();
      const double* v = state_.v.data() + place.v;
      const Eigen::Map<const VecX> u(v + (place.base > 0 ? 9 : 0), n);
      energy_.elastic += x.blend.energy;
      for (int i = 0; i < x.blend.count; ++i) {
        const Point& p = m.points[x.blend.point[i]];
        const double a = x.blend.weight[i];
        energy_.kinetic += 0.5 * a * u.dot(p.M * u);
        if (place.base == 0) continue;
        const Eigen::Map<const Vec6> V(v);
        energy_.kinetic += a * (0.5 * V.dot(p.inertia.momentum(V)) + V.dot(p.momentum * u));
      }
      if (place.base > 0) {
        const double* com = state_.q.data() + place.q + 7;
        energy_.gravity -= m.points[0].inertia.m * g.dot(Vec3(com[0], com[1], com[2]));
      }
    }
    for (const PropPlace& p : s_.props) {
      const Pose& X = w_.X[p.body];
      const double* v = state_.v.data() + p.v;
      const Vec3 spin = X.R.transpose() * Vec3(v[0], v[1], v[2]), speed(v[3], v[4], v[5]);
      energy_.kinetic += 0.5 * (p.inertia.m * speed.squaredNorm() + spin.dot(p.inertia.I * spin));
      energy_.gravity -= p.inertia.m * g.dot(X * p.com);
    }
  }

  const SystemData& s_;
  const State& state_;
  WorkspaceData& w_;
  result::Energy energy_;
};

}  // namespace

bool out_of_range(const Mechanism& m, const Blend& b) {
  const Quality& q = m.quality;
  if (q.tested == 0) return false;
  for (std::size_t e = 0; e < m.ends.size(); ++e)
    if (b.force.segment<3>(6 * e + 3).norm() > 1.05 * q.force + 1e-9 ||
        b.force.segment<3>(6 * e).norm() > 1.05 * q.moment + 0.1 * q.force * m.radius + 1e-9)
      return true;
  return false;
}

void observe(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const Observer at(s, state, w);
  snapshot.resize(s.layout);
  snapshot.time = state.t;
  for (std::size_t i = 0; i < w.X.size(); ++i) observe::put_frame(w.X[i], i, snapshot);
  observe::put_lines(s.traces, s.model, at, snapshot);
  at.put_own(observe::put_columns(s.model, s.columns, at, snapshot), snapshot);
}

}  // namespace limber::rom
