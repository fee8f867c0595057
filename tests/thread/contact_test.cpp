// Threads that touch: nothing crosses, energy does not grow, friction is Coulomb's, a twisted ring writhes.
#include <random>

#include "limber/math/so3.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

std::vector<Vec3> points_along(const System& system, const State& state, Workspace& w, int thread, int n) {
  std::vector<Vec3> out;
  for (int i = 0; i <= n; ++i) out.push_back(station(system, state, w, thread, double(i) / n).x);
  return out;
}

// Gauss' integral of a polygon with itself or with another (Klenin and Langowski 2000, method 1a): changes smoothly
// as strands move and jumps by ±2 (±1 for two threads) when one passes through another.
double gauss_integral(const std::vector<Vec3>& a, const std::vector<Vec3>& b, bool same) {
  double sum = 0;
  const auto angle = [](double x) { return std::asin(std::clamp(x, -1.0, 1.0)); };
  for (std::size_t i = 0; i + 1 < a.size(); ++i)
    for (std::size_t k = same ? i + 2 : 0; k + 1 < b.size(); ++k) {
      const Vec3 r13 = b[k] - a[i], r14 = b[k + 1] - a[i], r23 = b[k] - a[i + 1], r24 = b[k + 1] - a[i + 1];
      Vec3 n[4] = {r13.cross(r14), r14.cross(r24), r24.cross(r23), r23.cross(r13)};
      bool flat = false;
      for (Vec3& x : n) {
        flat = flat || x.norm() < 1e-14;
        x.normalize();
      }
      if (flat) continue;
      double omega = 0;
      for (int m = 0; m < 4; ++m) omega += angle(n[m].dot(n[(m + 1) % 4]));
      sum += ((b[k + 1] - b[k]).cross(a[i + 1] - a[i]).dot(r13) > 0 ? 1 : -1) * omega;
    }
  return (same ? 2 : 1) * sum / (4 * pi);
}

// Shastri's long trefoil between two hands that go apart by `pull` each.
System overhand(double E, double radius, int elements, double pull, double seconds, double friction, const Options& options) {
  Rope rope;
  rope.E = E, rope.nu = 0.4, rope.section = Circle{radius}, rope.elements = elements, rope.options = options;
  std::vector<Vec3> p;
  for (int i = 0; i <= 200; ++i) {
    const double t = -2.15 + 4.3 * i / 200, t2 = t * t;
    p.push_back(0.02 * Vec3(t * (t2 - 3), t2 * (t2 - 4), 0.2 * t * (t2 * t2 - 10)));
  }
  const Vec3 out = (p.back() - p.front()).normalized();
  p.insert(p.begin(), p.front() - 0.15 * out);
  p.push_back(p.back() + 0.15 * out);
  rope.path = PolylinePath{p};
  rope.up = Vec3(0.3, 0.2, 1);
  Beam beam = rope.beam();
  beam.straight = true;
  beam.root = Hold::free;
  beam.air_damping = 5;
  for (int k = 0; k < 2; ++k) {
    Body hand;
    hand.name = k == 0 ? "left" : "right";
    hand.inertia.m = 1;
    const BodyId body = rope.builder.add(hand);
    Joint joint;
    joint.name = hand.name + ".slide";
    joint.kind = JointKind::prismatic;
    joint.child = body;
    joint.X_PF = {math::rotation_from_z(k == 0 ? Vec3(-out) : out), k == 0 ? p.front() : p.back()};
    PrescribedMotion motion;
    motion.joint = rope.builder.add(joint);
    motion.position[0] = TimeFunction::table({0, seconds}, {0, pull});
    rope.builder.add(motion);
    beam.clamps.push_back({static_cast<double>(k), body, Hold::clamped});
  }
  rope.builder.parts.contact = Contact{friction, true, {}};
  return rope.build(beam);
}

