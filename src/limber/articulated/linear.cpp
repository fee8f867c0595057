// The linear system of a step when bodies are tied beyond their tree: its blocks, and the solver behind them.
#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"
#include "limber/multibody/dense_solver.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::articulated {

using multibody::BlockSystem;

Blocks::Blocks(const SystemData& s)
    : system(s.tree, s.pattern),
      end(s.tree, s.pattern),
      rhs(system),
      left(system),
      x(system),
      correction(system),
      loops(s.loops.size()),
      loops_end(s.loops.size()),
      links_end(s.tree.size()),
      twist(s.tree.size()),
      scratch_twist(s.tree.size()),
      residual(s.tree.v_count()),
      limit_force(s.limits.size()),
      limit_row(s.limits.size()),
      limit_start(s.limits.size()),
      rub_row(s.rubs.size(), -1),
      rub_place(s.rubs.size()) {
  if (s.loop_plan) {
    many = std::make_unique<multibody::ManyLoops>(s.tree, s.pattern, s.loop_plan);
  } else if (s.solver == Solver::gaba) {
    gaba = std::make_unique<multibody::Gaba>(s.tree, s.pattern, s.order);
    scratch = std::make_unique<multibody::Gaba::Scratch>(*gaba);
  } else if (s.solver == Solver::pcg || s.solver == Solver::pcg_rows) {
    pcg = std::make_unique<multibody::Pcg>(
        s.tree, s.pattern,
        s.solver == Solver::pcg ? multibody::Pcg::Loops::projected : multibody::Pcg::Loops::per_row);
  }
}

bool factor_blocks(const SystemData& s, WorkspaceData& w) {
  Blocks& b = *w.blocks;
  b.system.locks = w.locks.empty() ? nullptr : w.locks.data();
  b.system.lock_index = w.locks.empty() ? nullptr : w.lock_index.data();
  if (b.gaba) {
    if (b.gaba->factor(b.system)) return true;
    w.aba.bad_link = b.gaba->bad_link();
    return false;
  }
  if (b.many) {
    if (b.many->factor(b.system)) return true;
    w.aba.bad_link = b.many->bad_link();
    return false;
  }
  if (b.pcg) {
    if (b.pcg->factor(b.system)) return true;
    w.aba.bad_link = b.pcg->bad_link();
    return false;
  }
  (void)s;
  return true;
}

bool solve_blocks(const SystemData& s, WorkspaceData& w, multibody::BlockSolution& x, bool homogeneous) {
  Blocks& b = *w.blocks;
  if (b.gaba) {
    b.gaba->solve(b.rhs, *b.scratch, x, homogeneous);
    if (b.gaba->order().cuts == 0) return true;
    // A long floating part of light bodies on stiff springs can lose digits: one refinement brings them back.
    multibody::reduced_residual(b.system, b.rhs, x, b.scratch_twist, b.residual.data());
    double largest = 0, scale = 0;
    for (std::size_t k = 0; k < b.residual.size(); ++k) {
      largest = std::max(largest, std::abs(b.residual[k]));
      scale = std::max(scale, std::abs(b.rhs.tau[k]));
    }
    for (const Vec6& f : b.rhs.wrench) scale = std::max(scale, f.cwiseAbs().maxCoeff());
    if (largest <= 1e-11 * scale) return true;
    std::copy(b.residual.begin(), b.residual.end(), b.left.tau.begin());
    for (Vec6& f : b.left.wrench) f.setZero();
    for (std::size_t l = 0; l < b.left.g.size(); ++l)
      b.left.g[l] = b.rhs.g[l] - multibody::loop_times(b.system, static_cast<int>(l), x.twist.data());
    b.gaba->solve(b.left, *b.scratch, b.correction, true);
    for (std::size_t k = 0; k < x.a.size(); ++k) x.a[k] += b.correction.a[k];
    for (std::size_t k = 0; k < x.twist.size(); ++k) x.twist[k] += b.correction.twist[k];
    for (std::size_t k = 0; k < x.lambda.size(); ++k) x.lambda[k] += b.correction.lambda[k];
    return true;
  }
  if (b.many) {
    b.many->solve(b.rhs, x, homogeneous);
    return true;
  }
  std::vector<JointLock> zeroed;
  if (homogeneous && b.system.locks) {  // the others read the given values from the locks
    zeroed = w.locks;
    for (JointLock& lock : zeroed) lock.g.setZero();
    b.system.locks = zeroed.data();
  }
  bool good = true;
  if (b.pcg) {
    if (homogeneous) std::fill(x.a.begin(), x.a.end(), 0.0);
    good = b.pcg->solve(b.rhs, x, s.options.pcg_tolerance, 10 * s.tree.v_count() + 100, w.workers.get());
  } else {
    good = multibody::solve_dense(b.system, b.rhs, x);
  }
  if (b.system.locks) b.system.locks = w.locks.data();
  return good;
}

