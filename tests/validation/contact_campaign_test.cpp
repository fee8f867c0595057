// Contact in scenes drawn at random: what is thrown stays on its side of a plate, and contacts give no
// energy. The short forms are tests; `make contact-campaign` draws hundreds.
#include <cstdlib>
#include <random>

#include "tests/validation/contact_world.h"

namespace limber {
namespace {

using articulated::Integrator;
using testing::g;
using testing::World;

// The long form where a campaign asks for it.
int scenes_to_draw(int few, int many) { return std::getenv("LIMBER_CAMPAIGN") ? many : few; }

class Draw {
 public:
  explicit Draw(int seed) : from_(static_cast<std::uint64_t>(seed) * 7919 + 17) {}
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(from_() >> 11) * 0x1p-53);
  }
  int one_of(int n) { return static_cast<int>(from_() % static_cast<std::uint64_t>(n)); }
  double by_factors(double low, double high) { return low * std::pow(high / low, between(0, 1)); }
  std::string vector(double most) {
    return fmt::format("[{:.9g}, {:.9g}, {:.9g}]", between(-most, most), between(-most, most),
                       between(-most, most));
  }
  // Any solid that moves, about `size` large.
  std::string solid(double size, bool meshes = false) {
    if (meshes && one_of(7) == 0) return mesh(size);
    const double a = size * between(0.3, 1), b = size * between(0.3, 1), c = size * between(0.1, 1);
    switch (one_of(6)) {
      case 0:
        return fmt::format("sphere: {{radius: {:.6g}}}", a / 2);
      case 1:
        return fmt::format("box: [{:.6g}, {:.6g}, {:.6g}]", a, b, c);
      case 2:
        return fmt::format("capsule: {{radius: {:.6g}, length: {:.6g}}}", c / 3, a);
      case 3:
        return fmt::format("cylinder: {{radius: {:.6g}, length: {:.6g}}}", a / 2, c);
      case 4: {
        std::string points;
        for (int k = 0; k < 8; ++k) points += vector(size / 2) + ", ";
        return "hull: {points: [" + points + "]}";
      }
      default:
        return fmt::format(
            "shapes: [{{box: [{0:.6g}, {1:.6g}, {2:.6g}]}}, {{sphere: {{radius: {1:.6g}}}, at: [{0:.6g}, 0, "
            "0]}}]",
            a / 2, b / 3, c / 3);
    }
  }
  // A tetrahedron, a wedge or a stone of eight faces, closed.
  std::string mesh(double size) {
    const auto at = [&](double x, double y, double z) {
      return fmt::format("[{:.6g}, {:.6g}, {:.6g}]", size / 2 * x * between(0.7, 1),
                         size / 2 * y * between(0.7, 1), size / 2 * z * between(0.7, 1));
    };
    std::string vertices, triangles;
    const auto corner = [&](double x, double y, double z) { vertices += at(x, y, z) + ", "; };
    if (one_of(2)) {
      corner(1, 1, 1), corner(-1, -1, 1), corner(-1, 1, -1), corner(1, -1, -1);
      triangles = "[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]";
    } else {
      corner(1, 0, 0), corner(0, 1, 0), corner(-1, 0, 0), corner(0, -1, 0), corner(0, 0, 1), corner(0, 0, -1);
      triangles = "[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]";
    }
    return "mesh: {vertices: [" + vertices + "], triangles: [" + triangles + "]}";
  }

 private:
  std::mt19937_64 from_;
};

