// Compliances of end effectors against the solved problems of tests/data/C_*.json, against a dense
// computation in all joint angles, and against the paper's walk.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "limber/sim/reduce.h"
#include "tests/support/mechanism_file.h"

namespace limber::rom {
namespace {

using limber::testing::Json;
using limber::testing::mechanism_of;
using limber::testing::vec3;

class Files : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    file = limber::testing::reference(GetParam());
    ModelParts parts = mechanism_of(file).parts();
    parts.point_loads.clear();
    model.emplace(std::move(parts));
    end = "b" + std::to_string(file["end_effector"]["body"].get<int>());
    options.ends = {end};
  }

  // Twist (ω; v) at the world's origin to the file's (v of the point; ω), and the same for wrenches.
  MatX to_file() const {
    const Vec3 p = vec3(file["end_effector"]["point"]);
    Mat6 T = Mat6::Zero();
    T.topLeftCorner<3, 3>() = -math::skew(p);
    T.topRightCorner<3, 3>().setIdentity();
    T.bottomLeftCorner<3, 3>().setIdentity();
    return T;
  }

  // All joint angles θ, closing joints too: ½ Σ k θ² within Σ ± s θ = 0 around every loop.
  MatX dense() const {
    int bodies = 0;
    for (const Json& j : file["joints"]) bodies = std::max({bodies, j["a"].get<int>(), j["b"].get<int>()});
    const int n = static_cast<int>(file["joints"].size());
    std::vector<MatX> twist(bodies + 1);  // of a body per unit of θ, at the world's origin
    twist[0] = MatX::Zero(6, n);
    MatX loops(0, n);
    VecX k(n);
    for (int j = 0; j < n; ++j) {
      const Json& joint = file["joints"][j];
      const int a = joint["a"].get<int>(), b = joint["b"].get<int>();
      k[j] = joint["k"].get<double>();
      const Vec3 axis = vec3(joint["axis"]).normalized(), p = vec3(joint["point"]);
      Vec6 s;
      s << axis, p.cross(axis);
      MatX step = MatX::Zero(6, n);
      step.col(j) = s;
      if (twist[a].size() == 0)
        twist[a] = twist[b] - step;
      else if (twist[b].size() == 0)
        twist[b] = twist[a] + step;
      else {
        loops.conservativeResize(loops.rows() + 6, n);
        loops.bottomRows(6) = twist[a] + step - twist[b];
      }
    }
    MatX Z = MatX::Identity(n, n);
    if (loops.rows() > 0) Z = Eigen::FullPivLU<MatX>(loops).setThreshold(1e-10).kernel();
    const MatX J = twist[file["end_effector"]["body"].get<int>()] * Z;
    return J * (Z.transpose() * k.asDiagonal() * Z).inverse() * J.transpose();
  }

  Json file;
  std::optional<Model> model;
  std::string end;
  Options options;
};

TEST_P(Files, Compliance) {
  const ReducedModel reduced = sim::reduce(*model, options);
  const Point& p = reduced.mechanisms.at(0).points.at(0);
  // The bodies' own frames are the world's.
  const MatX C = to_file() * p.C * to_file().transpose();
  MatX expected(6, 6);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c) expected(r, c) = file["compliance_6x6"][r][c].get<double>();
  const double size = expected.cwiseAbs().maxCoeff();
  EXPECT_LT((C - expected).cwiseAbs().maxCoeff(), 1e-7 * size);
  EXPECT_LT((p.C - dense()).cwiseAbs().maxCoeff(), 1e-10 * size);
  // K is the inverse within the range, and the end moves as its coordinates say.
  EXPECT_LT((p.C * p.K * p.C - p.C).cwiseAbs().maxCoeff(), 1e-10 * size);
}

TEST_P(Files, WalkAgrees) {
  const MatX exact = sim::reduce(*model, options).mechanisms[0].points[0].C;
  options.build.construction = Construction::walk;
  const MatX walk = sim::reduce(*model, options).mechanisms[0].points[0].C;
  EXPECT_LT((walk - exact).cwiseAbs().maxCoeff(), 1e-10 * exact.cwiseAbs().maxCoeff());
}

INSTANTIATE_TEST_SUITE_P(C, Files,
                         ::testing::Values("C_serial_chain_7R", "C_Y_split", "C_closed_loop_4bar",
                                           "C_ladder_6_rungs_pinned_stack"));

}  // namespace
}  // namespace limber::rom
