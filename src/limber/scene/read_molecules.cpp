// Random trees of links: polymers, proteins, random attachment, chains.
//
// A link is a box from its joint along x; its joint sits at the parent's end, with a random axis and a random
// turn of the link. Random numbers are Marsaglia's xorshift (2003) with Vigna's multiplier (2016), the same
// everywhere.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 8; ++i) next();
  }
  int below(int n) { return static_cast<int>(next() >> 33) % n; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  Mat3 rotation() {  // by a random quaternion: a point in the unit ball of four dimensions
    for (;;) {
      double x[4], sum = 0;
      for (double& c : x) {
        c = 2 * unit() - 1;
        sum += c * c;
      }
      if (sum > 1 || sum < 1e-3) continue;
      return math::to_matrix(math::normalized(Quat(x[0], x[1], x[2], x[3])));
    }
  }

 private:
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  std::uint64_t state_;
};

enum Kind { polymer, protein, random_tree, chain };

// What body i hangs on. A protein's residue is a backbone body and up to a dozen side bodies on its last
// four.
class Parents {
 public:
  Parents(int kind, Dice& dice) : kind_(kind), dice_(dice) {}
  int of(int i) {
    if (i == 0) return -1;
    if (kind_ == polymer) return i - 1 - dice_.below(i < 4 ? i : 4);
    if (kind_ == random_tree) return dice_.below(i);
    if (kind_ == chain) return i - 1;
    if (dice_.below(4) == 0 || i - backbone_ > 12) {
      const int parent = backbone_;
      backbone_ = i;
      return parent;
    }
    const int side = i - backbone_;
    return i - 1 - dice_.below(side < 4 ? side : 4);
  }

 private:
  int kind_, backbone_ = 0;
  Dice& dice_;
};

}  // namespace

void expand_molecule(const Fields& fields, std::string_view name, const Attachment& from) {
  Reader& reader = fields.reader;
  const int bodies = fields.integer("bodies", 1), kind = fields.integer("kind", 0),
            seed = fields.integer("seed", 1);
  const double length = fields.quantity("length", 1), radius = fields.quantity("radius", 0.15 * length);
  const Vec3 start = fields.vector("start");
  if (kind < polymer || kind > chain) return fields.error("kind", "expected 0, 1, 2 or 3");
  LinkStyle style;
  style.kind = JointKind::revolute;
  read_link_matter(fields, style);
  if (!reader.claim_entities(2.0 * bodies, fields.mark("bodies"), fields.path("bodies"))) return;

  ModelParts& parts = reader.parts;
  const int first_body = static_cast<int>(parts.bodies.size()),
            first_joint = static_cast<int>(parts.joints.size());
  reader.add_series({std::string(name), first_body, first_joint, bodies, -1, &fields.self()});
  const Shape shape{BoxShape{{length, 2 * radius, 2 * radius}}, Pose::translation({0.5 * length, 0, 0})};
  Body link = make_link(style, "", shape);
  link.points.push_back({"tip", {length, 0, 0}});
  Dice dice(static_cast<std::uint64_t>(seed));
  Parents parents(kind, dice);
  for (int i = 0; i < bodies; ++i) {
    Body body = link;
    body.name = fmt::format("{}.{}", name, i);
    Joint joint;
    joint.name = body.name + ".joint";
    joint.kind = JointKind::revolute;
    const int parent = parents.of(i);
    joint.parent = parent < 0 ? from.body : BodyId{first_body + parent};
    joint.child = BodyId{first_body + i};
    joint.X_BM.R = dice.rotation();  // the axis in the link
    joint.X_PF = {dice.rotation() * joint.X_BM.R, parent < 0 ? Vec3(from.p + start) : Vec3(length, 0, 0)};
    parts.bodies.push_back(std::move(body));
    parts.joints.push_back(std::move(joint));
    reader.extras.push_back({{}, false, first_joint + i, -1});
  }
}

}  // namespace limber::scene
