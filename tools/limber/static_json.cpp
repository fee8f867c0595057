#include "static_json.h"

#include <cmath>
#include <span>

#include "vector_text.h"

namespace limber::cli {
namespace {

using Json = nlohmann::ordered_json;

Json statements(const std::vector<sim::Statement>& list) {
  Json out = Json::array();
  for (const auto& [label, text] : list) out.push_back({{"label", label}, {"text", text}});
  return out;
}

// A key that the object does not have: looking for it, entry by entry, would make long lists quadratic.
void put(Json& object, const std::string& key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json probes(const result::Layout& layout, const result::Snapshot& at) {
  Json out = Json::object();
  for (std::size_t i = 0; i < layout.scalars.size(); ++i) put(out, layout.scalars[i].name, at.scalars[i]);
  return out;
}

Json lines(const result::Layout& layout, const result::Snapshot& at) {
  Json out = Json::object();
  std::size_t next = 0;
  for (const auto& line : layout.polylines) {
    Json points = Json::array();
    for (int i = 0; i < line.points; ++i) points.push_back(json_of(at.points[next++]));
    if (line.name.find('.') == std::string::npos)
      put(out, line.name, std::move(points));  // stripes have a dot
  }
  return out;
}

Json bodies(const sim::Equilibrium& e) {
  Json out = Json::object();
  for (std::size_t i = 0; i < e.layout.frames.size(); ++i) {
    const Quat& q = e.after.rotations[i];
    put(out, e.layout.frames[i].name,
        {{"position", json_of(e.after.positions[i])},
         {"quaternion", Json::array({q.w(), q.x(), q.y(), q.z()})},
         {"moved", json_of(e.after.positions[i] - e.before.positions[i])}});
  }
  return out;
}

Json stress(const sim::SectionForce& w) {
  return {{"largest", w.stress.combined}, {"at", w.s},
          {"bending", w.stress.bending},  {"torsion", w.stress.torsion},
          {"axial", w.stress.axial},      {"safety", finite(w.safety)},
          {"yields", w.yields},           {"breaks", w.breaks}};
}

Json beams(const sim::Equilibrium& e) {
  Json out = Json::object();
  for (const sim::BeamRest& b : e.beams) {
    Json beam = {{"tip", json_of(b.tip)}, {"moved", json_of(b.moved)}, {"slope", b.slope}};
    if (const sim::SectionForce* worst = b.worst()) beam["stress"] = stress(*worst);
    beam["sections"] = Json::array();
    for (const sim::SectionForce& s : b.sections)
      beam["sections"].push_back({{"s", s.s},
                                  {"force", {finite(s.force.x()), finite(s.force.y()), finite(s.force.z())}},
                                  {"moment", json_of(s.moment)},
                                  {"stress", s.stress.combined}});
    put(out, b.name, std::move(beam));
  }
  return out;
}

Json wrench(const Vec3& at, const Vec3& force, const Vec3& moment) {
  return {{"at", json_of(at)}, {"force", json_of(force)}, {"moment", json_of(moment)}};
}

Json reactions(const sim::Equilibrium& e) {
  Json out = Json::object();
  for (const sim::Reaction& r : e.reactions) {
    Json one = wrench(r.at, r.force, r.moment);
    one["of"] = r.of;
    if (!r.torque.empty()) one["torque"] = r.torque;
    put(out, r.name, std::move(one));
  }
  return out;
}

Json lost_json(const std::vector<chain::StabilityLoss>& lost) {
  Json list = Json::array();
  for (const auto& l : lost)
    list.push_back({{"factor", l.factor},
                    {"kind", l.limit ? "limit" : "bifurcation"},
                    {"negative_directions", l.negative},
                    {"moves", l.moves}});
  return list;
}

// Names of earlier versions, for one more: `gap`, `joints`, `loops`, `out_of_range`, `threads`.
void add_old_names(const sim::Equilibrium& e, Json& json) {
  if (e.method == "chain") {
    json["gap"] = e.gap;
    json["joints"] = e.joints;
    json["out_of_range"] = Json::array();
    for (const auto& w : e.out_of_range)
      json["out_of_range"].push_back({{"beam", w.beam}, {"element", w.element}, {"why", w.why}});
  } else if (e.method == "thread") {
    json["threads"] = json["lines"];
  } else {
    json["joints"] = Json::object();
    for (const auto& j : e.all_joints) {
      json["joints"][j.joint] = wrench(j.at, j.force, j.moment);
      json["joints"][j.joint]["torque"] = j.torque;
    }
    json["loops"] = Json::object();
    for (const sim::Reaction& r : e.reactions)
      if (r.of == "loop" || r.of == "tie") json["loops"][r.name] = wrench(r.at, r.force, r.moment);
  }
}

void add_state(const sim::Equilibrium& e, Json& json) {
  json["energy"] = {{"gravity", e.energy.gravity}, {"elastic", e.energy.elastic}};
  json["bodies"] = bodies(e);
  json["lines"] = lines(e.layout, e.after);
  json["beams"] = beams(e);
  json["probes"] = probes(e.layout, e.after);
  json["springs"] = Json::object();
  for (const auto& [name, length, tension] : e.springs)
    json["springs"][name] = {{"length", length}, {"tension", tension}};
  json["reactions"] = reactions(e);
  json["stops"] = Json::array();
  for (const auto& stop : e.stops)
    json["stops"].push_back(
        {{"joint", stop.joint}, {"dof", stop.dof}, {"bound", stop.bound}, {"force", stop.force}});
  json["modes"] = Json::array();
  for (const auto& m : e.modes)
    json["modes"].push_back({{"eigenvalue", m.eigenvalue}, {"moves", m.moves}, {"shape", m.shape}});
}

}  // namespace

Json to_json(const sim::Equilibrium& e) {
  const sim::Stability& s = e.stability;
  Json json = {{"ok", e.ok()},
               {"method", e.method},
               {"time", e.time},
               {"stable", s.counted ? Json(e.stable()) : Json()},
               {"iterations", e.report.iterations},
               {"load_steps", e.load_steps},
               {"residual", e.residual},
               {"worst", e.report.worst},
               {"loop_gap", e.gap},
               {"freedoms", e.dofs},
               {"refinement", e.refinement},
               {"negative_directions", s.counted && s.pushes == 0 ? Json(s.negative) : Json()},
               {"pushes", s.pushes},
               {"circulatory", s.circulatory},
               {"least_pivot", s.least_pivot ? Json(*s.least_pivot) : Json()},
               {"redundant_rows", e.redundant_rows},
               {"stiffness", e.stiffness ? Json(*e.stiffness) : Json()},
               {"lost", lost_json(s.lost)},
               {"message", e.report.message},
               {"summary", statements(describe(e))},
               {"events", e.events},
               {"warnings", e.warnings}};
  if (e.error.ok)
    json["error_estimate"] = {{"largest", e.error.largest}, {"tip", e.error.tip}, {"beam", e.error.where}};
  if (e.ok()) add_state(e, json);
  if (e.ok()) add_old_names(e, json);
  return json;
}

Json to_json(const sim::StaticCurve& curve) {
  Json json = {{"ok", curve.ok()},
               {"method", curve.method},
               {"job", to_string(curve.job)},
               {"message", curve.report.message},
               {"lost", lost_json(curve.lost)},
               {"stiffness", curve.stiffness > 0 ? Json(curve.stiffness) : Json()},
               {"summary", statements(describe(curve))},
               {"events", curve.events},
               {"warnings", curve.warnings},
               {"points", Json::array()}};
  for (std::size_t i = 0; i < curve.lost_error.size(); ++i)
    json["lost"][i]["error"] = finite(curve.lost_error[i]);
  for (const sim::CurvePoint& p : curve.points) {
    Json row = {{"time", p.time}, {"unstable_directions", p.negative}};
    if (curve.job == sim::StaticJob::history)
      row.update({{"largest_stress", p.largest_stress}, {"severed", p.severed}});
    else
      row.update({{"load_factor", p.load}, {"point", to_string(p.kind)}});
    if (curve.job != sim::StaticJob::history) {
      if (curve.way > 0) row.update({{"way", p.deflection}, {"reaction", p.reaction}});
      if (curve.force > 0) row.update({{"force", p.load * curve.force}, {"deflection", p.deflection}});
      row.update({{"largest_stress", p.largest_stress},
                  {"stressed", p.stressed},
                  {"stressed_at", p.stressed_at},
                  {"safety", finite(p.safety)}});
    }
    row["probes"] = probes(curve.layout, p.snapshot);
    json["points"].push_back(std::move(row));
  }
  return json;
}

Json to_json(const sim::UnloadedShape& shape) {
  Json json = {{"ok", shape.ok()},
               {"method", "chain"},
               {"job", "inverse"},
               {"message", shape.report.message},
               {"off", shape.off},
               {"stable", shape.stable},
               {"summary", statements(describe(shape))},
               {"warnings", shape.warnings},
               {"unloaded", lines(shape.layout, shape.unloaded)}};
  if (shape.ok()) json["loaded"] = lines(shape.layout, shape.loaded);
  return json;
}

Json to_json(const sim::SweepResult& result) {
  Json json = {{"ok", result.report.converged},
               {"method", "chain"},
               {"solver", chain::to_string(result.algorithm)},
               {"sweeps", result.report.sweeps},
               {"residual", result.report.residual},
               {"message", result.report.message},
               {"summary", statements(describe(result))},
               {"warnings", result.warnings},
               {"beams", Json::object()}};
  for (const auto& [beam, tip] : result.tips) json["beams"][beam] = {{"tip", json_of(tip)}};
  return json;
}

}  // namespace limber::cli