Vec6 block_lock_force(const SystemData& s, const WorkspaceData& w, int link) {
  const Blocks& b = *w.blocks;
  if (b.gaba) return b.gaba->lock_force(link, *b.scratch, b.x);
  // What the joint's equation lacks, computed without its lock.
  BlockSystem& system = const_cast<BlockSystem&>(b.system);
  const int* index = system.lock_index;
  system.lock_index = nullptr;
  std::vector<Vec6> twist(s.tree.size());
  std::vector<double> residual(s.tree.v_count());
  multibody::reduced_residual(system, b.rhs, b.x, twist, residual.data());
  system.lock_index = index;
  Vec6 force = Vec6::Zero();
  for (int k = 0; k < s.tree[link].dofs; ++k) force[k] = -residual[s.tree[link].v + k];
  return force;
}

namespace {

using multibody::rows::all;
using multibody::rows::load3;
using multibody::rows::Pack;

// F − V ×* (I V) of every body, less I φ̇ if rates φ̇ (world axes) are given, turned into world axes; less what
// is given there.
LIMBER_KERNEL void turn_wrenches(const multibody::Tree& tree, const LinkMotion* links, const Vec6* wrench,
                                 const Vec6* rates, const Vec6* less, Vec6* out) {
  for (int i = 0; i < tree.size(); ++i) {
    Pack w, v;
    multibody::rows::bias_force(tree[i].inertia, links[i].V, w, v);
    w = load3(wrench[i].data()) - w, v = load3(wrench[i].data() + 3) - v;
    const double* R = links[i].X_WM.R.data();
    const Pack x = load3(R), y = load3(R + 3), z = load3(R + 6);
    if (rates) {
      const Pack columns[3] = {x, y, z}, turn = load3(rates[i].data()), slide = load3(rates[i].data() + 3);
      Pack rows[3], moment, force;
      multibody::rows::transpose(columns, rows);
      multibody::rows::momentum(
          tree[i].inertia, (rows[0] * all(turn, 0) + rows[1] * all(turn, 1)) + rows[2] * all(turn, 2),
          (rows[0] * all(slide, 0) + rows[1] * all(slide, 1)) + rows[2] * all(slide, 2), moment, force);
      w -= moment, v -= force;
    }
    Pack moment = (x * all(w, 0) + y * all(w, 1)) + z * all(w, 2),
         force = (x * all(v, 0) + y * all(v, 1)) + z * all(v, 2);
    if (less) moment -= load3(less[i].data()), force -= load3(less[i].data() + 3);
    multibody::rows::store(out[i].data(), moment);
    multibody::rows::store3(out[i].data() + 3, force);
  }
}

}  // namespace

// Right-hand side for the change of the accelerations w_.a: forces less what M φ̇ and the joints' own blocks
// already take. Euler starts at a = 0 and lets the implicit blocks act on the velocity terms too. With a
// factor of another pose everything is brought to the joints by the geometry of now.
void Stepper::set_block_rhs(bool euler, bool same_pose) {
  Blocks& b = *w_.blocks;
  const multibody::BlockSystem& now = same_pose ? b.system : b.end;
  if (euler) {
    multibody::jacobian_rate_and_blocks_times(now, w_.links, b.twist.data(), b.scratch_twist.data());
  } else {
    multibody::jacobian_rate_times(now, w_.links, b.twist.data());
    multibody::jacobian_times(now, w_.a.data(), b.scratch_twist.data());
    for (int i = 0; i < tree_.size(); ++i) b.twist[i] += b.scratch_twist[i];
  }
  turn_wrenches(tree_, w_.links.data(), w_.wrench.data(), euler ? nullptr : b.twist.data(),
                euler ? b.scratch_twist.data() : nullptr, b.rhs.wrench.data());
  std::copy(w_.tau.begin(), w_.tau.end(), b.rhs.tau.begin());
  for (Vec6& g : b.rhs.g) g.setZero();
  if (same_pose) return;
  multibody::jacobian_transpose_times(now, b.rhs.wrench.data(), b.residual.data());
  for (std::size_t k = 0; k < b.residual.size(); ++k) b.rhs.tau[k] += b.residual[k];
  for (Vec6& f : b.rhs.wrench) f.setZero();
}

}  // namespace limber::articulated
