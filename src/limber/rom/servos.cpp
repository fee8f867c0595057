// Servos at their largest force. A servo is part of a point's stiffness and damping; cut at ±most, it is a
// force λ on its coordinate beside that:
//
//   kp (s − q⁺) + kd (ṡ − q̇⁺) + λ = ±most,   q⁺ = q̂ + θh r v + C λ,   q̇⁺ = r v
//
// with r and C the coordinate's rows and compliance with the coordinates held (Point::watched_*). Solved for
// λ it is λ = λ₀ + G r v / (θh), G = θ²h² (1 − kp C)⁻¹ kp + θh kd, so that (A − rᵀ G r) v = rhs + θh rᵀ λ₀: a
// change of A⁻¹ of as many rows as servos are cut (Woodbury), with what the servo did taken out again.
#include <algorithm>
#include <cmath>

#include "limber/rom/system.h"

namespace limber::rom {
namespace {

// Of a capped servo, blended: its coordinate q̂ where the ends are, and what it asks for at rest there.
struct ServoAt {
  double q = 0, target = 0, target_rate = 0;
};

ServoAt servo_at(const SystemData& s, int k, int servo, double t, const MechanismScratch& w) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const int row = static_cast<int>(m.limits.size()) + servo;
  ServoAt out;
  for (std::size_t i = 0; i < m.points.size(); ++i) {
    const Point& p = m.points[i];
    out.q += w.blend.weight[i] * (p.watched_at[row] + p.watched_rows.row(row).dot(w.blend.u[i]));
  }
  out.target = s.servos[k][servo].value.value(t);
  out.target_rate = s.servos[k][servo].value.rate(t);
  return out;
}

double rate_of(const SystemData& s, int k, int servo, const MechanismScratch& w) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const int row = static_cast<int>(m.limits.size()) + servo, n = m.coordinates();
  double out = 0;
  for (std::size_t i = 0; i < m.points.size(); ++i)
    out += w.blend.weight[i] * m.points[i].watched_rows.row(row).head(n).dot(w.v_new.tail(n));
  return out;
}

}  // namespace

bool cut_servos(const SystemData& s, int k, double t, double h, double theta, MechanismScratch& w) {
  const Mechanism& m = s.reduced.mechanisms[k];
  bool more = false;
  for (std::size_t i = 0; i < m.servos.size(); ++i) {
    if (w.servos.cut[i] != 0) continue;
    const CappedServo& servo = m.servos[i];
    const ServoAt at = servo_at(s, k, static_cast<int>(i), t, w);
    const double rate = rate_of(s, k, static_cast<int>(i), w);
    const double force =
        servo.kp * (at.target - at.q - theta * h * rate) + servo.kd * (at.target_rate - rate);
    if (std::abs(force) <= servo.most) continue;
    w.servos.cut[i] = force > 0 ? 1 : -1;
    more = true;
  }
  return more;
}

void apply_servos(const SystemData& s, int k, double t, double h, double theta, MechanismScratch& w) {
  const Mechanism& m = s.reduced.mechanisms[k];
  StepMatrices& x = w.matrices;
  ServoScratch& z = w.servos;
  z.which.clear();
  for (std::size_t i = 0; i < z.cut.size(); ++i)
    if (z.cut[i] != 0) z.which.push_back(static_cast<int>(i));
  if (z.which.empty()) {
    w.v_new.noalias() = x.inverse * w.rhs;
    return;
  }
  if (!x.is_cut) x.uncut = x.inverse;
  x.is_cut = true;
  const int count = static_cast<int>(z.which.size());
  const int n = m.coordinates(), first = static_cast<int>(m.limits.size());
  const double step = theta * h;
  z.R.setZero(count, x.uncut.cols());
  z.D.setZero(count, count);  // 1 − kp C
  z.G.setZero(count, count);
  z.lambda.resize(count);
  for (int a = 0; a < count; ++a) {
    const CappedServo& servo = m.servos[z.which[a]];
    const ServoAt at = servo_at(s, k, z.which[a], t, w);
    z.lambda[a] = z.cut[z.which[a]] * servo.most - servo.kp * (at.target - at.q) - servo.kd * at.target_rate;
    z.D(a, a) = 1;
    z.G(a, a) = step * step * servo.kp;
    for (std::size_t i = 0; i < m.points.size(); ++i) {
      const Point& p = m.points[i];
      z.R.row(a).tail(n) += w.blend.weight[i] * p.watched_rows.row(first + z.which[a]).head(n);
      for (int b = 0; b < count; ++b)
        z.D(a, b) -=
            w.blend.weight[i] * servo.kp * p.watched_compliance(first + z.which[a], first + z.which[b]);
    }
    // Where nothing but the servo holds a joint while the ends stand still, cut it would run away: it does
    // not get softer than this.
    z.D(a, a) = std::max(z.D(a, a), 1e-6);
  }
  z.lu.compute(z.D);
  z.lu.solve(z.G, z.half);
  z.G.swap(z.half);
  z.lu.solve(z.lambda, z.rhs);
  for (int a = 0; a < count; ++a) z.G(a, a) += step * m.servos[z.which[a]].kd;
  z.Y.noalias() = x.uncut * z.R.transpose();
  z.core.noalias() = -z.G * (z.R * z.Y);
  z.core.diagonal().array() += 1;
  z.lu.compute(z.core);
  z.half.noalias() = z.G * z.Y.transpose();
  z.R.transposeInPlace();
  z.lambda = z.rhs;
  z.rhs = w.rhs;
  z.rhs.noalias() += step * (z.R * z.lambda);
  z.lu.solve(z.half, z.R);
  x.inverse = x.uncut;
  x.inverse.noalias() += z.Y * z.R;
  w.v_new.noalias() = x.inverse * z.rhs;
}

}  // namespace limber::rom
