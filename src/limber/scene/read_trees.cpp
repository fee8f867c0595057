// Trees of branches, level by level. Branch k of level l+1 stands on branch k / branches of level l:
//   X_parent_child = Trans(0, 0, length_l) · Rz(2π j / branches + twist) · Ry(angle),   j = k mod branches.
#include <fmt/format.h>

#include <cmath>

#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

struct Level {
  Body branch;  // without its name
  Joint joint;  // without names, bodies and X_PF
  double length = 0;
};

double count_branches(int levels, int branches) {
  double total = 0, level = 1;
  for (int l = 0; l < levels && total < 1e12; ++l) {
    total += level;
    level *= branches;
  }
  return total;
}

std::vector<Level> make_levels(const Fields& fields, int levels, const LinkStyle& style) {
  const double length_ratio = fields.quantity("length_ratio", 0.75),
               radius_ratio = fields.quantity("radius_ratio", 0.7);
  const double default_ratio = radius_ratio * radius_ratio * radius_ratio * radius_ratio / length_ratio;
  const double stiffness_ratio = fields.quantity("stiffness_ratio", default_ratio);
  double length = fields.quantity("length", 1);
  double radius = fields.quantity("radius", length / 20);
  Joint joint;
  joint.kind = style.kind;
  joint.law = style.law;
  joint.position = style.position;
  joint.velocity = style.velocity;
  // In the branch's axes: a branch bends about x and y and twists about z.
  joint.X_BM.R = joint_axes(style.kind,
                            fields.axis("axis", style.kind == JointKind::universal   ? Vec3::UnitX()
                                                : style.kind == JointKind::prismatic ? Vec3::UnitZ()
                                                                                     : Vec3::UnitY()),
                            style.kind == JointKind::universal && fields.has("axis")
                                ? Vec3(math::rotation_from_x(fields.axis("axis", Vec3::UnitX())).col(1))
                                : Vec3::UnitY());
  std::vector<Level> list;
  double mass_scale = 1;
  for (int l = 0; l < levels; ++l) {
    const Shape shape{CapsuleShape{radius, length}, Pose::translation(0.5 * length * Vec3::UnitZ())};
    Body branch = make_link(style, "", shape, mass_scale);
    branch.points.push_back({"tip", length * Vec3::UnitZ()});
    list.push_back({std::move(branch), joint, length});
    length *= length_ratio;
    radius *= radius_ratio;
    mass_scale *= radius_ratio * radius_ratio * length_ratio;
    for (double& k : joint.law.stiffness) k *= stiffness_ratio;
    for (double& c : joint.law.damping) c *= stiffness_ratio;
  }
  return list;
}

}  // namespace

void expand_tree(const Fields& fields, std::string_view name, const Attachment& from) {
  Reader& reader = fields.reader;
  const int levels = fields.integer("levels", 1), branches = fields.integer("branches", 2);
  const LinkStyle style = read_link_style(fields, JointKind::spherical);
  const double angle = fields.quantity("angle", pi / 6), twist = fields.quantity("twist", pi / 2);
  const Vec3 direction = fields.axis("direction", Vec3::UnitZ()), start = fields.vector("start");
  const bool fixed_trunk = fields.boolean("fixed_trunk");
  const double total = count_branches(levels, branches);
  if (!reader.claim_entities(2 * total, fields.mark("levels"), fields.path("levels"))) return;
  const std::vector<Level> list = make_levels(fields, levels, style);

  ModelParts& parts = reader.parts;
  const int first_body = static_cast<int>(parts.bodies.size()),
            first_joint = static_cast<int>(parts.joints.size());
  int level_first = 0, level_count = 1, made = 0;  // counted from first_body
  for (int l = 0; l < levels; ++l) {
    for (int k = 0; k < level_count; ++k, ++made) {
      Body body = list[l].branch;
      body.name = fmt::format("{}.{}", name, made);
      Joint joint = list[l].joint;
      joint.name = body.name + ".joint";
      joint.child = BodyId{first_body + made};
      Pose X_PB;
      if (l == 0) {
        joint.parent = from.body;
        X_PB = {math::rotation_from_z(direction), from.p + start};
        if (fixed_trunk) joint.kind = JointKind::fixed, joint.law = {}, joint.position = joint.velocity = {};
      } else {
        const int j = k % branches;
        joint.parent = BodyId{first_body + level_first - level_count / branches + k / branches};
        X_PB.p = list[l - 1].length * Vec3::UnitZ();
        X_PB.R = math::rotation_z(2 * pi * j / branches + twist * (l - 1)) * math::rotation_y(angle);
      }
      joint.X_PF = X_PB * joint.X_BM;
      parts.bodies.push_back(std::move(body));
      parts.joints.push_back(std::move(joint));
      reader.extras.push_back({{}, false, first_joint + made, -1});
    }
    if (l + 1 == levels) break;
    level_first += level_count;
    level_count *= branches;
  }
  reader.add_series({std::string(name), first_body, first_joint, made, level_first, &fields.self()});
}

}  // namespace limber::scene
