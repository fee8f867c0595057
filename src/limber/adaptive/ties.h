// Springs between bodies and joints that close loops, cut into forces on the tree.
//
// A tie has rows G: G a is the acceleration of a spring's line, or of what a closed loop must not have. The
// tree answers forces Gᵀx on the tied bodies with G M⁻¹Gᵀ x, exactly and by the paths from the tied bodies to
// the roots alone, so the forces at the end of the step follow from a small dense system:
//   springs   pull = pull₀ + Q d̈,  Q = h²K + hD = PPᵀ,  G = Pᵀ∂d̈/∂a:    (1 + G M⁻¹Gᵀ) x = G a₀
//   loops     gap + h² G a = 0:                                         G M⁻¹Gᵀ x = G a₀ + gap / h²
// a₀ is what the tree would do under the loads and pull₀, M + hD + h²K of the joints what it has; −Gᵀx is
// then put on the bodies and the step goes on as with any other forces: the error is bounded as without ties.
// Rows that hang on others (planar loops in space) are left out, x = 0.
#pragma once

#include <vector>

#include "limber/adaptive/back_substitution.h"
#include "limber/elastic/spring_law.h"
#include "limber/multibody/kinematics.h"

namespace limber::adaptive {

struct SystemData;
struct State;
struct WorkspaceData;

struct TiedSpring {
  int a = -1, b = -1;  // in SystemData::loaded; −1: the world
  Vec3 p_a, p_b;       // in the links' M (the world's frame)
  int link_a, link_b;  // −1: the world
  elastic::SpringParameters law;
  bool acts = true;  // false: both ends on the world or on one body
};

struct TiedLoop {
  int a = -1, b = -1;
  int link_a, link_b;
  JointKind kind = JointKind::spherical;
  Pose X_AF, X_BM;  // in the links' M
  JointLaw law;
  bool has_law = false;
};

inline constexpr int most_tie_rows = 600;  // beyond, the dense system costs more than it is worth

struct TieWorkspace {
  explicit TieWorkspace(const SystemData& s);

  struct Row {
    int tie = 0;         // springs first, then loops
    int a = -1, b = -1;  // in SystemData::loaded
    Vec6 on_a, on_b;     // G's blocks, in the links' M
    double own = 0;      // 1: a spring's row, 0: a loop's
    double right = 0;    // gap / h²
    double unit = 0;  // a loop's: makes turns and shifts comparable, 1 or the structure's size² [m²]; else 0
  };
  // Of a path's node: its answer to one row's forces, and what its halves are given.
  struct Answer {
    alignas(16) double zeta[6], alpha[6], m[6], c[6], r[6];
    Inputs A, B;
    int row = -1;  // whose answer it is
  };
  std::vector<Row> rows;
  std::vector<Answer> answers;        // (paths)
  std::vector<std::vector<int>> way;  // (ties) path nodes from its bodies up, children first
  std::vector<Vec6> base;             // (loaded) wrench of loads and of the springs as they are
  std::vector<Vec6> acceleration;     // (loaded)
  std::vector<double> matrix;         // (rows × rows), column-major, then its factor
  std::vector<double> right, x, scale;
  std::vector<int> order;  // rows as they were eliminated
  int redundant = 0;       // rows that were left out
  double gap = 0;          // [m] the farthest that a loop stood open; angles times the structure's size
};

// The tied bodies' forces at time t into the coefficients, which are up to date with all but these.
void solve_ties(const SystemData& s, const State& state, WorkspaceData& w, double t, double h);

double tie_energy(const SystemData& s, const std::vector<multibody::LinkMotion>& links);
elastic::SpringState spring_state(const TiedSpring& spring, const std::vector<multibody::LinkMotion>& links);

}  // namespace limber::adaptive