TEST(Knot, IsPulledTightAndNothingCrosses) {
  const double radius = 4e-3;
  const System system = overhand(1e6, radius, 64, 0.17, 0.5, 0.3, {});
  State state = system.rest();
  Workspace w(system);
  double writhe = gauss_integral(points_along(system, state, w, 0, 150), points_along(system, state, w, 0, 150), true);
  double deepest = 0;
  int most = 0;
  for (int k = 0; k < 60; ++k) {
    const SolveReport r = step(system, state, w, 0.01);
    ASSERT_TRUE(r.ok()) << r.message;
    const auto p = points_along(system, state, w, 0, 150);
    const double now = gauss_integral(p, p, true);
    ASSERT_LT(std::abs(now - writhe), 1.0) << state.t;
    writhe = now;
    const ContactReport c = contact_report(system, state, w);
    deepest = std::max(deepest, c.deepest);
    most = std::max(most, c.contacts);
  }
  EXPECT_LT(deepest, 0.02 * 2 * radius);
  EXPECT_GE(most, 8);
  EXPECT_GT(std::abs(writhe), 1.5);  // it is still a knot
}

// Two free threads thrown at each other, many ways: they stay on their sides.
void throws(int count, unsigned seed, double duration) {
  std::mt19937 engine(seed);
  const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine); };
  for (int trial = 0; trial < count; ++trial) {
    const double radius = 5e-3, speed = uniform(1, 50), h = 1 / uniform(60, 1000);
    ModelBuilder b("throw");
    const double E = trial % 2 == 0 ? 1e6 : 1e7;
    const auto material = b.add(Material{"m", E, E / 2.8, 0.4, 1100});
    const auto section = b.add(Section{"s", Circle{radius}});
    for (int k = 0; k < 2; ++k) {
      Beam beam;
      beam.name = k == 0 ? "one" : "two";
      const Vec3 direction = Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-0.3, 0.3)).normalized();
      const Vec3 middle(0, 0, k == 0 ? 0.0 : 0.1);
      beam.path = PolylinePath{{middle - 0.2 * direction, middle + 0.2 * direction}};
      beam.up = direction.unitOrthogonal();
      beam.material = material, beam.section = section, beam.elements = 16;
      beam.root = Hold::free;
      beam.velocity = k == 0 ? Vec3(0, 0, speed) : Vec3(0, 0, 0);
      b.add(beam);
    }
    b.parts.gravity = VectorFunction::constant(Vec3::Zero());
    b.parts.contact = Contact{uniform(0, 0.5), true, {}};
    const System system = compile(std::move(b).build());
    State state = system.rest();
    Workspace w(system);
    const auto link = [&] {
      return gauss_integral(points_along(system, state, w, 0, 40), points_along(system, state, w, 1, 40), false);
    };
    double linking = link(), largest = energy(system, state, w).total(), most_elastic = 0, highest = largest;
    const double start = largest;
    for (int k = 0; k * h < duration; ++k) {
      const SolveReport r = step(system, state, w, h);
      ASSERT_TRUE(r.ok()) << trial << ": " << r.message;
      const double now = link();
      // A long step may turn the threads a good part of a link; a crossing adds one.
      ASSERT_LT(std::abs(now - linking), 0.9) << trial << " at " << state.t;
      linking = now;
      ASSERT_LT(contact_report(system, state, w).deepest, 0.02 * 2 * radius) << trial << " at " << state.t;
      const result::Energy e = energy(system, state, w);
      most_elastic = std::max(most_elastic, e.elastic);
      highest = std::max(highest, e.total());
    }
    EXPECT_LT(highest - start, 1e-3 * std::max(most_elastic, 1e-3 * start)) << trial;
  }
}

TEST(Throws, NothingCrosses) { throws(6, 1, 0.02); }

// The whole campaign: thread_tests --gtest_also_run_disabled_tests --gtest_filter='*TwoHundred*'.
TEST(Throws, DISABLED_TwoHundred) { throws(200, 2, 0.05); }

