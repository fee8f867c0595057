// System, Workspace and State: handles, the initial state, and its bytes.
#include <algorithm>
#include <cmath>
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
    state.coarse.push_back(t.fine / t.elements);
  }
  const std::size_t n = 12 * state.place.size();
  for (auto* list : {&state.e, &state.v, &state.e_before, &state.v_before}) {
    list->reserve(12 * static_cast<std::size_t>(s.capacity()));
    list->assign(n, 0);
  }
  if (s.options.integrator == Integrator::alpha || s.options.integrator == Integrator::lobatto)
    for (auto* list : {&state.a, &state.a_mean}) {
      list->reserve(12 * static_cast<std::size_t>(s.capacity()));
      list->assign(n, 0);
    }
  for (std::size_t t = 0; t < s.threads.size(); ++t)
    for (int j = state.first[t]; j < state.first[t + 1]; ++j) {
      const ThreadInfo& info = s.threads[t];
      const Pose& X = info.start[state.place[j]];
      // Pulled along, a section is as much thinner as it would be at rest.
      const double thin = 1 - info.rod.nu * (info.stretch - 1);
      double* q = state.e.data() + 12 * j;
      for (int i = 0; i < 3; ++i) {
        q[i] = X.p[i];
        for (int c = 0; c < 3; ++c) q[3 + 3 * c + i] = X.R(i, c) * (c == 0 ? info.stretch : thin);
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
  state.energy0 = s.energy0;
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
  out.put(energy0), out.put(dissipated), out.put(work);
  if (!a.empty()) out.put(a), out.put(a_mean), out.put(made), out.put(energy_before);
  return out.take();
}

namespace {

// Whether there is an element between two neighbouring places of a mesh: a coarsest one, or halves of it
// again and again. A place twice is a cut, at a node of the coarsest mesh.
bool is_element(std::int32_t from, std::int32_t to, std::int32_t coarse) {
  if (from == to) return from % coarse == 0;
  const std::int32_t span = to - from;
  if (from < 0 || span < 0 || span > coarse || coarse % span != 0 || from % span != 0) return false;
  const std::int32_t halves = coarse / span;
  return (halves & (halves - 1)) == 0;
}

// Whether a mesh is one of the same threads: each from 0 to its last place, with every node of the coarsest
// mesh, none more than twice.
bool same_threads(const State& a, const State& b) {
  if (a.first.size() != b.first.size() || a.first.empty() || a.first[0] != 0 ||
      a.first.back() != a.node_count())
    return false;
  for (std::size_t t = 0; t + 1 < a.first.size(); ++t) {
    if (a.first[t + 1] < a.first[t] + 2 || a.first[t + 1] > a.node_count()) return false;
    const int begin = a.first[t], last = a.first[t + 1] - 1;
    const std::int32_t end = b.place[b.first[t + 1] - 1];
    if (a.place[begin] != 0 || a.place[last] != end) return false;
    for (int j = begin; j < last; ++j) {
      if (!is_element(a.place[j], a.place[j + 1], b.coarse[t])) return false;
      // A cut is inside, and not made twice.
      const bool cut = a.place[j] == a.place[j + 1];
      if (cut && (a.place[j] == 0 || a.place[j] == end || a.place[j - 1] == a.place[j])) return false;
    }
  }
  return true;
}

bool all_finite(const std::vector<double>& list) {
  return std::ranges::all_of(list, [](double x) { return std::isfinite(x); });
}

bool sizes_fit(const State& a, const State& b) {
  const std::size_t n = 12 * a.place.size();
  return a.e.size() == n && a.v.size() == n && a.e_before.size() == n && a.v_before.size() == n &&
         a.a.size() == (b.a.empty() ? 0 : n) && a.a_mean.size() == a.a.size() &&
         a.strain_before.size() == (b.strain_before.empty() ? 0 : n + 12) &&
         a.touch.size() % LastTouch::size == 0 && same_threads(a, b);
}

bool numbers_fit(const State& a) {
  for (std::size_t k = 0; k < a.touch.size(); k += LastTouch::size)
    if (!(a.touch[k] >= 0 && a.touch[k] < a.node_count() && a.touch[k + 1] < a.node_count())) return false;
  for (const auto* list : {&a.e, &a.v, &a.e_before, &a.v_before, &a.a, &a.a_mean, &a.strain_before, &a.touch})
    if (!all_finite(*list)) return false;
  return all_finite({a.t, a.h_before, a.energy0, a.dissipated, a.work, a.made, a.energy_before}) &&
         a.step >= 0 && a.h_before >= 0;
}

}  // namespace

void State::load(const std::string& bytes) {
  State copy = *this;
  result::StateReader in(bytes);
  in.get(copy.t), in.get(copy.step);
  in.get_any(copy.first), in.get_any(copy.place);
  in.get_any(copy.e), in.get_any(copy.v), in.get_any(copy.e_before), in.get_any(copy.v_before);
  in.get(copy.h_before), in.get_any(copy.strain_before), in.get_any(copy.touch);
  in.get(copy.energy0), in.get(copy.dissipated), in.get(copy.work);
  if (!a.empty()) in.get_any(copy.a), in.get_any(copy.a_mean), in.get(copy.made), in.get(copy.energy_before);
  in.end();
  if (!sizes_fit(copy, *this)) throw std::invalid_argument("state: bytes are of a system of another size");
  if (!numbers_fit(copy)) throw std::invalid_argument("state: bytes hold a number that is out of range");
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
  if (s.options.integrator == Integrator::lobatto)
    for (auto* list : {&stage[0], &stage[1], &stage_hat[0], &stage_hat[1], &stage_rhs[0], &stage_rhs[1]})
      list->assign(12 * static_cast<std::size_t>(n), 0);
  if (s.options.solver == Solver::cg)
    for (auto* list : {&cg_r, &cg_z, &cg_p, &cg_q}) list->assign(12 * static_cast<std::size_t>(n), 0);
  if (s.options.solver == Solver::cg) cg_block.assign(144 * static_cast<std::size_t>(n), 0);
  contact.sag.assign(n, 0);
  if (s.contact) inverse.resize(n);
  pulls.assign(s.tethers.size(), 0);
  X_WB.resize(s.bodies.size());
  X_before.resize(s.bodies.size());
  contact.X0.resize(s.bodies.size());
  contact.X1.resize(s.bodies.size());
  place.reserve(n);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
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
  for (auto* list :
       {&w.stage[0], &w.stage[1], &w.stage_hat[0], &w.stage_hat[1], &w.stage_rhs[0], &w.stage_rhs[1]})
    std::fill(list->begin(), list->end(), nan);
}

}  // namespace limber::thread
