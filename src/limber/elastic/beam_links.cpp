#include "limber/elastic/beam_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "limber/elastic/beam_pieces.h"
#include "limber/elastic/spring_law.h"
#include "limber/math/so3.h"

namespace limber::elastic {
namespace {

VectorFunction scaled(const VectorFunction& f, double factor) {
  return {{f.c[0].scaled(factor), f.c[1].scaled(factor), f.c[2].scaled(factor)}};
}

// Component j of f along column j of R.
VectorFunction along_column(const VectorFunction& f, const Mat3& R, int j) {
  return {{f.c[j].scaled(R(0, j)), f.c[j].scaled(R(1, j)), f.c[j].scaled(R(2, j))}};
}

// The beams, each after the one it starts from.
std::vector<int> starting_order(std::span<const Beam> beams) {
  std::vector<int> order, state(beams.size(), 0);  // 0 new, 1 on the walk, 2 done
  for (std::size_t first = 0; first < beams.size(); ++first) {
    std::vector<int> walk;
    int b = static_cast<int>(first);
    for (; b >= 0 && state[b] == 0; b = beams[b].from.beam.value) {
      state[b] = 1;
      walk.push_back(b);
    }
    if (b >= 0 && state[b] == 1) {
      std::string ring = beams[b].name;
      for (auto it = std::find(walk.begin(), walk.end(), b) + 1; it != walk.end(); ++it)
        ring += " from " + beams[*it].name;
      throw ModelError(
          {{"beam", beams[b].name, "from",
            fmt::format("beams start from each other in a ring: {} from {}", ring, beams[b].name)}});
    }
    for (auto it = walk.rbegin(); it != walk.rend(); ++it) {
      state[*it] = 2;
      order.push_back(*it);
    }
  }
  return order;
}

// Springs that are at ease as things stand at t = 0 know their length from here on.
Model with_rest_lengths(Model model) {
  if (std::ranges::all_of(model.springs(), [](const Spring& s) { return s.rest_length >= 0; })) return model;
  const std::vector<Pose> X_WB = model.initial_poses();
  const auto place = [&](const Attachment& a) { return a.on_world() ? a.p : Vec3(X_WB[a.body.value] * a.p); };
  ModelParts parts = model.parts();
  for (Spring& s : parts.springs) s.rest_length = rest_length_of(s, place(s.a), place(s.b));
  return Model(std::move(parts));
}

class Converter {
 public:
  Converter(const Model& model, Stretch stretch, StretchAs as)
      : model_(model),
        parts_(model.parts()),
        placed_(model.beams().size()),
        poses_(model.initial_poses()),
        stretch_(stretch),
        as_(as) {}

  LinkedModel run() {
    name_surfaces();
    for (const int b : starting_order(model_.beams())) place(b);
    hang_joints();
    parts_.beams.clear();
    for (Spring& s : parts_.springs) {
      move(s.a);
      move(s.b);
    }
    for (Cable& c : parts_.cables)
      for (CableGuide& g : c.route) move(g.at);
    move_probes();
    close_ties();
    move_point_loads();
    spread_distributed_loads();
    const std::vector<char> stretches = beams_that_stretch();
    std::vector<BeamTrace> traces = draw();
    for (std::size_t b = 0; b < placed_.size(); ++b)
      if (stretches[b]) let_stretch(static_cast<int>(b), traces[b]);
    return finish(std::move(traces));
  }

 private:
  struct Placed {
    BeamPieces pieces;
    Pose X_WS;                   // the path's frame at rest
    std::vector<BodyId> bodies;  // of each piece
    std::vector<int> joints;     // of each piece, where it stands in the parts
    JointId root;                // of the first one
  };
  // A place on a body with the axes there.
  struct Place {
    BodyId body;
    Pose X_BL;
  };

  Place find(const Attachment& a) const {
    if (!a.beam.valid()) return {a.body, Pose::translation(a.p)};
    const Placed& beam = *placed_[a.beam.value];
    const int piece = beam.pieces.holding(a.s);
    return {beam.bodies[piece], beam.pieces.local_axes(piece, a.s) * Pose::translation(a.p)};
  }