// A thread over a fixed cylinder, both ends hanging with different weights of tension: it slips when the ratio of
// the tensions passes e^{μθR/(R+r)}, θ = π. Light and flexible: bending and inertia are small beside the tension.
TEST(Friction, Capstan) {
  const double R = 0.05, r = 5e-4, mu = 0.2, hold_back = 1.0;
  const double ratio = std::exp(mu * pi * R / (R + r));
  const auto slips = [&](double factor) {
    Rope rope;
    rope.E = 1e8, rope.nu = 0.3, rope.section = Circle{r}, rope.density = 1000, rope.elements = 96;
    std::vector<Vec3> p{Vec3(-(R + r), 0, -0.06)};
    for (int i = 0; i <= 60; ++i) {
      const double a = pi - pi * i / 60;
      p.push_back((R + r) * Vec3(std::cos(a), 0, std::sin(a)));
    }
    p.push_back(Vec3(R + r, 0, -0.06));
    rope.path = PolylinePath{p};
    rope.up = Vec3::UnitY();
    Body drum;
    drum.name = "drum";
    drum.inertia.m = 1;
    drum.shapes.push_back({CylinderShape{R, 0.1}, {math::rotation_x(pi / 2), Vec3::Zero()}});
    const BodyId body = rope.builder.add(drum);
    Joint weld;
    weld.name = "weld";
    weld.child = body;
    rope.builder.add(weld);
    Beam beam = rope.beam();
    beam.straight = true;
    beam.root = Hold::free;
    beam.air_damping = 20;
    rope.builder.parts.contact = Contact{mu, false, {}};
    for (int k = 0; k < 2; ++k) {
      PointLoad load;
      load.name = k == 0 ? "back" : "pull";
      load.at.beam = BeamId{0};
      load.at.s = k;
      // The pull grows from the same tension to the wanted one, so that the thread settles first.
      load.force.c[2] = k == 0 ? TimeFunction(-hold_back)
                               : TimeFunction::table({0, 0.05, 0.15}, {-hold_back, -hold_back, -factor * ratio * hold_back});
      rope.builder.add(load);
    }
    const System system = rope.build(beam);
    State state = system.rest();
    Workspace w(system);
    double before = 0;
    for (int k = 0; k < 250; ++k) {
      const SolveReport report = step(system, state, w, 1e-3);
      EXPECT_TRUE(report.ok()) << report.message;
      if (k == 199) before = node(state, 0).z();
    }
    return node(state, 0).z() - before > 1e-4;  // in the last 50 ms
  };
  EXPECT_FALSE(slips(0.97));
  EXPECT_TRUE(slips(1.03));
}

// Michell 1889, Zajac 1962: a ring of a straight rod twisted by a whole angle α is stable in its plane up to
// α = 2π√3 EI/GJ. The ring is a thread whose ends are held together, one of them turned.
TEST(Ring, WrithesAtTheThreshold) {
  for (const double nu : {0.0, 0.4}) {
    const double threshold = 2 * pi * std::sqrt(3.0) * (1 + nu);  // EI/GJ of a circle
    Rope rope;
    rope.nu = nu, rope.section = Circle{1e-3}, rope.elements = 64, rope.E = 1e7;
    ArcPath arc;
    arc.radius = 1 / (2 * pi), arc.angle = 2 * pi, arc.towards = Vec3::UnitY();
    rope.path = arc;
    Body chuck;
    chuck.name = "chuck";
    chuck.inertia.m = 1;
    const BodyId body = rope.builder.add(chuck);
    Joint turn;  // about the tangent at the seam: one radian a second
    turn.name = "turn";
    turn.kind = JointKind::revolute;
    turn.child = body;
    turn.X_PF = Pose::rotation(math::rotation_from_z(Vec3::UnitX()));
    turn.X_BM = turn.X_PF;
    PrescribedMotion motion;
    motion.joint = rope.builder.add(turn);
    motion.position[0] = TimeFunction::table({0, 100}, {0, 100});
    rope.builder.add(motion);
    Beam beam = rope.beam();
    beam.straight = true;
    beam.clamps.push_back({1, body, Hold::clamped});
    const System system = rope.build(beam);
    State state = system.rest();
    Workspace w(system);
    double found = 0;
    for (double twist = 0; twist < 1.1 * threshold; twist += twist < 0.9 * threshold ? 0.6 : 0.05) {
      state.t = twist;
      const StaticResult r = solve_static(system, state, w);
      ASSERT_TRUE(r.report.ok()) << r.report.message;
      double out_of_plane = 0;
      for (int j = 0; j < state.node_count(); ++j) out_of_plane = std::max(out_of_plane, std::abs(node(state, j).z()));
      if (r.negative == 0 && out_of_plane < 1e-3) continue;
      found = twist;
      break;
    }
    EXPECT_NEAR(found / threshold, 1, 0.02) << nu;
  }
}

}  // namespace
}  // namespace limber::thread
