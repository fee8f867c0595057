// System, Workspace and State: handles, the initial state, and its bytes.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "limber/result/state_bytes.h"
#include "limber/thread/system.h"

namespace limber::thread {
State System::rest() const {
  const SystemData& s = *data_;
  State state;
  state.first.push_back(0);
  for (const ThreadInfo& t : s.threads) {
    for (int i = 0; i <= t.elements; ++i) state.place.push_back(i * (t.fine / t.elements));
    state.first.push_back(state.node_count());
  }
  const std::size_t n = 12 * state.place.size();
  for (auto* list : {&state.e, &state.v, &state.e_before, &state.v_before}) {
    list->reserve(12 * static_cast<std::size_t>(s.capacity()));
    list->assign(n, 0);
  }
  for (std::size_t t = 0; t < s.threads.size(); ++t)
    for (int j = state.first[t]; j < state.first[t + 1]; ++j) {
      const Pose& X = s.threads[t].start[state.place[j]];
      double* q = state.e.data() + 12 * j;
      for (int i = 0; i < 3; ++i) {
        q[i] = X.p[i];
        for (int c = 0; c < 3; ++c) q[3 + 3 * c + i] = X.R(i, c);
        state.v[12 * j + i] = s.threads[t].velocity[i];
      }
    }
  for (const Carried& c : s.carried) {
    const int at = 12 * node_at(state, c.thread, c.place);
    for (int k = 0; k < 4; ++k) {
      const Eigen::Map<const Vec3> q(state.e.data() + at + 3 * k);
      const Vec3 rate = k == 0 ? c.velocity : Vec3(c.turn.cross(q));
      for (int i = 0; i < 3; ++i) state.v[at + 3 * k + i] += rate[i];
    }
  }
  if (s.damps) {
    state.strain_before.reserve(12 * static_cast<std::size_t>(s.capacity() + 1));
    state.strain_before.assign(n + 12, 0);
  }
  WorkspaceData w(s);
  place_fixes(s, state, 0, state.e.data(), w);
  return state;
}

const Model& System::model() const { return data_->model; }
const result::Layout& System::layout() const { return data_->layout; }
int System::thread_count() const { return static_cast<int>(data_->threads.size()); }
int System::dof_count() const {
  int n = 0;
  for (const ThreadInfo& t : data_->threads) n += 12 * (t.elements + 1);
  return n;
}
std::string System::solver() const {
  return data_->options.solver == Solver::cg ? "cg" : "block-tridiagonal";
}
double System::radius(int thread) const { return data_->threads[thread].rod.radius; }
double System::length(int thread) const { return data_->threads[thread].length; }

std::string State::save() const {
  result::StateWriter out;
  out.put(t), out.put(step);
  out.put(first), out.put(place);
  out.put(e), out.put(v), out.put(e_before), out.put(v_before);
  out.put(h_before), out.put(strain_before), out.put(touch);
  out.put(dissipated), out.put(work);
  return out.take();
}

namespace {

// Whether a mesh is one of the same threads: each from 0 to its last place, in order; a place twice is a cut.
bool same_threads(const State& a, const State& b) {
  if (a.first.size() != b.first.size() || a.first.empty() || a.first[0] != 0 ||
      a.first.back() != a.node_count())
    return false;
  for (std::size_t t = 0; t + 1 < a.first.size(); ++t) {
    if (a.first[t + 1] < a.first[t] + 2 || a.first[t + 1] > a.node_count()) return false;
    const auto begin = a.place.begin() + a.first[t], end = a.place.begin() + a.first[t + 1];
    if (*begin != 0 || *(end - 1) != b.place[b.first[t + 1] - 1] || !std::is_sorted(begin, end)) return false;
  }
  return true;
}

}  // namespace

void State::load(const std::string& bytes) {
  State copy = *this;
  result::StateReader in(bytes);
  in.get(copy.t), in.get(copy.step);
  in.get_any(copy.first), in.get_any(copy.place);
  in.get_any(copy.e), in.get_any(copy.v), in.get_any(copy.e_before), in.get_any(copy.v_before);
  in.get(copy.h_before), in.get_any(copy.strain_before), in.get_any(copy.touch);
  in.get(copy.dissipated), in.get(copy.work);
  in.end();
  const std::size_t n = 12 * copy.place.size();
  if (copy.e.size() != n || copy.v.size() != n || copy.e_before.size() != n || copy.v_before.size() != n ||
      !same_threads(copy, *this))
    throw std::invalid_argument("state: bytes are of a system of another size");
  *this = std::move(copy);
}

WorkspaceData::WorkspaceData(const SystemData& s) {
  const int n = s.capacity();
  elements.resize(n);
  solver.resize(n);
  held.assign(n, 0);
  thread_of.assign(n, 0);
  length.assign(n, 0);
  errors.assign(n, {});
  weight.assign(2 * static_cast<std::size_t>(n) + 2, 0);
  for (auto* list : {&e, &e_hat, &v_hat, &rhs, &delta, &external, &scratch, &e_start, &e_try, &contact.shift,
                     &contact.free_motion})
    list->assign(12 * static_cast<std::size_t>(n), 0);
  if (s.options.solver == Solver::cg)
    for (auto* list : {&cg_r, &cg_z, &cg_p, &cg_q}) list->assign(12 * static_cast<std::size_t>(n), 0);
  if (s.options.solver == Solver::cg) cg_block.assign(144 * static_cast<std::size_t>(n), 0);
  contact.sag.assign(n, 0);
  if (s.contact) inverse.resize(n);
  X_WB.resize(s.bodies.size());
  X_before.resize(s.bodies.size());
  contact.X0.resize(s.bodies.size());
  contact.X1.resize(s.bodies.size());
  place.reserve(n);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

void Workspace::fill_with_nan() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  WorkspaceData& w = *data_;
  w.place.clear();  // the mesh is set up afresh
  for (Table* t :
       {&w.elements.x, &w.elements.F, &w.elements.P, &w.elements.strain, &w.elements.z, &w.elements.stress})
    t->fill(nan);
  for (auto* list : {&w.elements.D, &w.elements.O, &w.elements.g}) std::fill(list->begin(), list->end(), nan);
  for (auto* list : {&w.e, &w.e_hat, &w.v_hat, &w.rhs, &w.delta, &w.external, &w.scratch, &w.e_start,
                     &w.e_try, &w.contact.shift, &w.contact.free_motion})
    std::fill(list->begin(), list->end(), nan);
}

}  // namespace limber::thread
