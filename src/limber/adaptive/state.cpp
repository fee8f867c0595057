// System, Workspace and State: handles, the initial state, and its bytes.
#include <cstring>
#include <stdexcept>

#include "limber/adaptive/system.h"

namespace limber::adaptive {
namespace {

// Every field that is saved, in order; `visit` puts or gets it.
template <class S, class Visit>
void each_field(S& s, Visit&& visit) {
  visit(s.t), visit(s.step), visit(s.tree), visit(s.patience), visit(s.stayed), visit(s.streak),
      visit(s.fraction);
  visit(s.noise), visit(s.largest_ever), visit(s.norm2), visit(s.active), visit(s.bound), visit(s.total);
  visit(s.largest), visit(s.distance), visit(s.settled_at);
}
template <class S, class Visit>
void each_list(S& s, Visit&& visit) {
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
  std::string bytes;
  const auto put = [&](const void* from, std::size_t n) { bytes.append(static_cast<const char*>(from), n); };
  each_field(*this, [&](const auto& x) { put(&x, sizeof x); });
  each_list(*this, [&](const auto& list) {
    const std::uint64_t n = list.size();
    put(&n, sizeof n);
    put(list.data(), list.size() * sizeof list[0]);
  });
  return bytes;
}

void State::load(const std::string& bytes) {
  State copy = *this;
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t n) {
    if (bytes.size() - at < n) throw std::invalid_argument("state: bytes end too early");
    std::memcpy(to, bytes.data() + at, n);
    at += n;
  };
  each_field(copy, [&](auto& x) { take(&x, sizeof x); });
  each_list(copy, [&](auto& list) {
    std::uint64_t n = 0;
    take(&n, sizeof n);
    if (n != list.size()) throw std::invalid_argument("state: bytes are of a system of another size");
    take(list.data(), list.size() * sizeof list[0]);
  });
  if (at != bytes.size()) throw std::invalid_argument("state: bytes are left over");
  copy.touch();
  *this = std::move(copy);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
void Workspace::forget() { data_->stamp = 0; }

}  // namespace limber::adaptive