  // A place when nothing acts, in the world.
  Pose at_rest(const Attachment& a) const {
    if (a.beam.valid()) {
      const Placed& beam = *placed_[a.beam.value];
      return beam.X_WS * beam.pieces.frames().at(a.s) * Pose::translation(a.p);
    }
    return (a.body.valid() ? poses_[a.body.value] : Pose::identity()) * Pose::translation(a.p);
  }

  // Joints on beams go to the link that holds their place, where the beam is as it is drawn.
  void hang_joints() {
    if (std::ranges::none_of(model_.joints(), [](const Joint& j) { return j.beam.valid(); })) return;
    const std::vector<Pose> drawn = drawn_poses();
    for (std::size_t i = 0; i < model_.joints().size(); ++i) {
      Joint& joint = parts_.joints[i];
      if (!joint.beam.valid()) continue;
      Attachment at;
      at.beam = joint.beam, at.s = joint.s;
      const Attachment* from = &model_[joint.beam].from;
      while (from->beam.valid()) from = &model_[from->beam].from;
      if (from->body.valid()) {
        const Pose &was = drawn[from->body.value], &is = poses_[from->body.value];
        if ((was.p - is.p).norm() > 1e-9 || (was.R - is.R).norm() > 1e-9)
          throw ModelError({{"joint", joint.name, "parent",
                             "the beam starts from a body that does not start where it is drawn"}});
      }
      const Place place = find(at);
      joint.parent = place.body;
      joint.X_PF = place.X_BL * at_rest(at).inverse() * joint.X_PF;
      joint.beam = {}, joint.s = 0;
    }
  }

  // With all coordinates at zero.
  std::vector<Pose> drawn_poses() const {
    std::vector<Pose> out;
    for (const Joint& j : model_.joints()) {
      const Pose X_WP = j.parent.valid() ? out[static_cast<std::size_t>(j.parent.value)] : Pose::identity();
      out.push_back(X_WP * j.X_PF * joint_pose(j.kind, j.pitch, {}) * j.X_BM.inverse());
    }
    return out;
  }

  // A tie becomes a loop: its frames agree at rest, or, between two places, have the same axes.
  void close_ties() {
    for (const Tie& tie : parts_.ties) {
      const Place on = find(tie.on), to = find(tie.to);
      const Pose X_on = at_rest(tie.on);
      const Pose X_to = tie.to.on_world() ? X_on : at_rest(tie.to);
      const Mat3 axes = math::rotation_from_z(tie.axis.normalized());
      Loop loop;
      loop.name = tie.name;
      loop.kind = tie.kind;
      loop.a = to.body;
      loop.b = on.body;
      // The joint's frame, seen from each body: where the body's place is at rest, with the joint's axes.
      loop.X_BM = {on.X_BL.R * X_on.R.transpose() * axes, on.X_BL.p};
      loop.X_AF =
          tie.to.on_world() ? Pose{axes, X_on.p} : Pose{to.X_BL.R * X_to.R.transpose() * axes, to.X_BL.p};
      loop.shift = tie.shift;
      loop.turn = tie.turn;
      parts_.loops.push_back(std::move(loop));
    }
    parts_.ties.clear();
    parts_.changes.clear();  // of beams, which are gone
    parts_.events.clear();   // they name ties, loads and clamps as written: who runs the model has them
  }

  // A beam that a pair names is a kind of surface that its pieces have; what they have else comes after it.
  void name_surfaces() {
    if (!parts_.contact) return;
    for (SurfacePair& p : parts_.contact->pairs)
      for (Surface* s : {&p.a, &p.b}) {
        if (!s->beam.valid()) continue;
        const auto [it, is_new] = kind_of_beam_.try_emplace(s->beam.value, parts_.surfaces.size());
        if (is_new) parts_.surfaces.push_back({model_[s->beam].name, {}});
        *s = {.kind = static_cast<int>(it->second)};
      }
  }
  std::vector<int> surfaces_of(int beam) const {
    std::vector<int> out = model_.beams()[beam].surfaces;
    if (const auto it = kind_of_beam_.find(beam); it != kind_of_beam_.end())
      out.push_back(static_cast<int>(it->second));
    return out;
  }

  void move(Attachment& a) const {
    if (!a.beam.valid()) return;
    const Place place = find(a);
    a = {};
    a.body = place.body;
    a.p = place.X_BL.p;
  }

