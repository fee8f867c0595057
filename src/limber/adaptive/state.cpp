// System, Workspace and State: handles, the initial state, and its bytes.
#include <algorithm>

#include "limber/adaptive/system.h"
#include "limber/result/state_bytes.h"

namespace limber::adaptive {
namespace {

// Every field that is saved, in order; `visit` puts or gets it.
template <class S, class Visit>
void each_field(S& s, Visit&& visit) {
  visit(s.t), visit(s.step), visit(s.tree), visit(s.patience), visit(s.stayed), visit(s.streak),
      visit(s.caution), visit(s.grown), visit(s.fraction);
  visit(s.noise), visit(s.accuracy), visit(s.check_after), visit(s.checked), visit(s.largest_ever),
      visit(s.norm2), visit(s.active), visit(s.bound), visit(s.total);
  visit(s.largest), visit(s.distance), visit(s.gap), visit(s.settled_at);
  visit(s.q), visit(s.a), visit(s.active_steps);
}

}  // namespace

State System::rest() const {
  State state;
  state.q = data_->q0;
  state.a.assign(data_->tree.v_count(), 0);
  state.active_steps.assign(data_->tree.size(), 0);
  return state;
}

const Model& System::model() const { return data_->model; }
const result::Layout& System::layout() const { return data_->layout; }
int System::joint_count() const { return data_->joints; }
int System::dof_count() const { return data_->tree.v_count(); }
int System::depth() const { return data_->assembly.depth; }

std::string State::save() const {
  result::StateWriter out;
  each_field(*this, [&](const auto& x) { out.put(x); });
  return out.take();
}

void State::load(const std::string& bytes) {
  State copy = *this;
  result::StateReader in(bytes);
  each_field(copy, [&](auto& x) { in.get(x); });
  in.end();
  const auto counts = {copy.patience, copy.stayed,      copy.streak, copy.caution,
                       copy.grown,    copy.check_after, copy.checked};
  if (copy.step < 0 || copy.tree > 1 || *std::min_element(counts.begin(), counts.end()) < 0 ||
      !(copy.fraction > 0 && copy.fraction <= 1))
    result::StateReader::out_of_range();
  copy.touch();
  *this = std::move(copy);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
void Workspace::forget() { data_->stamp = 0; }

}  // namespace limber::adaptive
