// Cables: their guides, and which side of a pulley "over" is.
#include <fmt/format.h>

#include "limber/scene/fields.h"

namespace limber::scene {
namespace {

enum Turn { over, under, positive, negative };

struct WrittenGuide {
  CableGuide guide;
  int turn = over;
  Mark mark;
};

class CableReader {
 public:
  CableReader(const Fields& fields, Cable& out) : fields_(fields), reader_(fields.reader), out_(out) {}

  void read() {
    for_each_item(fields_, "route", ObjectType::guide, [&](const Fields& f) { read_guide(f); });
    out_.closed = fields_.boolean("closed");
    for (std::size_t k = 0; k < guides_.size(); ++k) find_sense(k);
    for (const WrittenGuide& g : guides_) out_.route.push_back(g.guide);
    out_.stiffness = fields_.quantity("stiffness", 0);
    out_.EA = fields_.quantity("EA", 0);
    out_.damping = fields_.quantity("damping", 0);
    out_.rest_length = fields_.quantity("rest_length", -1);
    out_.pretension = fields_.quantity("pretension", 0);
    out_.winch = fields_.function("winch");
    out_.color = read_color(fields_);
  }

 private:
  void read_guide(const Fields& f) {
    WrittenGuide g{{}, f.choice("turn", over), f.mark()};
    const bool pulley = f.has("pulley");
    if (const auto at = f.place(pulley ? "pulley" : "on")) g.guide.at = *at;
    g.guide.at.p += f.vector("at");
    g.guide.turns = f.integer("turns", 0);
    g.guide.grip = f.boolean("grip");
    g.guide.friction = f.quantity("friction", 0);
    if (pulley) {
      if (!f.has("radius")) f.error("pulley", "needs its radius");
      g.guide.radius = f.quantity("radius", 1);
      g.guide.axis = f.axis("axis", Vec3::UnitZ());
    } else {
      for (const char* key : {"radius", "axis", "turn", "turns"})
        if (f.has(key)) f.error(key, "is of a pulley; this guide is a point");
    }
    guides_.push_back(g);
  }

  Pose pose_of(const Attachment& at) {
    return at.body.valid() ? reader_.start_pose(at.body) : Pose::identity();
  }

  // On its top a cable that runs counter-clockwise about n moves along n × z.
  void find_sense(std::size_t k) {
    WrittenGuide& g = guides_[k];
    if (g.guide.radius == 0) return;
    if (g.turn == positive || g.turn == negative) {
      g.guide.sense = g.turn == positive ? 1 : -1;
      return;
    }
    const std::size_t n = guides_.size();
    const bool first = k == 0 && !out_.closed, last = k + 1 == n && !out_.closed;
    const Attachment& from = guides_[first ? k : (k + n - 1) % n].guide.at;
    const Attachment& to = guides_[last ? k : (k + 1) % n].guide.at;
    const Vec3 n_W = pose_of(g.guide.at).R * g.guide.axis, top = n_W.cross(Vec3::UnitZ());
    double along = 0;
    if (!from.beam.valid() && !to.beam.valid()) {
      const Vec3 way = pose_of(to) * to.p - pose_of(from) * from.p;
      along = top.dot(way);
      if (std::abs(along) < 1e-3 * way.norm()) along = 0;
    }
    if (along == 0) {
      const Path route = fields_.path("route"), path{&route, {}, static_cast<int>(k)};
      return reader_.error(g.mark, path,
                           "which way the cable runs over or under it is not clear: say turn: positive or "
                           "turn: negative, seen against its axis");
    }
    g.guide.sense = (along > 0) == (g.turn == over) ? 1 : -1;
  }

  const Fields& fields_;
  Reader& reader_;
  Cable& out_;
  std::vector<WrittenGuide> guides_;
};

}  // namespace

void read_cables(const Fields& scene) {
  Reader& reader = scene.reader;
  for_each_entry(scene, "cables", ObjectType::cable, [&](const Fields& fields, std::string_view name) {
    if (!reader.claim_entities(1, fields.mark(), fields.path())) return;
    Cable cable;
    cable.name = name;
    reader.remember("cable", name, fields.self(), fields.mark(), fields.path());
    CableReader(fields, cable).read();
    reader.parts.cables.push_back(std::move(cable));  // wrong or not, so that probes find it
  });
}

}  // namespace limber::scene