  // Called before close_ties(): loops will stand behind those that are there.
  void move_probes() {
    for (Probe& p : parts_.probes) {
      const Told told = p.told();
      if (told == Told::root_reaction) {
        p.joint = placed_[p.beam.value]->root;
        p.beam = {};
      } else if (told == Told::tie_reaction) {
        p.loop = LoopId{static_cast<std::int32_t>(parts_.loops.size()) + p.tie.value};
        p.tie = {};
      } else if (is_of_section(told)) {
        p.beam = p.at.beam, p.s = p.at.s;
        p.at.p.setZero();  // the section is that of the axis
      }
      move(p.at);
    }
  }

  const SectionConstants& constants(SectionId id) {
    auto [it, is_new] = constants_.try_emplace(id.value);
    if (is_new) try {
        it->second = section_constants(model_[id].shape);
      } catch (const std::invalid_argument& e) {
        throw ModelError({{"section", model_[id].name, "", e.what()}});
      }
    return it->second;
  }

  BodyId add_piece(const std::string& name, int beam, const BeamPieces& pieces, int piece, Joint joint) {
    Body body;
    body.name = name;
    body.surfaces = surfaces_of(beam);
    body.inertia = pieces.inertia(piece);
    body.shapes = pieces.shapes(piece);
    parts_.bodies.push_back(std::move(body));
    joint.name = name + ".joint";
    joint.child = BodyId{static_cast<std::int32_t>(parts_.bodies.size()) - 1};
    parts_.joints.push_back(joint);
    return joint.child;
  }

  // The beam's bodies and joints: the root piece welded on, then link after link.
  void place(int index) {
    const Beam& beam = model_.beams()[index];
    Placed placed{
        BeamPieces(beam, model_[beam.material], model_[beam.section].shape, constants(beam.section)),
        {},
        {},
        {},
        {}};
    const BeamPieces& pieces = placed.pieces;
    const Place start = find(beam.from);
    placed.X_WS = at_rest(beam.from);
    if (beam.planar && std::abs(pieces.principal_angle()) > 1e-9)
      throw ModelError(
          {{"beam", beam.name, "planar", "the section bends aside: its principal axes are not its y and z"}});

    Joint weld;
    weld.parent = start.body;
    weld.X_PF = start.X_BL * pieces.frame(0);
    placed.bodies.push_back(add_piece(beam.name + ".root", index, pieces, 0, weld));
    placed.root = JointId{static_cast<std::int32_t>(parts_.joints.size()) - 1};
    placed.joints.push_back(placed.root.value);

    const Pose principal = Pose::rotation(math::rotation_x(pieces.principal_angle()));
    for (int k = 1; k < pieces.count(); ++k) {
      Joint joint;
      joint.kind = JointKind::spherical;
      joint.parent = placed.bodies.back();
      joint.law = pieces.law(k);
      // Where it is turned at ease, its spring has the axes half way between the two pieces.
      const Vec3 ease = math::so3_log(principal.R.transpose() * pieces.ease(k) * principal.R);
      for (int i = 0; i < 3; ++i) joint.law.rest[i] = ease[i];
      const Pose axes = beam.rest ? principal * Pose::rotation(math::so3_exp(-0.5 * ease)) : principal;
      joint.X_PF = pieces.local_axes(k - 1, pieces.start(k)) * axes;
      joint.X_BM = axes;
      if (beam.planar) {  // a hinge about y
        const Pose to_y = Pose::rotation(math::rotation_x(-0.5 * pi));
        joint.kind = JointKind::revolute;
        joint.X_PF = joint.X_PF * to_y;
        joint.X_BM = joint.X_BM * to_y;
        joint.law.stiffness[0] = joint.law.stiffness[1];
        joint.law.damping[0] = joint.law.damping[1];
        if (std::abs(ease[0]) > 1e-9 || std::abs(ease[2]) > 1e-9)
          throw ModelError({{"beam", beam.name, "rest",
                             "bends aside or twists: the beam bends about its section's y only"}});
        joint.law.rest = {ease[1]};
      }
      placed.bodies.push_back(add_piece(fmt::format("{}.{}", beam.name, k - 1), index, pieces, k, joint));
      placed.joints.push_back(static_cast<int>(parts_.joints.size()) - 1);
    }
    placed_[index] = std::move(placed);
  }

