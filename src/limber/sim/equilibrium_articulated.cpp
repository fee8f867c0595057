// Equilibria of method articulated.
#include <algorithm>
#include <map>

#include "limber/articulated/live.h"
#include "limber/articulated/static_path.h"
#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/math/so3.h"
#include "limber/sim/snap.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

// A joint's axes that the section's principal ones are; a hinge's z is the section's y.
Mat3 section_axes(const Joint& joint, const Mat3& frame) {
  return joint.kind == JointKind::revolute ? Mat3(frame * math::rotation_x(0.5 * pi)) : frame;
}

// What the part beyond each joint of the beams pulls with: the opposite of the joint's reaction.
class BeamSections {
 public:
  BeamSections(const Model& written, const elastic::LinkedModel& linked)
      : written_(written), linked_(linked), forces_(written) {}

  // From root to tip.
  std::vector<SectionForce> of(std::size_t b, const std::vector<articulated::JointReaction>& joints,
                               const result::Snapshot& at) const {
    std::vector<SectionForce> out;
    const Beam& beam = written_.beams()[b];
    const auto recipe = elastic::recipe_joints(beam.recipe);
    const std::vector<BodyId>& pieces = linked_.traces[b].pieces;
    for (std::size_t k = 1; k < pieces.size(); ++k) {
      const Joint& joint = linked_.model.joints()[pieces[k].value];
      const articulated::JointReaction& r = joints[pieces[k].value];
      const double s =
          (static_cast<double>((k - 1) / recipe.size()) + recipe[(k - 1) % recipe.size()].x) / beam.elements;
      const Mat3 child = at.rotations[pieces[k].value].toRotationMatrix() * joint.X_BM.R;
      if (k == 1) {  // at the root: carried back along the piece before the first joint
        const Mat3 root =
            section_axes(joint, at.rotations[pieces[0].value].toRotationMatrix() * joint.X_PF.R);
        const Vec3 moment = r.moment + (root.col(0) * s * path_length(beam.path)).cross(r.force);
        out.push_back(
            forces_.at(static_cast<int>(b), 0, -(root.transpose() * r.force), -(root.transpose() * moment)));
      }
      const Mat3 axes = section_axes(joint, child);
      out.push_back(
          forces_.at(static_cast<int>(b), s, -(axes.transpose() * r.force), -(axes.transpose() * r.moment)));
    }
    return out;
  }
  void largest(const std::vector<articulated::JointReaction>& joints, CurvePoint& p) const {
    for (std::size_t b = 0; b < linked_.traces.size(); ++b)
      for (const SectionForce& s : of(b, joints, p.snapshot))
        take_stress(s.stress.combined, s.safety, linked_.traces[b].name, s.s, p);
  }

 private:
  const Model& written_;
  const elastic::LinkedModel& linked_;
  SectionForces forces_;
};

bool on_ground(const Model& model, BodyId body) {
  for (; body.valid(); body = model.joints()[body.value].parent)
    if (model.joints()[body.value].kind != JointKind::fixed) return false;
  return true;
}

// Roots of beams on the ground, the scene's own joints, loops and ties.
void take_reactions(const Model& written, const elastic::LinkedModel& linked,
                    const articulated::StaticResult& r, Equilibrium& e) {
  for (const elastic::BeamTrace& trace : linked.traces) {
    if (!on_ground(linked.model, trace.pieces[0])) continue;
    const articulated::JointReaction& root = r.joints[trace.pieces[0].value];
    e.reactions.push_back({trace.name, "root", root.at, root.force, root.moment, {}});
  }
  std::map<std::string, const articulated::JointReaction*> by_name;
  for (const auto& j : r.joints) by_name[j.joint] = &j;
  for (const Joint& joint : written.joints())
    if (const auto found = by_name.find(joint.name);
        found != by_name.end() && joint.kind != JointKind::free) {
      const articulated::JointReaction& j = *found->second;
      e.reactions.push_back({j.joint, "joint", j.at, j.force, j.moment, j.torque});
    }
  const auto is_tie = [&](const std::string& name) {
    return std::ranges::any_of(written.ties(), [&](const Tie& t) { return t.name == name; });
  };
  for (const auto& l : r.loops)
    e.reactions.push_back({l.loop, is_tie(l.loop) ? "tie" : "loop", l.at, l.force, l.moment, {}});
  for (const auto& t : r.touches)
    e.reactions.push_back({t.a + " on " + t.b, "contact", t.at, t.force, Vec3::Zero(), {}});
}

articulated::StaticOptions articulated_options(const StaticOptions& options) {
  articulated::StaticOptions out;
  out.load_steps = options.load_steps.value_or(out.load_steps);
  out.max_iterations = options.max_iterations.value_or(out.max_iterations);
  out.modes = options.modes.value_or(out.modes);
  out.load = out.weight = options.load;
  return out;
}

