// Natural frequencies of the sprung chain (B5): from the linearised system, and from stepping it.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/multibody/mass_matrix.h"
#include "tests/support/reference.h"

namespace limber {
namespace {

using limber::testing::reference;

// N rods of length h = 1/N, unit mass per length and EI; springs EI/h, the root 2EI/h.
Model chain(int N) {
  ModelBuilder b("sprung chain");
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  const double h = 1.0 / N, inertia = h * h * h / 12;
  BodyId parent = world;
  for (int i = 0; i < N; ++i) {
    Body rod;
    rod.name = fmt::format("rod{}", i);
    rod.inertia = Inertia::about_com(h, {h / 2, 0, 0}, Vec3(0, inertia, inertia).asDiagonal());
    const BodyId child = b.add(rod);
    Joint j;
    j.name = fmt::format("joint{}", i);
    j.kind = JointKind::revolute;
    j.parent = parent;
    j.child = child;
    if (i > 0) j.X_PF = Pose::translation({h, 0, 0});
    j.law.stiffness[0] = (i == 0 ? 2 : 1) / h;
    b.add(j);
    parent = child;
  }
  return b.build();
}

struct Modes {
  VecX omega;
  MatX shapes;
};

Modes modes(const articulated::System& system) {
  const auto& s = system.data();
  const VecX q = Eigen::Map<const VecX>(system.rest().q.data(), s.tree.q_count());
  // K^-½ M K^-½ y = ω⁻² y: the lowest frequencies are its largest eigenvalues, found to full precision.
  const VecX scale = Eigen::Map<const VecX>(s.stiffness.data(), s.tree.v_count()).cwiseSqrt().cwiseInverse();
  const MatX A = scale.asDiagonal() * multibody::mass_matrix(s.tree, q) * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(A);
  const MatX shapes = scale.asDiagonal() * eigen.eigenvectors();
  return {eigen.eigenvalues().reverse().cwiseSqrt().cwiseInverse(), shapes.rowwise().reverse()};
}

TEST(Frequency, ChainMatchesReference) {
  const auto data = reference("B5_torsional_chain_cantilever_frequencies");
  for (const auto& entry : data["reference"]) {
    const int N = entry["N"];
    const VecX omega = modes(articulated::compile(chain(N))).omega;
    // The file's values carry the rounding of its eigensolver: its first mode at N = 80 is 2.7e-9 off the
    // value below.
    const double tolerance = std::max(5e-9, entry["rel_diff_two_assemblies"].get<double>());
    for (int k = 0; k < 3; ++k) {
      const double expected = entry["omega"][k];
      EXPECT_NEAR(omega[k], expected, tolerance * expected) << "N = " << N << ", mode " << k;
      fmt::print("  N = {:>3} mode {}: {:.9f} (reference {:.9f})\n", N, k + 1, omega[k], expected);
    }
  }
}

// First mode in 40-digit arithmetic (inverse iteration in absolute angles): ours agrees to rounding.
TEST(Frequency, FirstModeMatchesHighPrecision) {
  const std::pair<int, double> exact[] = {
      {20, 3.51198670969939}, {40, 3.51500726268676}, {80, 3.51576321289217}};
  for (const auto& [N, omega] : exact)
    EXPECT_NEAR(modes(articulated::compile(chain(N))).omega[0], omega, 2e-14 * N) << "N = " << N;
}

// A small swing in one mode follows the midpoint rule's own recurrence exactly: q_n = φ cos(ω_d n h) with
// tan(ω_d h/2) = ω h/2. So stepping reads the reference's frequency, with no error of time left.
TEST(Frequency, SteppingSwingsAtTheReferenceFrequency) {
  const auto data = reference("B5_torsional_chain_cantilever_frequencies");
  const auto& entry = data["reference"][1];  // N = 10
  const articulated::System system = articulated::compile(chain(entry["N"]));
  const Modes m = modes(system);
  for (int k = 0; k < 3; ++k) {
    const double omega = entry["omega"][k], h = 0.3 / omega, amplitude = 1e-7;
    articulated::State state = system.rest();
    articulated::Workspace w(system);
    const VecX shape = m.shapes.col(k) / m.shapes.col(k).cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < state.q.size(); ++i) state.q[i] = amplitude * shape[i];
    const double omega_d = 2 / h * std::atan(omega * h / 2);
    for (int n = 1; n <= 400; ++n) {
      ASSERT_TRUE(articulated::step(system, state, w, h).ok());
      // Geometry is not linear at order amplitude² = 1e-14 of a swing of 1e-7; 400 steps of tolerance 1e-12.
      const double expected = amplitude * std::cos(omega_d * n * h);
      for (std::size_t i = 0; i < state.q.size(); ++i)
        ASSERT_NEAR(state.q[i], expected * shape[i], 1e-7 * amplitude) << "mode " << k << " step " << n;
    }
  }
}

}  // namespace
}  // namespace limber
