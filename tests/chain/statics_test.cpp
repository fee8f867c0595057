// The solver of chain/ against dense oracles, closed forms and other methods.
#include "limber/articulated/statics.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "limber/chain/elements.h"
#include "limber/math/so3.h"
#include "tests/chain/models.h"

namespace limber::chain_test {
namespace {

using chain::Structure;

// --- an oracle that shares nothing but the joint's law with the solver: all moments by double sums

struct Oracle {
  const Structure& s;
  std::vector<std::vector<char>> above;  // above[k][j]: k is j or an ancestor of it

  explicit Oracle(const Structure& structure) : s(structure) {
    const int n = s.links.count();
    above.assign(n, std::vector<char>(n, 0));
    for (int j = 0; j < n; ++j)
      for (int k = j; k >= 0; k = s.links.parent[k]) above[k][j] = 1;
  }

  Eigen::VectorXd residual(const std::vector<Mat3>& R_joint) const {
    const int n = s.links.count();
    std::vector<Pose> X(n);
    for (int k = 0; k < n; ++k) {
      const Pose P = s.links.parent[k] < 0 ? Pose{} : X[s.links.parent[k]];
      X[k] = P * Pose{s.links.R_f[k], s.links.p_f[k]} * Pose::rotation(R_joint[k]);
    }
    Eigen::VectorXd r(3 * n);
    for (int k = 0; k < n; ++k) {
      Vec3 tau = Vec3::Zero();
      for (int j = 0; j < n; ++j) {
        if (!above[k][j]) continue;
        const chain::DeadLoad& d = s.ramped[j];
        // Σ (x − c_k) × f with x = X_j p: f pᵀ summed is all that is needed, component by component.
        for (int a = 0; a < 3; ++a) tau += (X[j].R.col(a)).cross(Vec3(d.S.col(a)));
        tau += (X[j].p - X[k].p).cross(d.F) + d.M;
      }
      const Vec3 theta = math::so3_log(R_joint[k]);
      const Vec3 own =
          math::so3_jacobian_inverse(theta).transpose() * s.links.stiffness[k].cwiseProduct(theta);
      r.segment<3>(3 * k) = own - X[k].R.transpose() * tau;
    }
    return r;
  }

