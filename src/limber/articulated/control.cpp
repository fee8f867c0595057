// Controllers, u = kp e + ki ∫e dt + kd ė cut to its limits. One that reads its own coordinate (or its rate)
// is as implicit as a servo: its integral is a variable beside q and v that every integrator takes along by
// its own stages,
//
//   I = I_b + γh e,   I₁ = I₀ + h Σ b_i e_i,
//
// so that the order stays, and in a stage K = kp + γh ki, D = kd (of a rate: D = kp + γh ki). While it is cut
// its force is the limit, and the integral takes no e that would cut it further. All others hold the force
// that State::control says.
#include <algorithm>

#include "limber/articulated/stepper.h"

namespace limber::articulated {

void compile_controllers(SystemData& s) {
  int index = 0;
  for (const Controller& c : s.model.controllers()) {
    CompiledDrive d;
    d.link = c.joint.value;
    d.control = index++;
    d.reads = what_it_reads(s.model.parts(), c);
    d.law = c;
    s.drives.push_back(std::move(d));
  }
}

double control_error(const CompiledDrive& d, double q, double v, double t) {
  return d.law.target.value(t) - (d.reads == ControllerReads::position ? q : v);
}

double control_force(const CompiledDrive& d, double q, double v, double t, double integral) {
  const double rate = d.law.kd != 0 ? d.law.target.rate(t) - v : 0;  // of e; none where it reads a rate
  return d.law.kp * control_error(d, q, v, t) + d.law.ki * integral + d.law.kd * rate;
}

void add_control(const CompiledDrive& d, ServoState state, const double* q, const double* v, double t,
                 const Weights& weights, WorkspaceData& w, double* tau, double* block, int dofs) {
  const int k = d.law.dof;
  double& rate = w.control_rate[d.control];
  if (d.reads == ControllerReads::samples) {
    tau[k] += w.control[d.control];
    rate = 0;
    return;
  }
  const double e = control_error(d, q[k], v[k], t);
  if (state != ServoState::linear) {
    const bool up = state == ServoState::at_maximum;
    tau[k] += up ? d.law.upper : d.law.lower;
    rate = (up ? d.law.ki * e > 0 : d.law.ki * e < 0) ? 0 : e;
    return;
  }
  rate = e;
  const double both = d.law.kp + d.law.ki * weights.d;  // of e at the stage
  const bool position = d.reads == ControllerReads::position;
  const double K = position ? both : 0, D = position ? d.law.kd : both;
  tau[k] += control_force(d, q[k], v[k], t, w.control[d.control] + weights.d * e) - weights.ahead * K * v[k];
  block[k * dofs + k] += weights.d * std::max(D, 0.0) + weights.k * std::max(K, 0.0);
}

// Where the step starts.
void Stepper::start_controls() { w_.control = state_.control; }

// Integrals that go on from here: `from` + h · what the last evaluation says.
void Stepper::integrate_controls(const std::vector<double>& from, double h, std::vector<double>& out) const {
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = from[c] + h * w_.control_rate[c];
}

// A single solve evaluates where the step starts; its integral takes e where it ends.
void Stepper::end_controls_of_euler(double t, double h) {
  for (std::size_t index = 0; index < s_.drives.size(); ++index) {
    const CompiledDrive& d = s_.drives[index];
    if (d.control < 0) continue;
    const Link& link = tree_[d.link];
    const double q = state_.q[link.q + d.law.dof], v = w_.v_end[link.v + d.law.dof];
    double& rate = w_.control_rate[d.control];
    if (d.reads != ControllerReads::samples && (rate != 0 || w_.servo[6 * index] == ServoState::linear))
      rate = control_error(d, q + h * v, v, t + h);
  }
  integrate_controls(state_.control, h, w_.control_end);
}

// The same from the first n stages.
void Stepper::combine_controls(double h, std::span<const double> weights, int n,
                               std::vector<double>& out) const {
  for (std::size_t c = 0; c < out.size(); ++c) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += weights[j] * w_.stage_control[j][c];
    out[c] = state_.control[c] + h * sum;
  }
}

// e at the stages of a pair, which stand at stage_u and stage_v.
void Stepper::look_at_pair(double t, double h, std::span<const double> at) {
  for (const CompiledDrive& d : s_.drives) {
    if (d.control < 0) continue;
    const int k = d.law.dof;
    const Link& link = tree_[d.link];
    for (std::size_t i = 0; i < 2; ++i)
      w_.stage_control[i][d.control] =
          d.reads == ControllerReads::samples
              ? 0
              : control_error(d, state_.q[link.q + k] + w_.stage_u[i][link.v + k], w_.stage_v[i][link.v + k],
                              t + at[i] * h);
  }
}

bool Stepper::update_control(std::size_t index, double t, double h) {
  const CompiledDrive& d = s_.drives[index];
  if (d.reads == ControllerReads::samples) return false;
  const Link& link = tree_[d.link];
  const int k = d.law.dof, c = d.control;
  // The force the step used, as a servo's.
  const double* q = (midpoint() ? w_.q_mid : w_.q_end).data() + link.q;
  const double* v = (midpoint() ? w_.v_mid : w_.v_end).data() + link.v;
  const double integral = midpoint() ? 0.5 * (state_.control[c] + w_.control_end[c]) : w_.control_end[c];
  const double u = control_force(d, q[k], v[k], midpoint() ? t + h / 2 : t + h, integral);
  ServoState& state = w_.servo[6 * index];
  if (state != ServoState::linear || (u <= d.law.upper && u >= d.law.lower)) return false;
  state = u > d.law.upper ? ServoState::at_maximum : ServoState::at_minimum;
  return true;
}

void Stepper::control_at_frame() {
  start_controls();
  for (std::size_t index = 0; index < s_.drives.size(); ++index) {
    const CompiledDrive& d = s_.drives[index];
    if (d.control < 0 || d.reads == ControllerReads::samples) continue;
    const Link& link = tree_[d.link];
    const double u = control_force(d, state_.q[link.q + d.law.dof], state_.v[link.v + d.law.dof], state_.t,
                                   state_.control[d.control]);
    w_.servo[6 * index] = u > d.law.upper   ? ServoState::at_maximum
                          : u < d.law.lower ? ServoState::at_minimum
                                            : ServoState::linear;
  }
}

}  // namespace limber::articulated