  // A load whose components, if it follows, are in axes L at its place. Where L is not the body's axes the
  // components turn: at once if constant, else one load a component.
  void add_load(std::vector<PointLoad>& loads, PointLoad load, const Mat3& R_BL) {
    if (!load.follows || R_BL.isIdentity(1e-12)) return loads.push_back(std::move(load));
    if (load.force.is_constant() && load.moment.is_constant()) {
      load.force = VectorFunction::constant(R_BL * load.force.value(0));
      load.moment = VectorFunction::constant(R_BL * load.moment.value(0));
      return loads.push_back(std::move(load));
    }
    const std::size_t before = loads.size();
    for (int j = 0; j < 3; ++j) {
      if (load.force.c[j].is_zero() && load.moment.c[j].is_zero()) continue;
      PointLoad part = load;
      part.name = fmt::format("{}.{}", load.name, "xyz"[j]);
      part.force = along_column(load.force, R_BL, j);
      part.moment = along_column(load.moment, R_BL, j);
      loads.push_back(std::move(part));
    }
    if (loads.size() == before) loads.push_back(std::move(load));  // a probe may ask for it
  }

  void move_point_loads() {
    std::vector<PointLoad> loads;
    for (PointLoad& load : parts_.point_loads) {
      load.of = LoadId{static_cast<std::int32_t>(&load - parts_.point_loads.data())};
      const Mat3 R_BL = load.at.beam.valid() ? find(load.at).X_BL.R : Mat3::Identity().eval();
      move(load.at);
      add_load(loads, std::move(load), R_BL);
    }
    parts_.point_loads = std::move(loads);
  }

  void spread_distributed_loads() {
    for (const DistributedLoad& load : parts_.distributed_loads) {
      const Placed& beam = *placed_[load.beam.value];
      const BeamPieces& pieces = beam.pieces;
      int count = 0;
      for (int k = 0; k < pieces.count(); ++k) {
        const double s0 = std::max(load.s0, pieces.start(k)), s1 = std::min(load.s1, pieces.end(k));
        if (!(s1 > s0)) continue;
        PointLoad part;
        part.name = fmt::format("{}.{}", load.name, count++);
        part.of = LoadId{static_cast<std::int32_t>(model_.point_loads().size() +
                                                   (&load - parts_.distributed_loads.data()))};
        part.at.body = beam.bodies[k];
        part.at.p = pieces.center(k, s0, s1);
        part.force = scaled(load.force_per_length, (s1 - s0) * pieces.frames().length());
        part.follows = load.follows;
        add_load(parts_.point_loads, std::move(part), pieces.local_axes(k, 0.5 * (s0 + s1)).R);
      }
    }
    parts_.distributed_loads.clear();
  }

  // The ends of the elements lie on the rod's own curve; with three joints an element its middle is close to
  // it too.
  std::vector<BeamTrace> draw() const {
    std::vector<BeamTrace> traces;
    for (std::size_t b = 0; b < placed_.size(); ++b) {
      const Beam& beam = model_.beams()[b];
      const Placed& placed = *placed_[b];
      BeamTrace trace;
      trace.name = beam.name;
      trace.pieces = placed.bodies;
      trace.radius = constants_.at(beam.section.value).radius;
      const auto recipe = recipe_joints(beam.recipe);
      const double element = path_length(beam.path) / beam.elements;
      for (std::size_t k = 0; k + 1 < placed.bodies.size(); ++k) {
        const RecipeJoint& j = recipe[k % recipe.size()];
        trace.joints.push_back(placed.pieces.start(static_cast<int>(k) + 1));
        trace.shares.emplace_back(element * j.twist_compliance, element * j.bend_compliance);
      }
      const int n = beam.elements * (recipe.size() == 3 ? 2 : 1);
      for (int i = 0; i <= n; ++i) {
        const double s = static_cast<double>(i) / n;
        const int piece = placed.pieces.holding(s);
        trace.bodies.push_back(placed.bodies[piece]);
        trace.points.push_back(placed.pieces.local_axes(piece, s).p);
        trace.s.push_back(s);
      }
      traces.push_back(std::move(trace));
    }
    return traces;
  }