  // Dense Newton with differences, from a start near the answer.
  bool solve(std::vector<Mat3>& R) const {
    const int n = s.links.count();
    for (int it = 0; it < 40; ++it) {
      const Eigen::VectorXd r = residual(R);
      Eigen::MatrixXd K(3 * n, 3 * n);
      constexpr double h = 1e-6;
      for (int i = 0; i < 3 * n; ++i) {
        auto up = R, down = R;
        up[i / 3] = R[i / 3] * math::so3_exp(h * Vec3::Unit(i % 3));
        down[i / 3] = R[i / 3] * math::so3_exp(-h * Vec3::Unit(i % 3));
        K.col(i) = (residual(up) - residual(down)) / (2 * h);
      }
      const Eigen::VectorXd d = -K.partialPivLu().solve(r);
      const double part = std::min(1.0, 0.3 / d.cwiseAbs().maxCoeff());
      for (int k = 0; k < n; ++k) R[k] = R[k] * math::so3_exp(part * d.segment<3>(3 * k));
      if (d.cwiseAbs().maxCoeff() < 1e-11) return true;
    }
    return false;
  }
};

TEST(Chain, RandomTreesAgreeWithADenseSolve) {
  std::mt19937 random(5);
  for (int i = 0; i < 12; ++i) {
    const Recipe recipe = i % 3 == 0   ? Recipe::published_3r
                          : i % 3 == 1 ? Recipe::consistent_3r
                                       : Recipe::consistent_1r;
    const int elements = recipe == Recipe::consistent_1r ? 3 : 1;
    const Solved s = solve(random_tree(random, 5, elements, recipe, 40));
    ASSERT_TRUE(s.report.report.ok()) << s.report.report.message;
    const Oracle oracle(s.system.structure());
    // Half the way back, so that the oracle has something to find.
    std::vector<Mat3> R;
    double largest = 0;
    for (const Vec3& t : s.rest.shape.theta) {
      R.push_back(math::so3_exp(0.9 * t));
      largest = std::max(largest, t.norm());
    }
    ASSERT_GT(largest, 0.02);
    ASSERT_TRUE(oracle.solve(R));
    for (std::size_t k = 0; k < R.size(); ++k)
      EXPECT_LT((R[k] - s.rest.shape.R[k]).norm(), 1e-9) << k;  // asked
  }
}

TEST(Chain, TheTangentIsTheDerivativeOfTheMoments) {
  // Dead and turning loads, moments, wind, hinges and a spring, at a random shape. Asked for is t = K δ; the
  // oracle differences the moments along δ, in the coordinates in which the tangent is written.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int kind = 0; kind < 5; ++kind) {
    Structure s;
    for (int k = 0; k < 12; ++k) {
      const int parent = k == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(k));
      s.links.add(
          parent,
          {math::so3_exp(0.4 * Vec3(u(random), u(random), u(random))), Vec3(u(random), u(random), u(random))},
          Vec3(2 + u(random), 3 + u(random), 4 + u(random)), kind == 4 && k % 3 == 1);
    }
    s.resize_loads();
    for (auto& d : s.ramped) {
      d.F = Vec3(u(random), u(random), u(random));
      d.S = d.F * Vec3(u(random), u(random), u(random)).transpose();
      if (kind == 1) d.M = Vec3(u(random), u(random), u(random));
    }
    if (kind == 2)
      for (int k = 0; k < 12; k += 3) {
        const Vec3 f(u(random), u(random), u(random));
        s.turning_ramped.push_back(
            {k, f, f * Vec3(u(random), u(random), u(random)).transpose(), Vec3(0.3, u(random), 0.2)});
      }
    if (kind == 3) {
      s.air = {3, 1, 0.5}, s.air_pressure = 0.6;
      for (int k = 0; k < 12; ++k)
        s.wind.push_back({k, BoxShape{{0.4, 0.1, 0.2}}, Pose::translation({0.2, 0, 0.1})});
    }
    s.loads_changed();
    chain::Solver solver(s);
    chain::Rest rest = chain::at_rest(s);
    std::vector<Vec3> delta(12), t(12), x;
    for (int k = 0; k < 12; ++k) {
      delta[k] = 0.5 * Vec3(u(random), u(random), u(random));
      t[k] = Vec3(u(random), u(random), u(random));
    }
    chain::advance(s.links, rest.shape, delta, 1);
    rest.factor = 0.7;
    solver.evaluate(rest, true);
    const chain::Balance at = solver.balance();
    for (int k = 0; k < 12; ++k)
      if (s.links.hinge[k]) t[k] = at.in.axis[k] * at.in.axis[k].dot(t[k]);
    std::vector<double> no_lambda;
    solver.tangent().solve(s, t, {}, x, no_lambda);
    double size = 0;
    for (const Vec3& v : x) size = std::max(size, v.norm());
    const double h = 1e-5 / size;
    std::vector<Vec3> body(12);
    for (int k = 0; k < 12; ++k) body[k] = at.R[k].transpose() * x[k];
    const auto moments = [&](double step) {
      chain::Rest moved = rest;
      chain::advance(s.links, moved.shape, body, step);
      chain::Solver other(s);
      other.evaluate(moved, false);
      std::vector<Vec3> out(12);
      for (int k = 0; k < 12; ++k) {
        const int p = s.links.parent[k];
        const Mat3 turned =
            p < 0 ? Mat3::Identity().eval() : Mat3(other.balance().R[p] * at.R[p].transpose());
        out[k] = math::so3_jacobian(-step * x[k]).transpose() * (turned.transpose() * other.balance().r[k]);
      }
      return out;
    };
    const auto up = moments(h), down = moments(-h);
    for (int k = 0; k < 12; ++k) {
      Vec3 d = (up[k] - down[k]) / (2 * h);
      if (s.links.hinge[k]) d = at.in.axis[k] * at.in.axis[k].dot(d);
      // Differences with h² of the third derivative and rounding / h: 1e-8 of moments of order one.
      EXPECT_LT((d - t[k]).norm(), 1e-6) << "kind " << kind << " joint " << k;
    }
  }
}

TEST(Chain, TheResultDoesNotDependOnTheLoadSteps) {
  const Model model = a5(10, Recipe::consistent_3r, 0.6, 0.005);
  chain::StaticOptions many;
  many.load_steps = 37;
  const Solved one = solve(model), other = solve(model, many);
  ASSERT_TRUE(other.report.report.ok()) << other.report.report.message;
  EXPECT_LT((one.tip() - other.tip()).norm(), 1e-7);  // 1e-9 of the length: the tolerance of the moments
}

