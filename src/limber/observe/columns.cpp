#include "limber/observe/columns.h"

#include <algorithm>

#include "limber/math/so3.h"

namespace limber::observe {
namespace {

JointKind kind_of(const Model& model, const Probe& p) {
  return p.loop.valid() ? model[p.loop].kind : model[p.joint].kind;
}

// Up to six numbers.
struct Values {
  double x[6] = {};
  Values(double a) : x{a} {}
  Values(const Vec3& v) : x{v[0], v[1], v[2]} {}
  Values(const Vec6& v) : x{v[0], v[1], v[2], v[3], v[4], v[5]} {}
  Values(const DofArray& v) { std::copy(v.begin(), v.end(), x); }
};

// The world stands still.
Vec3 of_place(const Probe& p, const Source& source) {
  switch (p.quantity) {
    case Quantity::position:
      return source.point(p.at);
    case Quantity::rotation:
      return p.at.on_world() ? Vec3(Vec3::Zero()) : math::so3_log(source.axes(p.at));
    case Quantity::angular_velocity:
      return p.at.on_world() ? Vec3(Vec3::Zero()) : source.angular_velocity(p.at);
    case Quantity::acceleration:
      return p.at.on_world() ? Vec3(Vec3::Zero()) : source.acceleration(p.at);
    case Quantity::angular_acceleration:
      return p.at.on_world() ? Vec3(Vec3::Zero()) : source.angular_acceleration(p.at);
    default:
      return p.at.on_world() ? Vec3(Vec3::Zero()) : source.velocity(p.at);
  }
}

JointReading joint_of(const Probe& p, const Source& source) {
  return p.loop.valid() ? source.closing_joint(p.loop) : source.joint(p.joint);
}

ReactionReading reaction_of(const Probe& p, const Source& source) {
  return p.loop.valid() ? source.closing_reaction(p.loop) : source.reaction(p.joint);
}

// In the axes of the child's joint frame.
Vec3 local(const ReactionReading& r, const Vec3& x) { return r.axes.transpose() * x; }

double remainder(const Source& source) {
  const Ledger ledger = source.ledger();
  return source.energy().total() - ledger.start + ledger.dissipated - ledger.work;
}

Values values_of(const Probe& p, const Source& source) {
  switch (p.quantity) {
    case Quantity::position:
    case Quantity::velocity:
    case Quantity::rotation:
    case Quantity::angular_velocity:
    case Quantity::acceleration:
    case Quantity::angular_acceleration:
      return of_place(p, source);
    case Quantity::speed:
      return of_place(p, source).norm();
    case Quantity::joint_position:
      return joint_of(p, source).position;
    case Quantity::joint_velocity:
      return joint_of(p, source).velocity;
    case Quantity::joint_force:
      return joint_of(p, source).force;
    case Quantity::spring_length:
      return source.spring(p.spring).length;
    case Quantity::spring_tension:
      return source.spring(p.spring).tension;
    case Quantity::rider_position:
      return source.rider(p.rider);
    case Quantity::kinetic_energy:
      return source.energy().kinetic;
    case Quantity::gravity_energy:
      return source.energy().gravity;
    case Quantity::elastic_energy:
      return source.energy().elastic;
    case Quantity::total_energy:
      return source.energy().total();
    case Quantity::dissipated_energy:
      return source.ledger().dissipated;
    case Quantity::work_energy:
      return source.ledger().work;
    case Quantity::remainder_energy:
      return remainder(source);
    case Quantity::tension:
      return source.section(p).tension;
    case Quantity::curvature:
      return source.section(p).curvature;
    case Quantity::twist:
      return source.section(p).twist;
    case Quantity::bending_moment:
      return source.section(p).bending_moment;
    case Quantity::torque:
      return source.section(p).torque;
    case Quantity::contact_count:
      return source.contact().count;
    case Quantity::overlap:
      return source.contact().overlap;
    case Quantity::contact_force:
      return source.touch(p).force;
    case Quantity::contact_slip:
      return source.touch(p).slip;
    case Quantity::contact_normal:
      return source.touch(p).normal;
    case Quantity::contact_places:
      return source.touch(p).places;
    case Quantity::contact_depth:
      return source.touch(p).depth;
    case Quantity::momentum:
      return source.momentum(p.at.body).linear;
    case Quantity::angular_momentum:
      return source.momentum(p.at.body).angular;
    case Quantity::total_momentum:
      return source.total_momentum().linear;
    case Quantity::total_angular_momentum:
      return source.total_momentum().angular;
    case Quantity::reaction_force:
      return reaction_of(p, source).force;
    case Quantity::reaction_torque:
      return reaction_of(p, source).torque;
    case Quantity::reaction_force_local: {
      const ReactionReading r = reaction_of(p, source);
      return local(r, r.force);
    }
    case Quantity::reaction_torque_local: {
      const ReactionReading r = reaction_of(p, source);
      return local(r, r.torque);
    }
    case Quantity::motion_force:
      return source.given_motion(p.joint).force;
    case Quantity::motion_work:
      return source.given_motion(p.joint).work;
    case Quantity::drive_power:
      return source.drive(p.joint).power;
    case Quantity::drive_work:
      return source.drive(p.joint).work;
    case Quantity::load_work:
      return source.load_work(p.load);
    case Quantity::coupling_force:
      return source.coupling(p.coupling).force;
    case Quantity::coupling_gap:
      return source.coupling(p.coupling).gap;
    case Quantity::cable_length:
      return source.cable(p.cable, p.guide).length;
    case Quantity::cable_tension:
      return source.cable(p.cable, p.guide).tension;
    case Quantity::cable_wrap:
      return source.cable(p.cable, p.guide).wrap;
    case Quantity::cable_slip:
      return source.cable(p.cable, p.guide).slip;
    case Quantity::winch_power:
      return source.cable(p.cable, p.guide).winch_power;
    case Quantity::section_force:
      return source.section(p).force;
    case Quantity::section_moment:
      return source.section(p).moment;
  }
  return 0.0;
}

}  // namespace

std::vector<Probe> columns_for(const Model& model, Question question) {
  std::vector<Probe> always;
  for (const QuantityInfo& row : quantity_table)
    if (!is_static(question) && is_usual(row.told, model.contact().has_value()) &&
        answer(row.told, question) == Answer::honoured) {
      Probe p;
      p.name = row.words, p.quantity = row.quantity;
      always.push_back(std::move(p));
    }
  std::vector<Probe> out;
  for (const Probe& p : model.probes()) {
    const bool there = std::ranges::any_of(
        always, [&](const Probe& a) { return a.quantity == p.quantity && a.name == p.name; });
    if (!there && answer(p.told(), question) == Answer::honoured) out.push_back(p);
  }
  out.insert(out.end(), always.begin(), always.end());
  return out;
}

int column_count(const Model& model, const Probe& probe) {
  switch (info_of(probe.quantity).components) {
    case Components::one:
      return 1;
    case Components::xyz:
      return 3;
    case Components::coordinates:
      break;
  }
  return dof_count(kind_of(model, probe));
}

void add_columns(const Model& model, const std::vector<Probe>& probes, result::Layout& layout) {
  for (const Probe& p : probes)
    for (Column& c : columns_of(model.parts(), p)) layout.scalars.push_back({std::move(c.name), c.unit});
}

std::size_t put_columns(const Model& model, const std::vector<Probe>& probes, const Source& source,
                        result::Snapshot& snapshot) {
  std::size_t next = 0;
  for (const Probe& p : probes) {
    const Values values = values_of(p, source);
    const int count = column_count(model, p);
    std::copy_n(values.x, count, snapshot.scalars.begin() + static_cast<std::ptrdiff_t>(next));
    next += static_cast<std::size_t>(count);
  }
  return next;
}

}  // namespace limber::observe