// A plate of 1 mm and 2 m square, its upper face at z = 0 of its body; how it is held, and what it is made
// of.
std::string plate(Draw& draw, std::string& joints) {
  const int held = draw.one_of(3);
  std::string body;
  switch (held == 0 ? draw.one_of(3) : draw.one_of(2)) {
    case 0:
      body = "shapes: [{box: [2, 2, 0.001], at: [0, 0, -0.0005]}]";
      break;
    case 1:
      body =
          "mesh: {vertices: [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, -0.001], [1, -1, "
          "-0.001], [1, 1, -0.001], [-1, 1, -0.001]], triangles: [[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, "
          "6], [0, 4, 5], [0, 5, 1], [1, 5, 6], [1, 6, 2], [2, 6, 7], [2, 7, 3], [3, 7, 4], [3, 4, 0]]}";
      break;
    default:
      body = "height_field: {size: [2, 2], height: 0*x, cells: [7, 9]}";
  }
  if (held == 0) return "fixed: true, " + body;
  if (held == 1)
    joints = fmt::format(
        "  hold: {{type: revolute, child: plate, at: [-1, 0, 0], axis: [0, 1, 0], stiffness: {:.6g}}}\n",
        draw.by_factors(100, 1e5));
  else if (draw.one_of(2))
    joints = fmt::format(
        "  hold: {{type: prismatic, child: plate, axis: [0, 0, 1], motion: {:.6g}*sin({:.6g}*t)}}\n",
        draw.between(0.01, 0.1), draw.between(5, 60));
  else
    joints = fmt::format(
        "  hold: {{type: revolute, child: plate, at: [0, 0, 0], axis: [0, 1, 0], motion: "
        "{:.6g}*sin({:.6g}*t)}}\n",
        draw.between(0.01, 0.3), draw.between(5, 40));
  return "mass: 5, " + body;
}

// One throw; what went wrong, or nothing.
std::string thrown(int seed) {
  Draw draw(seed);
  std::string joints;
  const std::string held = plate(draw, joints), solid = draw.solid(draw.by_factors(0.01, 0.1), true);
  const double speed = draw.by_factors(1, 100);
  const Integrator by[] = {Integrator::midpoint, Integrator::midpoint, Integrator::implicit_euler,
                           Integrator::euler,    Integrator::gauss,    Integrator::sdirk4};
  const double h = draw.by_factors(2e-4, 5e-3);
  const std::string text = fmt::format(
      "bodies:\n  plate: {{{}}}\n  it: {{at: [{:.6g}, {:.6g}, {:.6g}], rotate: {}, {}, density: {:.6g}, "
      "velocity: "
      "[{:.6g}, {:.6g}, {:.6g}], angular_velocity: {}}}\n{}contact: {{friction: {:.6g}, restitution: "
      "{:.6g}}}\n",
      held, draw.between(-0.3, 0.3), draw.between(-0.3, 0.3), draw.between(0.3, 0.6), draw.vector(3), solid,
      draw.by_factors(100, 10000), 0.3 * draw.between(-speed, speed), 0.3 * draw.between(-speed, speed),
      -speed, draw.vector(draw.by_factors(1, 200)), joints.empty() ? "" : "joints:\n" + joints,
      draw.between(0, 1), draw.one_of(3) ? draw.between(0, 1) : 0.0);
  const Integrator integrator = by[draw.one_of(6)];
  World world(text, integrator);
  const auto say = [&](const std::string& what) {
    return fmt::format("seed {}, {}, h = {:.17g}: {}\n{}", seed, articulated::to_string(integrator), h, what,
                       text);
  };
  while (world.state.t < 1.2 / speed + 0.1) {
    const auto report = articulated::step(world.system, world.state, world.w, h);
    // A single solve gives what spins fast energy of its own, and the run ends by saying so.
    const bool spins =
        integrator == Integrator::euler && report.message.find("out of nothing") != std::string::npos;
    if (!report.ok()) return spins ? "" : say(report.message);
    const Vec3 p = world.pose("plate").inverse() * world.centre("it");
    if (std::abs(p.x()) > 0.95 || std::abs(p.y()) > 0.95) return "";  // past its edge
    if (p.z() < -1e-3) return say(fmt::format("it is through at t = {:.6g}", world.state.t));
  }
  return "";
}

TEST(ContactCampaign, NothingThrownGoesThroughAThinPlate) {
  for (int seed = 0; seed < scenes_to_draw(40, 500); ++seed) {
    const std::string wrong = thrown(seed);
    EXPECT_TRUE(wrong.empty()) << wrong;
  }
}