TEST(Chain, TheThreeSweepsAreOne) {
  std::mt19937 random(11);
  for (int i = 0; i < 6; ++i) {
    const Recipe recipe = i % 2 ? Recipe::published_3r : Recipe::published_1r;
    const Model model = random_tree(random, 6, 4, recipe, 1);
    const auto m = chain::elements_of(model);
    std::vector<chain::Sweeper> sweepers(3, chain::Sweeper(m.elements));
    for (int pass = 0; pass < 5; ++pass)
      for (int a = 0; a < 3; ++a) {
        chain::SweepOptions o;
        o.algorithm = static_cast<chain::SweepAlgorithm>(a);
        sweepers[a].sweep(o, 1);
      }
    for (std::size_t e = 0; e < m.elements.size(); ++e)
      for (int a = 1; a < 3; ++a)
        // Rounding of sums of some hundred numbers, of a structure of about a metre.
        EXPECT_LT((sweepers[0].tip(static_cast<int>(e)) - sweepers[a].tip(static_cast<int>(e))).norm(),
                  1e-12);
  }
}

TEST(Chain, SweepsByCoordinatesFindTheRestThatNewtonFinds) {
  for (const Recipe recipe : {Recipe::consistent_3r, Recipe::published_3r, Recipe::consistent_1r}) {
    const Model model = a5(10, recipe, 0.6, 0.005);
    const auto m = chain::elements_of(model);
    chain::SweepOptions o;
    o.update = chain::JointUpdate::coordinates;
    o.tolerance = 1e-11;
    chain::Sweeper sweeper(m.elements);
    const auto r = sweeper.solve(o);
    ASSERT_TRUE(r.converged) << r.message;
    EXPECT_LT((sweeper.tip(m.tips[0]) - solve(model).tip()).norm(), 1e-7);
    // Increments make no difference here; by differences, as printed, they do.
    o.load_increments = 7;
    chain::Sweeper other(m.elements);
    ASSERT_TRUE(other.solve(o).converged);
    EXPECT_LT((other.tip(m.tips[0]) - sweeper.tip(m.tips[0])).norm(), 1e-7);
    o.update = chain::JointUpdate::differences;
    chain::Sweeper printed(m.elements), stepped(m.elements);
    ASSERT_TRUE(stepped.solve(o).converged);
    o.load_increments = 1;
    ASSERT_TRUE(printed.solve(o).converged);
    EXPECT_GT((printed.tip(m.tips[0]) - stepped.tip(m.tips[0])).norm(), 1e-3);
  }
}

TEST(Chain, SweepsSayWhenTensionIsTooMuchForThem) {
  auto b = unit_cantilever(20, Recipe::published_3r);
  DistributedLoad load;
  load.name = "weight", load.beam = b.beam;
  load.force_per_length = VectorFunction::constant({0, -1000, 0});
  b.builder.add(load);
  const auto m = chain::elements_of(b.builder.build());
  chain::SweepOptions o;
  o.end_iterations = 2000;
  const auto r = chain::Sweeper(m.elements).solve(o);
  EXPECT_FALSE(r.converged);
  EXPECT_NE(r.message, "");
}

TEST(Chain, AgreesWithTheArticulatedMethod) {
  // The same links by another solver: generalised elimination in 6×6 blocks.
  std::mt19937 random(21);
  const Model model = random_tree(random, 4, 2, Recipe::consistent_3r, 2);
  const Solved s = solve(model);
  const auto system = articulated::compile(model);
  auto state = system.rest();
  articulated::Workspace w(system);
  articulated::StaticOptions o;
  o.modes = 0;
  ASSERT_TRUE(articulated::solve_static(system, state, w, o).report.ok());
  result::Snapshot shot;
  articulated::observe(system, state, w, shot);
  ASSERT_EQ(shot.points.size(), s.shot.points.size());
  for (std::size_t i = 0; i < shot.points.size(); ++i)
    EXPECT_LT((shot.points[i] - s.shot.points[i]).norm(), 1e-9) << i;
}

TEST(Chain, RefusesWhatIsNoChain) {
  auto b = unit_cantilever(4, Recipe::consistent_3r);
  Body body;
  body.name = "stone";
  body.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
  b.builder.add(body);
  try {
    chain::compile(b.builder.build());
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_EQ(e.problems()[0].name, "stone");
  }
}

}  // namespace
}  // namespace limber::chain_test
