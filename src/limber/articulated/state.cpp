// System, Workspace and State: handles, the initial state, and its bytes.
#include <cmath>
#include <limits>

#include "limber/articulated/system.h"
#include "limber/result/state_bytes.h"

namespace limber::articulated {
State System::rest() const {
  const SystemData& s = *data_;
  State state;
  state.q = s.q0;
  state.v = s.v0;
  state.a.assign(s.tree.v_count(), 0);
  state.energy0 = s.energy0;
  state.control.assign(s.model.controllers().size(), 0);
  if (s.asks_works) state.works.assign(s.work_of_motion(s.motions.size()), 0);
  state.cables = s.cable_start;
  if (!s.cables.empty()) {
    std::vector<LinkMotion> links(s.tree.size());
    multibody::kinematics(s.tree, state.q.data(), state.v.data(), links);
    std::vector<CableShape> cables(s.cables.begin(), s.cables.end());
    carry_cables_over(s, links, 0, cables, state.cables);
  }
  return state;
}

std::string System::solver() const {
  if (data_->loop_plan) return "gaba, loops iterated";
  return data_->tree_only ? "aba" : to_string(data_->solver);
}
const Model& System::model() const { return data_->model; }
const result::Layout& System::layout() const { return data_->layout; }
int System::body_count() const { return data_->tree.size(); }
int System::dof_count() const { return data_->tree.v_count(); }

std::string State::save() const {
  result::StateWriter out;
  out.put(t), out.put(step);
  out.put(q), out.put(v), out.put(a);
  out.put(part), out.put(energy0), out.put(dissipated), out.put(work);
  out.put(made), out.put(at_stake), out.put(works), out.put(control);
  out.put(touching), out.put(overlap);
  if (!cables.empty()) out.put(cables);
  return out.take();
}

void State::load(const std::string& bytes) {
  State copy = *this;
  result::StateReader in(bytes);
  in.get(copy.t), in.get(copy.step);
  in.get(copy.q), in.get(copy.v), in.get(copy.a);
  in.get(copy.part), in.get(copy.energy0), in.get(copy.dissipated), in.get(copy.work);
  in.get(copy.made), in.get(copy.at_stake), in.get(copy.works), in.get(copy.control);
  in.get_any(copy.touching), in.get(copy.overlap);
  if (!copy.cables.empty()) in.get(copy.cables);
  in.end();
  if (copy.step < 0 || copy.part < 0 || copy.touching.size() % touching_width != 0)
    result::StateReader::out_of_range();
  for (std::size_t k = 0; k < copy.touching.size(); ++k) {  // some become whole numbers
    const double x = copy.touching[k], most = k % touching_width == 2 ? 4294967295.0 : 2147483647.0;
    if (!std::isfinite(x) || (k % touching_width < 3 && !(x >= 0 && x <= most)))
      result::StateReader::out_of_range();
  }
  *this = std::move(copy);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

void Workspace::fill_with_nan() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  WorkspaceData& w = *data_;
  for (auto* list : {&w.tau, &w.joint_block, &w.q_mid, &w.v_mid, &w.q_end, &w.v_end, &w.a, &w.a_new,
                     &w.u_base, &w.v_base, &w.u, &w.aba.U, &w.aba.D_inverse, &w.aba.u, &w.aba.t, &w.aba.S})
    std::fill(list->begin(), list->end(), nan);
  for (LinkMotion& m : w.links) {
    m.X_PM = m.X_WM = {Mat3::Constant(nan), Vec3::Constant(nan)};
    m.V = m.c = Vec6::Constant(nan);
  }
  for (auto* list : {&w.wrench, &w.a_body, &w.aba.a_body})
    for (Vec6& x : *list) x.setConstant(nan);
  for (Mat6& block : w.body_block) block.setConstant(nan);
  for (KnownEnergy* e : {&w.at_start, &w.at_end}) {
    std::fill(e->q.begin(), e->q.end(), nan);
    std::fill(e->v.begin(), e->v.end(), nan);
    e->kinetic = e->total = e->rounding = nan;
  }
  for (auto& I : w.aba.inertia)
    for (auto* rows : {&I.A, &I.B, &I.C}) std::fill(std::begin(*rows), std::end(*rows), nan);
}

}  // namespace limber::articulated