// Five to fifty bodies in a bin; some hang together, in pairs and in a ring.
std::string tumbling(Draw& draw) {
  const int n = 5 + draw.one_of(scenes_to_draw(11, 46)), tied = draw.one_of(3), side = 4;
  const auto at = [&](int i) -> Vec3 {
    return 0.16 * Vec3(i % side - 1.5, i / side % side - 1.5, i / (side * side) + 0.6);
  };
  const auto between = [&](int i, int k) {
    const Vec3 p = 0.5 * (at(i) + at(k));
    return fmt::format("at: [{:.9g}, {:.9g}, {:.9g}]", p.x(), p.y(), p.z());
  };
  std::vector<int> parent(static_cast<std::size_t>(n), -1);
  if (tied == 1)
    for (int i = 0; i + 1 < n; i += 4) parent[i + 1] = i;
  const bool ring = tied == 2 && n >= 8;
  if (ring) parent[1] = 0, parent[5] = 1, parent[4] = 5;
  std::string bodies = "bodies:\n", joints = "joints:\n";
  const char* kinds[] = {"revolute", "spherical", "universal"};
  for (int i = 0; i < n; ++i) {
    const std::string solid = draw.solid(0.09), turned = draw.vector(3), velocity = draw.vector(2),
                      turning = draw.vector(10);
    bodies += fmt::format("  b{}: {{at: [{:.9g}, {:.9g}, {:.9g}], rotate: {}, {}, density: {:.6g}", i,
                          at(i).x(), at(i).y(), at(i).z(), turned, solid, draw.by_factors(300, 3000));
    if (parent[i] < 0)
      bodies += fmt::format(", velocity: {}, angular_velocity: {}}}\n", velocity, turning);
    else
      bodies += "}\n", joints += fmt::format("  j{}: {{type: {}, parent: b{}, child: b{}, {}}}\n", i,
                                             ring ? "spherical" : kinds[draw.one_of(3)], parent[i], i,
                                             between(parent[i], i));
  }
  if (ring) joints += "loops:\n  close: {type: spherical, a: b4, b: b0, " + between(4, 0) + "}\n";
  const double restitution = draw.one_of(4) == 0 ? 1.0 : draw.one_of(3) == 0 ? 0.0 : draw.between(0, 1);
  return bodies + (tied == 1 || ring ? joints : "") +
         fmt::format(
             "contact: {{friction: {:.6g}, restitution: {:.6g}, planes: [{{at: [0, 0, 0]}}, {{at: [0.4, 0, "
             "0], "
             "normal: [-1, 0, 0]}}, {{at: [-0.4, 0, 0], normal: [1, 0, 0]}}, {{at: [0, 0.4, 0], normal: [0, "
             "-1, "
             "0]}}, {{at: [0, -0.4, 0], normal: [0, 1, 0]}}]}}\n",
             draw.one_of(5) ? draw.between(0, 1) : 0.0, restitution);
}

struct Gain {
  double contacts = 0, flight = 0;  // [1/s] of the energy at the start
  std::string failed;
};

Gain gain_of(const std::string& text, double seconds, double h) {
  World world(text);
  Gain gain;
  const double start = world.energy();
  while (world.state.t < seconds - h / 2) {
    const auto report = articulated::step(world.system, world.state, world.w, h);
    if (!report.ok()) {
      gain.failed = report.message;
      return gain;
    }
    // Nothing else works: what contacts take is `dissipated`, what they give is `work`, the rest is the
    // integrator's own in free flight.
    const double rest = world.energy() - start + world.state.dissipated - world.state.work;
    gain.flight = std::max(gain.flight, rest / start / seconds);
  }
  gain.contacts = world.state.work / start / seconds;
  return gain;
}

TEST(ContactCampaign, TumblingBodiesGainNothing) {
  double most = 0, flight = 0;
  for (int seed = 0; seed < scenes_to_draw(12, 200); ++seed) {
    Draw draw(seed);
    const std::string text = tumbling(draw);
    const Gain gain = gain_of(text, 1, 1e-3);
    EXPECT_EQ(gain.failed, "") << "seed " << seed << "\n" << text;
    EXPECT_LT(gain.contacts, 1e-5) << "seed " << seed << "\n" << text;
    most = std::max(most, gain.contacts), flight = std::max(flight, gain.flight);
  }
  RecordProperty("most_given_by_contacts", fmt::format("{:.2e}", most));
  fmt::print("contacts give at most {:.2e} of the energy a second, free flight {:.2e}\n", most, flight);
}

}  // namespace
}  // namespace limber