  // By what the scene says; else by what was asked for.
  std::vector<char> beams_that_stretch() const {
    std::vector<char> out(placed_.size(), 0);
    const std::vector<char> held = stretch_ == Stretch::held ? bodies_in_loops() : std::vector<char>();
    for (std::size_t b = 0; b < placed_.size(); ++b) {
      const Beam& beam = model_.beams()[b];
      const bool asked =
          stretch_ == Stretch::held && placed_[b]->bodies.size() > 1 && held[placed_[b]->bodies[1].value];
      out[b] = beam.stretch.value_or(asked && can_stretch(beam.recipe));
    }
    return out;
  }

  // Whose joint a loop goes through: on the way from one of its bodies to the other.
  std::vector<char> bodies_in_loops() const {
    std::vector<int> parent(parts_.bodies.size(), -1);
    for (const Joint& j : parts_.joints) parent[j.child.value] = j.parent.value;
    std::vector<char> out(parts_.bodies.size(), 0);
    std::vector<std::size_t> seen(parts_.bodies.size(), 0);  // on the way from the last loop's a to the root
    for (std::size_t l = 0; l < parts_.loops.size(); ++l) {
      const int a = parts_.loops[l].a.value;
      for (int i = a; i >= 0; i = parent[i]) seen[i] = l + 1;
      int meet = parts_.loops[l].b.value;
      for (; meet >= 0 && seen[meet] != l + 1; meet = parent[meet]) out[meet] = 1;
      for (int i = a; i != meet; i = parent[i]) out[i] = 1;
    }
    return out;
  }

  // The joints of a beam shift too, in the axes they have on the piece before.
  void let_stretch(int index, BeamTrace& trace) {
    const Beam& beam = model_.beams()[index];
    const Placed& placed = *placed_[index];
    for (std::size_t k = 1; k < placed.bodies.size(); ++k) {
      Joint& joint = parts_.joints[placed.joints[k]];
      Vec3 give = placed.pieces.give(static_cast<int>(k));
      if (beam.planar) give = {give[0], give[2], 0};  // the hinge's y is the section's z
      trace.give.push_back(joint.X_PF.R * give.asDiagonal() * joint.X_PF.R.transpose());
      if (as_ == StretchAs::traces) continue;
      const JointLaw bend = joint.law;
      joint.kind = beam.planar ? JointKind::planar : JointKind::free;
      const int turns = beam.planar ? 1 : 3, first = beam.planar ? 2 : 0, shifts = beam.planar ? 0 : 3;
      joint.law = {};
      for (int i = 0; i < turns; ++i) {
        joint.law.stiffness[first + i] = bend.stiffness[i];
        joint.law.damping[first + i] = bend.damping[i];
        joint.law.rest[first + i] = bend.rest[i];
      }
      for (int i = 0; i < (beam.planar ? 2 : 3); ++i) {
        joint.law.stiffness[shifts + i] = 1 / give[i];
        joint.law.damping[shifts + i] = beam.damping / give[i];
      }
    }
  }

  // Building the model renumbers the bodies; names find them again.
  LinkedModel finish(std::vector<BeamTrace> traces) {
    std::vector<std::string> names;
    const auto each_body = [&](auto visit) {
      for (BeamTrace& trace : traces)
        for (auto* list : {&trace.pieces, &trace.bodies})
          for (BodyId& id : *list) visit(id);
    };
    each_body([&](BodyId id) { names.push_back(parts_.bodies[id.value].name); });
    Model linked = with_rest_lengths(Model(std::move(parts_)));
    std::unordered_map<std::string_view, std::int32_t> number;
    for (std::size_t i = 0; i < linked.bodies().size(); ++i)
      number.emplace(linked.bodies()[i].name, static_cast<std::int32_t>(i));
    std::size_t next = 0;
    each_body([&](BodyId& id) { id = BodyId{number.at(names[next++])}; });
    return {std::move(linked), std::move(traces)};
  }

  const Model& model_;
  ModelParts parts_;
  std::vector<std::optional<Placed>> placed_;
  std::vector<Pose> poses_;
  std::unordered_map<int, SectionConstants> constants_;
  std::unordered_map<int, std::size_t> kind_of_beam_;  // in parts_.surfaces, of those that pairs name
  Stretch stretch_;
  StretchAs as_;
};

}  // namespace

LinkedModel beams_to_links(const Model& model, Stretch stretch, StretchAs as) {
  return Converter(model, stretch, as).run();
}

}  // namespace limber::elastic