Equilibrium find_by_articulated(const Model& model, const RunOptions& run, const StaticOptions& options) {
  Equilibrium e;
  e.method = "articulated";
  e.time = options.time, e.load = options.load;
  require(model, Question::articulated_static);
  const articulated::System system = articulated::compile(model, run.articulated);
  articulated::State state = system.rest();
  state.t = options.time;
  articulated::Workspace w(system);
  e.layout = system.layout();
  articulated::observe(system, state, w, e.before);
  const articulated::StaticResult r =
      articulated::solve_static(system, state, w, articulated_options(options));
  articulated::observe(system, state, w, e.after, &r);
  e.report = r.report;
  e.residual = r.residual, e.gap = r.gap;
  e.load_steps = options.load_steps.value_or(1), e.redundant_rows = r.redundant_rows;
  e.joints = r.joints.size(), e.dofs = static_cast<std::size_t>(system.dof_count());
  e.stability = {true, r.negative, r.pushes, r.circulatory, r.least_pivot, {}};
  if (r.pushes > 0) e.stability.least_pivot.reset();
  if (r.pushes > 0 && options.modes.value_or(0) > 0)
    e.warnings.emplace_back("modes are not found of what leans on something");
  if (!e.ok()) return e;
  e.modes = r.modes, e.stops = r.stops, e.energy = r.energy, e.all_joints = r.joints;
  e.springs = articulated::spring_tensions(system, state);
  e.fields = articulated::fields(system, state, w);
  const elastic::LinkedModel linked = elastic::beams_to_links(model, elastic::Stretch::held);
  e.beams = linked_beams(linked.traces, e.before, e.after);
  const BeamSections sections(model, linked);
  for (std::size_t b = 0; b < e.beams.size(); ++b) e.beams[b].sections = sections.of(b, r.joints, e.after);
  take_reactions(model, linked, r, e);
  if (const double force = only_force(model, e.time, true); force > 0 && options.load == 1) {
    articulated::PathOptions here;
    here.statics = articulated_options(options);
    if (const auto give = articulated::give_of(system, state, here); give && *give > 0)
      e.stiffness = force * force / *give;
  }
  return e;
}

// What a curve needs: the structure, and its beams as their links stand in it.
struct CurveWork {
  Model written;
  articulated::System system;
  articulated::Workspace solver, viewer;
  elastic::LinkedModel linked;
  BeamSections sections;
  LoadedPlace loaded;
  MovedPlace moved;
  articulated::State state;
  articulated::StaticResult found;

  CurveWork(const Model& m, const articulated::Options& how, double time, bool weight_grows)
      : written(m),
        system(articulated::compile(m, how)),
        solver(system),
        viewer(system),
        linked(elastic::beams_to_links(m, elastic::Stretch::held)),
        sections(written, linked),
        loaded(system.model(), time, weight_grows),
        moved(only_moved(m, time)),
        state(system.rest()) {
    state.t = time;
  }
  void observe(const articulated::State& at, const articulated::StaticResult& rest, double factor,
               CurvePoint& p, bool shapes) {
    articulated::observe(system, at, viewer, p.snapshot, &rest);
    p.deflection = loaded.along(p.snapshot);
    take_way(moved, factor, rest.work_of_motions, p);
    sections.largest(rest.joints, p);
    if (shapes) p.fields = articulated::fields(system, at, viewer);
  }
};

Follower follow_articulated(const Model& model, const RunOptions& run, Growth growth,
                            const StaticOptions& options) {
  require(model, Question::articulated_static);
  const bool all = growth == Growth::everything;
  const Grows grows = what_grows(model, options.time);
  const auto work =
      std::make_shared<CurveWork>(model, run.articulated, options.time, all || grows == Grows::weight);
  articulated::StaticOptions statics = articulated_options(options);
  statics.modes = 0;
  return {work->system.layout(),
          [=](double share) mutable {
            if (all || grows == Grows::loads) statics.load = share;
            if (all || grows == Grows::weight) statics.weight = share;
            if (all || grows == Grows::moves) statics.motion = share;
            work->found = articulated::solve_static(work->system, work->state, work->solver, statics);
            return Follower::Rest{work->found.report, work->found.negative, {}};
          },
          [work](CurvePoint& p, bool shapes) { work->observe(work->state, work->found, p.load, p, shapes); }};
}

PathWork path_of_articulated(const Model& model, const RunOptions& run, const StaticOptions& options) {
  require(model, Question::articulated_static);
  const Grows grows = what_grows(model, options.time);
  const auto work = std::make_shared<CurveWork>(model, run.articulated, options.time, grows == Grows::weight);
  return {work->system.layout(),
          [=](const math::PathOptions& asked, bool shapes, const PathWork::Observer& observer) {
            articulated::PathOptions path;
            static_cast<math::PathOptions&>(path) = asked;
            path.statics = articulated_options(options);
            path.loads_grow = grows == Grows::loads;
            path.weight_grows = grows == Grows::weight;
            path.motions_grow = grows == Grows::moves;
            articulated::State state = work->state;
            const articulated::Path found =
                articulated::follow(work->system, state, path, [&](const articulated::PathStation& at) {
                  CurvePoint p;
                  work->observe(at.state, at.rest, at.point.factor, p, shapes);
                  observer(at.point, p);
                });
            return PathWork::Walk{found.first.report, found.report};
          }};
}

constexpr StaticJob articulated_jobs[] = {StaticJob::rest, StaticJob::ramp, StaticJob::path};

}  // namespace

const StaticAbility articulated_statics{articulated_jobs, true, find_by_articulated, follow_articulated,
                                        path_of_articulated};

}  // namespace limber::sim
