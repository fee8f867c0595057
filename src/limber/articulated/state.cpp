// System, Workspace and State: handles, the initial state, and its bytes.
#include <cstring>
#include <limits>
#include <stdexcept>

#include "limber/articulated/system.h"

namespace limber::articulated {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put(std::string& out, const std::vector<double>& values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  void get(T& value) {
    take(&value, sizeof value);
  }
  void get(std::vector<double>& values) {
    std::uint64_t n = 0;
    get(n);
    if (n != values.size()) throw std::invalid_argument("state: bytes are of a system of another size");
    take(values.data(), values.size() * sizeof(double));
  }
  void end() const {
    if (at_ != bytes_.size()) throw std::invalid_argument("state: bytes are left over");
  }

 private:
  void take(void* to, std::size_t n) {
    if (bytes_.size() - at_ < n) throw std::invalid_argument("state: bytes end too early");
    std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

State System::rest() const {
  const SystemData& s = *data_;
  State state;
  state.q = s.q0;
  state.v = s.v0;
  state.a.assign(s.tree.v_count(), 0);
  return state;
}

std::string System::solver() const { return data_->tree_only ? "aba" : to_string(data_->solver); }
const Model& System::model() const { return data_->model; }
const result::Layout& System::layout() const { return data_->layout; }
int System::body_count() const { return data_->tree.size(); }
int System::dof_count() const { return data_->tree.v_count(); }

std::string State::save() const {
  std::string bytes;
  put(bytes, t);
  put(bytes, step);
  put(bytes, q);
  put(bytes, v);
  put(bytes, a);
  put(bytes, part);
  put(bytes, dissipated);
  put(bytes, work);
  return bytes;
}

void State::load(const std::string& bytes) {
  State copy = *this;
  Reader in(bytes);
  in.get(copy.t);
  in.get(copy.step);
  in.get(copy.q);
  in.get(copy.v);
  in.get(copy.a);
  in.get(copy.part);
  in.get(copy.dissipated);
  in.get(copy.work);
  in.end();
  *this = std::move(copy);
}

Workspace::Workspace(const System& system) : data_(std::make_unique<WorkspaceData>(system.data())) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

void Workspace::fill_with_nan() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  WorkspaceData& w = *data_;
  for (auto* list : {&w.tau, &w.joint_block, &w.q_mid, &w.v_mid, &w.q_end, &w.v_end, &w.a, &w.a_new,
                     &w.u_base, &w.v_base, &w.u, &w.aba.U, &w.aba.D_inverse, &w.aba.u, &w.aba.S})
    std::fill(list->begin(), list->end(), nan);
  for (LinkMotion& m : w.links) {
    m.X_PM = m.X_WM = {Mat3::Constant(nan), Vec3::Constant(nan)};
    m.V = m.c = Vec6::Constant(nan);
  }
  for (auto* list : {&w.wrench, &w.a_body, &w.aba.a_body})
    for (Vec6& x : *list) x.setConstant(nan);
  for (Mat6& block : w.body_block) block.setConstant(nan);
  for (auto* list : {&w.aba.inertia, &w.aba.passed})
    for (auto& I : *list) {
      I.A = I.B = I.C = Mat3::Constant(nan);
      I.p.setConstant(nan);
    }
}

}  // namespace limber::articulated
