// How far a mesh is from the thread that it stands for: an estimate of the error of displacement, element by
// element.
//
// An element takes its midline for an arc or helix with a linear moment. Along a thread whose curvature is
// κ = κ₀ + κ₁ s + κ₂ s²/2 within an element of length l, the chord in the element's frame differs from what
// the element makes of it by (series in l; q of element.h)
//
//   along it    l⁵ (κ₁²/1440 + κ₀κ₂/720)        across it   l⁵ κ₀²κ₁/720
//
// and, since the element knows only the shear force as the moment's slope, not that a twist τ turns the
// moment, by l³/12 · |GJ − EI|/EI · τκ₀ across it. Everything beyond the element is off by these. The same
// terms act on forces: the element bends by another l⁵ (2κ₀κ₁² + κ₂ N/EI)/720, which moves what is at a lever
// by so much; the lever is the distance of the farther end, or √(EI/N) where a tension N straightens the
// thread sooner. Between nodes the cubic midline is off by l⁴/384 of its fourth derivative. κ₁ is the shear
// force over EI, κ₂ its difference from the element before to the one after.
#include <algorithm>
#include <cmath>

#include "limber/thread/system.h"

namespace limber::thread {
namespace {

// Slope of the curvature from the shear force.
Vec2 slope(const SystemData& s, const WorkspaceData& w, int slot) {
  const Rod& rod = s.threads[w.thread_of[slot]].rod;
  return {w.elements.stress[1][slot] / (rod.E * rod.I_z), w.elements.stress[2][slot] / (rod.E * rod.I_y)};
}

// How it changes, from the element before to the one after, as far as there are such.
double change_of_slope(const SystemData& s, const WorkspaceData& w, int slot, int first, int end) {
  int a = slot, b = slot;
  if (slot > first && w.length[slot - 1] > 0) --a;
  if (slot + 1 < end && w.length[slot + 1] > 0) ++b;
  if (a == b) return 0;
  const double apart = 0.5 * (w.length[a] + w.length[b]) + (a < slot && slot < b ? w.length[slot] : 0);
  return (slope(s, w, b) - slope(s, w, a)).norm() / apart;
}

}  // namespace

bool element_errors(const SystemData& s, const State& state, WorkspaceData& w) {
  if (s.damps) {
    set_damping(s, state, 0, w);
    w.scale_h = -1;
  }
  if (!evaluate(s, state.e.data(), w)) return false;
  for (int t = 0; t < static_cast<int>(s.threads.size()); ++t) {
    const ThreadInfo& info = s.threads[t];
    const Rod& rod = info.rod;
    const double EI = rod.E * std::min(rod.I_y, rod.I_z), GJ = rod.G * rod.J;
    const double uneven =
        std::max(std::abs(GJ / (rod.E * rod.I_y) - 1), std::abs(GJ / (rod.E * rod.I_z) - 1));
    const int first = state.first[t], end = state.first[t + 1] - 1;
    for (int j = first; j < end; ++j) {
      w.errors[j] = {};
      const double l = w.length[j];
      if (l == 0) continue;
      const Table &z = w.elements.z, &stress = w.elements.stress;
      const double twist = std::abs(z[3][j]) / l, bend = std::sqrt(z[4][j] * z[4][j] + z[5][j] * z[5][j]) / l;
      const double k0 = std::sqrt(twist * twist + bend * bend), k1 = slope(s, w, j).norm();
      const double k2 = change_of_slope(s, w, j, first, end), pull = stress[0][j] / EI;
      const double at = (state.place[j] + 0.5 * (state.place[j + 1] - state.place[j])) * info.unit;
      double lever = std::max(at, info.length - at);
      if (pull > 0) lever = std::min(lever, 1 / std::sqrt(pull));
      const double l5 = l * l * l * l * l;
      w.errors[j].beyond = l5 * (k1 * k1 / 1440 + k0 * k2 / 720 + k0 * k0 * k1 / 720) +
                           l * l * l / 12 * uneven * twist * bend +
                           lever * l5 * (2 * k0 * k1 * k1 + std::abs(pull) * k2) / 720;
      w.errors[j].within = l * l * l * l / 384 * (k2 + k0 * k0 * k0 + 3 * k0 * k1);
    }
  }
  return true;
}

double mesh_error(const System& system, const State& state, Workspace& workspace, int thread) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  set_mesh(s, state, w);
  if (s.options.element != Element::log || !element_errors(s, state, w)) return std::nan("");
  double beyond = 0, within = 0;
  for (int j = state.first[thread]; j + 1 < state.first[thread + 1]; ++j) {
    beyond += w.errors[j].beyond;
    within = std::max(within, w.errors[j].within);
  }
  return beyond + within;
}

}  // namespace limber::thread
