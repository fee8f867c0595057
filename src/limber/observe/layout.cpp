#include "limber/observe/layout.h"

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::observe {

namespace {

// A point mass is drawn as a ball of steel that weighs as much; nothing touches it.
Shape ball_of(const PointMass& point) {
  constexpr double steel = 7850;  // [kg/m³]
  return {SphereShape{math::pow(point.mass / (4.0 / 3 * pi * steel), 1.0 / 3)}, Pose::translation(point.p)};
}

}  // namespace

void add_bodies(const Model& model, result::Layout& layout) {
  std::vector<char> fixed(model.bodies().size());
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const Joint& joint = model.joints()[i];
    fixed[i] = joint.kind == JointKind::fixed && (!joint.parent.valid() || fixed[joint.parent.value] != 0);
    const Body& body = model.bodies()[i];
    layout.frames.push_back({body.name, body.shapes, body.color, fixed[i] != 0});
    for (const PointMass& p : body.point_masses) layout.frames.back().shapes.push_back(ball_of(p));
  }
}

void add_springs(const Model& model, result::Layout& layout) {
  for (const Spring& spring : model.springs()) layout.polylines.push_back({spring.name, 2, 0, {}});
}

void add_beams(const Traces& traces, result::Layout& layout) {
  for (const elastic::BeamTrace& trace : traces)
    layout.polylines.push_back({trace.name, static_cast<int>(trace.points.size()), 0, {}});
}

void put_frame(const Pose& X_WB, std::size_t index, result::Snapshot& snapshot) {
  snapshot.rotations[index] = math::to_quat(X_WB.R);
  snapshot.positions[index] = X_WB.p;
}

void put_lines(const Traces& traces, const Model& model, const Source& source, result::Snapshot& snapshot) {
  std::size_t next = 0;
  for (const elastic::BeamTrace& trace : traces)
    for (std::size_t k = 0; k < trace.points.size(); ++k)
      snapshot.points[next++] = source.point({trace.bodies[k], {}, 0, trace.points[k]});
  for (const Spring& spring : model.springs()) {
    snapshot.points[next++] = source.point(spring.a);
    snapshot.points[next++] = source.point(spring.b);
  }
}

std::optional<Attachment> carrier_of(const Traces& traces, const Model& model, int point) {
  if (point < 0) return {};
  auto left = static_cast<std::size_t>(point);
  for (const elastic::BeamTrace& trace : traces) {
    if (left < trace.points.size()) return Attachment{trace.bodies[left], {}, 0, trace.points[left]};
    left -= trace.points.size();
  }
  if (left / 2 >= model.springs().size()) return {};
  const Spring& spring = model.springs()[left / 2];
  return left % 2 == 0 ? spring.a : spring.b;
}

std::optional<Attachment> held_place(const Traces& traces, const Model& model, const result::Hand& hand) {
  if (hand.on == result::Hand::On::point) return carrier_of(traces, model, hand.index);
  if (hand.index < 0 || hand.index >= static_cast<int>(model.bodies().size())) return {};
  return Attachment{BodyId{hand.index}, {}, 0, hand.p};
}

}  // namespace limber::observe
