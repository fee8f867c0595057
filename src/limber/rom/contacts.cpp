// What touches, and the joints' limits: three rows a contact on the velocities of coordinates and free
// bodies, one row a limit. With A⁻¹ of every object their motion is u = free + W λ, W = J A⁻¹ Jᵀ (Andrews et
// al., section 6). A gap is closed in a step at most: u_n + gap/h ≥ 0; an overlap is taken back by a fifth a
// step, and by 0.5 % of the smaller body's size.
//
// A limit's row moves by what the coordinates move and by its own compliance beside them: W_ll + c_ll/h², so
// that a joint at its stop stiffens the ends as it does in the whole mechanism.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "limber/result/warnings.h"
#include "limber/rom/system.h"

namespace limber::rom {
namespace {

using contact::ContactPoint;

constexpr double most_taken_back = 0.005;  // of the smaller of two bodies, in a step
constexpr double noted_overlap = 0.01;  // of the smaller of two bodies: more than this at the start is told

class Contacts {
 public:
  Contacts(const SystemData& s, State& state, double h, WorkspaceData& w)
      : s_(s), state_(state), h_(h), w_(w) {}

  void find() {
    w_.row_count = 0;
    w_.overlap = 0;
    if (!s_.contacts.empty()) find_contacts();
    contacts_ = w_.row_count;
    for (std::size_t k = 0; k < s_.mechanisms.size(); ++k) find_limits(static_cast<int>(k));
  }

  // Of what touches; "" if nothing to speak of overlaps.
  std::string overlap_at_start() const {
    const ContactRow* deepest = nullptr;
    for (int c = 0; c < contacts_; ++c)
      if (!deepest || w_.rows[c].gap < deepest->gap) deepest = &w_.rows[c];
    if (!deepest) return "";
    const double size = std::min(size_of(deepest->solid_a), size_of(deepest->solid_b));
    if (!(-deepest->gap > noted_overlap * size)) return "";
    return fmt::format("at the start {} overlaps {} by {:.3g} m: they are pushed apart, a fifth of it a step",
                       name_of(deepest->solid_a), name_of(deepest->solid_b), -deepest->gap);
  }

  int count() const { return w_.row_count; }
  int contacts() const { return contacts_; }

  void assemble() {
    const int n = w_.row_count;
    contact::make_dense(n, w_.W);
    w_.free.assign(4 * static_cast<std::size_t>(n), 0.0);
    w_.mu.assign(n, 0.0);
    for (int c = 0; c < n; ++c) {
      const ContactRow& row = w_.rows[c];
      w_.mu[c] = row.friction;
      const Vec3 u = velocity(row), before = velocity_before(row);
      const double push = row.gap >= 0 ? row.gap / h_ : -taken_back(row) / h_;
      double normal = u[0] + push;
      if (row.limit < 0 && s_.restitution > 0)
        normal = contact::with_restitution(normal, before[0], s_.restitution, bounce_threshold());
      w_.free[4 * c] = normal;
      if (row.limit < 0) w_.free[4 * c + 1] = u[1], w_.free[4 * c + 2] = u[2];
      for (int b = 0; b < n; ++b) {
        double* block = contact::dense_block(w_.W, n, c, b);
        for (const ContactRow::Side& mine : row.side)
          for (const ContactRow::Side& other : w_.rows[b].side)
            if (mine.count > 0 && mine.mechanism == other.mechanism && mine.prop == other.prop)
              add_product(mine, other, block);
        const ContactRow& with = w_.rows[b];
        if (row.limit >= 0 && with.limit >= 0 && row.side[0].mechanism == with.side[0].mechanism)
          block[0] += limit_compliance(row, with) / (h_ * h_);
      }
      if (row.limit >= 0) {  // rows that are not there
        double* own = contact::dense_block(w_.W, n, c, c);
        own[5] = own[10] = own[0];
      }
    }
  }

  Vec3 velocity(const ContactRow& row) const {
    Vec3 out = Vec3::Zero();
    for (const ContactRow::Side& side : row.side)
      out += times(side, side.mechanism >= 0 ? w_.mechanisms[side.mechanism].v_new.data()
                                             : w_.prop_v.data() + 6 * std::max(side.prop, 0));
    return out;
  }

  void apply(const double* lambda) {
    for (Vec6& p : w_.impulse) p.setZero();
    for (int c = 0; c < w_.row_count; ++c) {
      const ContactRow& row = w_.rows[c];
      const double* x = lambda + 4 * c;
      double sign = 1;
      for (const ContactRow::Side& side : row.side) {
        if (side.count > 0) {
          double* v = side.mechanism >= 0 ? w_.mechanisms[side.mechanism].v_new.data()
                                          : w_.prop_v.data() + 6 * side.prop;
          for (int r = 0; r < side.count; ++r)
            v[r] += side.Y[r] * x[0] + side.Y[side.count + r] * x[1] + side.Y[2 * side.count + r] * x[2];
          if (side.mechanism >= 0 && row.limit < 0) {
            const Vec3 push = sign * (row.axes * Vec3(x[0], x[1], x[2]));
            const Vec3 at = 0.5 * (row.point.on_a + row.point.on_b);
            w_.impulse[side.mechanism].head<3>() += at.cross(push);
            w_.impulse[side.mechanism].tail<3>() += push;
          }
        }
        sign = -sign;
      }
    }
  }

 private:
  std::string name_of(int solid) const { return s_.contacts.name_of(s_.model, solid); }
  // Of an overlap, in a step. Where the nearest face of a mesh jumps it is deep at once: all of it would be
  // a shot.
  double taken_back(const ContactRow& row) const {
    const double fifth = 0.2 * -row.gap;
    if (row.limit >= 0) return fifth;
    return std::min(fifth, most_taken_back * std::min(size_of(row.solid_a), size_of(row.solid_b)));
  }
  double bounce_threshold() const { return 2 * h_ * s_.model.gravity().value(state_.t).norm(); }

  static Vec3 times(const ContactRow::Side& side, const double* v) {
    Vec3 out = Vec3::Zero();
    for (int c = 0; c < side.count; ++c)
      for (int r = 0; r < 3; ++r) out[r] += side.J[3 * c + r] * v[c];
    return out;
  }
  Vec3 velocity_before(const ContactRow& row) const {
    Vec3 out = Vec3::Zero();
    for (const ContactRow::Side& side : row.side)
      if (side.count > 0)
        out += times(side, side.mechanism >= 0 ? w_.mechanisms[side.mechanism].v.data()
                                               : state_.v.data() + s_.props[side.prop].v);
    return out;
  }

  // block (columns of four) += J Y'.
  static void add_product(const ContactRow::Side& mine, const ContactRow::Side& other, double* block) {
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < mine.count; ++c) {
        const double y = other.Y[k * mine.count + c];
        for (int i = 0; i < 3; ++i) block[4 * k + i] += mine.J[3 * c + i] * y;
      }
  }

  ContactRow& new_row() {
    if (w_.row_count == static_cast<int>(w_.rows.size())) w_.rows.emplace_back();
    ContactRow& row = w_.rows[w_.row_count++];
    for (ContactRow::Side& side : row.side) side.mechanism = side.prop = -1, side.count = 0;
    row.limit = -1;
    return row;
  }

  double speed_of(BodyId body) const {
    if (!body.valid()) return 0;
    const BodyPlace& at = s_.places[body.value];
    if (at.on == BodyPlace::On::prop) {
      const double* v = w_.prop_v.data() + 6 * at.prop;
      return std::sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
    }
    if (at.on != BodyPlace::On::mechanism) return 0;
    const MechanismScratch& m = w_.mechanisms[at.mechanism];
    double out = m.way[at.link].norm() / h_;
    if (s_.mechanisms[at.mechanism].base > 0)
      out += m.v_new.segment<3>(3).norm() + m.v_new.head<3>().norm() * m.X[at.link].p.norm();
    return out;
  }

  // How far the links go in the step: where they are at its end, less where they are.
  void look_ahead() {
    for (std::size_t k = 0; k < s_.mechanisms.size(); ++k) {
      const Mechanism& m = s_.reduced.mechanisms[k];
      MechanismScratch& x = w_.mechanisms[k];
      const int n = m.coordinates();
      const auto step = x.v_new.tail(n);
      for (std::size_t l = 0; l < m.bodies.size(); ++l) {
        const Twists& map = link_map(m, x.blend, static_cast<int>(l));
        x.way[l].setZero();
        for (int c = 0; c < n; ++c) x.way[l] += h_ * step[c] * map.col(c).tail<3>();
      }
    }
  }

  void find_contacts() {
    look_ahead();
    const auto& solids = s_.contacts.solids();
    for (std::size_t i = 0; i < solids.size(); ++i) {
      const contact::Collidable& c = solids[i];
      w_.solids[i].X_WG = c.body.valid() ? w_.X[c.body.value] * c.X_BG : c.X_BG;
      contact::Bounds box = contact::bounds(w_.solids[i]);
      const Vec3 room = Vec3::Constant(margin(c));
      w_.broad.box(static_cast<int>(i)) = {box.low - room, box.high + room};
    }
    const auto& pairs = w_.broad.pairs([&](int i, int k) { return s_.contacts.may_touch(i, k); });
    restore_cache();
    for (const auto& [i, k] : pairs) {
      const double room = margin(s_.contacts.solids()[i]) + margin(s_.contacts.solids()[k]);
      contact::collide(w_.solids[i], w_.solids[k], room, w_.collider, w_.manifold);
      if (w_.manifold.count == 0) continue;
      Vec3 guess[8];
      w_.cache.match(i, k, w_.manifold, 0.1 * std::min(size_of(i), size_of(k)), guess);
      for (int p = 0; p < w_.manifold.count; ++p) add_contact(i, k, w_.manifold.points[p], guess[p]);
    }
  }

  double size_of(int i) const {
    const double size = s_.contacts.solids()[i].size;
    return size > 0 ? std::min(size, 1e3) : 1e3;
  }
  double margin(const contact::Collidable& c) const {
    return 1e-3 * std::min(c.size > 0 ? c.size : s_.size, s_.size) + 1.5 * h_ * speed_of(c.body);
  }

  void add_contact(int i, int k, const ContactPoint& point, const Vec3& guess) {
    ContactRow& row = new_row();
    row.solid_a = i, row.solid_b = k;
    row.point = point;
    row.gap = point.gap;
    row.friction = s_.contacts.law(s_.model, i, k).friction;
    w_.overlap = std::max(w_.overlap, -point.gap);
    const Vec3& n = point.normal;
    const Vec3 t1 = n.unitOrthogonal();
    row.axes << n, t1, n.cross(t1);
    const Vec3 at = 0.5 * (point.on_a + point.on_b);
    set_side(row.side[0], s_.contacts.solids()[i].body, at, row.axes, 1);
    set_side(row.side[1], s_.contacts.solids()[k].body, at, row.axes, -1);
    const Vec3 x = row.axes.transpose() * guess;
    w_.lambda.resize(4 * static_cast<std::size_t>(w_.row_count));
    double* to = w_.lambda.data() + 4 * (w_.row_count - 1);
    to[0] = std::max(0.0, x[0]), to[1] = x[1], to[2] = x[2], to[3] = 0;
  }

  // Rows of a body's point in the contact's axes.
  void set_side(ContactRow::Side& side, BodyId body, const Vec3& at, const Mat3& axes, double sign) const {
    if (!body.valid()) return;
    const BodyPlace& place = s_.places[body.value];
    const Pose& X = w_.X[body.value];
    if (place.on == BodyPlace::On::ground) return;
    if (place.on == BodyPlace::On::prop) {
      const PropPlace& p = s_.props[place.prop];
      side.prop = place.prop;
      resize(side, 6);
      const Vec3 r = at - X * p.com;
      const Mat3 turn = -sign * axes.transpose() * math::skew(r), go = sign * axes.transpose();
      for (int c = 0; c < 3; ++c)
        for (int k = 0; k < 3; ++k) side.J[3 * c + k] = turn(k, c), side.J[3 * (3 + c) + k] = go(k, c);
      const Mat3 inverse = X.R * p.inertia.I.inverse() * X.R.transpose();
      for (int k = 0; k < 3; ++k) {
        const Vec3 w = inverse * turn.row(k).transpose(), v = go.row(k).transpose() / p.inertia.m;
        for (int c = 0; c < 3; ++c) side.Y[6 * k + c] = w[c], side.Y[6 * k + 3 + c] = v[c];
      }
      return;
    }
    side.mechanism = place.mechanism;
    MechanismScratch& m = w_.mechanisms[place.mechanism];
    const int base = s_.mechanisms[place.mechanism].base, n = static_cast<int>(m.v.size());
    resize(side, n);
    std::fill(side.J.begin(), side.J.begin() + 3 * n, 0.0);
    const Vec3 p = X.R.transpose() * (at - X.p);
    Eigen::Matrix<double, 3, 6> of_body;
    of_body << -(X.R * math::skew(p)), X.R;
    const Eigen::Matrix<double, 3, 6> rows = sign * axes.transpose() * of_body;
    const Mechanism& mechanism = s_.reduced.mechanisms[place.mechanism];
    const Twists& map = link_map(mechanism, m.blend, place.link);
    for (int c = 0; c < mechanism.coordinates(); ++c) {
      const Vec3 own = rows * map.col(c);
      for (int k = 0; k < 3; ++k) side.J[3 * (base + c) + k] = own[k];
    }
    if (base > 0) {
      const Eigen::Matrix<double, 3, 6> of_base = rows * m.X[place.link].inverse().adjoint();
      for (int c = 0; c < 6; ++c)
        for (int k = 0; k < 3; ++k) side.J[3 * c + k] = of_base(k, c);
    }
    finish(side, m);
  }

  static void resize(ContactRow::Side& side, int n) {
    side.count = n;
    if (side.J.size() < 3 * static_cast<std::size_t>(n)) side.J.resize(3 * n), side.Y.resize(3 * n);
  }
  // Y = A⁻¹ Jᵀ.
  static void finish(ContactRow::Side& side, const MechanismScratch& m) {
    const int n = side.count;
    const Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>> J(side.J.data(), 3, n);
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3>> Y(side.Y.data(), n, 3);
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < n; ++r) {
        double sum = 0;
        for (int c = 0; c < n; ++c) sum += m.matrices.inverse(r, c) * J(k, c);
        Y(r, k) = sum;
      }
  }

  void find_limits(int k) {
    const Mechanism& m = s_.reduced.mechanisms[k];
    const MechanismScratch& x = w_.mechanisms[k];
    const int n = m.coordinates(), columns = m.columns(), base = s_.mechanisms[k].base;
    for (std::size_t l = 0; l < m.limits.size(); ++l) {
      double at = 0, rate = 0;
      for (std::size_t i = 0; i < m.points.size(); ++i) {
        const Point& p = m.points[i];
        double angle = p.watched_at[l];
        for (int c = 0; c < columns; ++c) angle += p.watched_rows(l, c) * x.blend.u[i][c];
        at += x.blend.weight[i] * angle;
        for (int c = 0; c < n; ++c) rate += x.blend.weight[i] * p.watched_rows(l, c) * x.v_new[base + c];
      }
      const double side = m.limits[l].upper ? 1 : -1;
      const double gap = side * (m.limits[l].bound - at);
      if (gap - 1.5 * h_ * std::max(0.0, side * rate) > 1e-3) continue;
      ContactRow& row = new_row();
      row.limit = static_cast<int>(l);
      row.gap = gap, row.friction = 0;
      row.side[0].mechanism = k;
      resize(row.side[0], base + n);
      std::fill(row.side[0].J.begin(), row.side[0].J.begin() + 3 * (base + n), 0.0);
      for (std::size_t i = 0; i < m.points.size(); ++i)
        for (int c = 0; c < n; ++c)
          row.side[0].J[3 * (base + c)] -= side * x.blend.weight[i] * m.points[i].watched_rows(l, c);
      finish(row.side[0], x);
      w_.lambda.resize(4 * static_cast<std::size_t>(w_.row_count), 0.0);
      std::fill_n(w_.lambda.begin() + 4 * (w_.row_count - 1), 4, 0.0);
      double moves = 0;
      for (int c = 0; c < base + n; ++c) moves += row.side[0].J[3 * c] * row.side[0].Y[c];
      if (moves + limit_compliance(row, row) / (h_ * h_) <= 1e-30) --w_.row_count;  // it cannot move at all
    }
  }

  double limit_compliance(const ContactRow& a, const ContactRow& b) const {
    const int k = a.side[0].mechanism;
    const Mechanism& m = s_.reduced.mechanisms[k];
    const Blend& blend = w_.mechanisms[k].blend;
    double out = 0;
    for (std::size_t i = 0; i < m.points.size(); ++i)
      out += blend.weight[i] * m.points[i].watched_compliance(a.limit, b.limit);
    return m.limits[a.limit].upper == m.limits[b.limit].upper ? out : -out;
  }

  // The cache lives in the state, so that a run goes on bit for bit.
  void restore_cache() {
    w_.cache.clear();
    for (std::size_t k = 0; k < state_.impulse.size(); k += State::impulse_width) {
      const double* x = state_.impulse.data() + k;
      w_.cache.next().push_back({static_cast<std::int32_t>(x[0]), static_cast<std::int32_t>(x[1]),
                                 static_cast<std::uint32_t>(x[2]), Vec3(x[3], x[4], x[5]),
                                 Vec3(x[6], x[7], x[8])});
    }
    w_.cache.turn();
  }

  const SystemData& s_;
  State& state_;
  double h_;
  WorkspaceData& w_;
  int contacts_ = 0;
};

void keep_impulses(const WorkspaceData& w, int contacts, State& state) {
  state.impulse.clear();
  for (int c = 0; c < contacts; ++c) {
    const ContactRow& row = w.rows[c];
    const double* x = w.lambda.data() + 4 * c;
    const Vec3 impulse = row.axes * Vec3(x[0], x[1], x[2]);
    for (const double value : {static_cast<double>(row.solid_a), static_cast<double>(row.solid_b),
                               static_cast<double>(row.point.feature), row.point.on_b[0], row.point.on_b[1],
                               row.point.on_b[2], impulse[0], impulse[1], impulse[2]})
      state.impulse.push_back(value);
  }
}

}  // namespace

void solve_contacts(const SystemData& s, State& state, double h, WorkspaceData& w,
                    result::SolveReport& report) {
  for (Vec6& p : w.impulse) p.setZero();
  Contacts contacts(s, state, h, w);
  contacts.find();
  if (state.step == 0) result::add_warning(report, contacts.overlap_at_start());
  w.contact_count = contacts.contacts();
  w.contact_step = h;
  w.cone_violation = 0;
  if (contacts.count() == 0) {
    state.impulse.clear();
    return;
  }
  contacts.assemble();
  contact::ConeProblem problem{contacts.count(), &w.W, w.free.data(), w.mu.data()};
  contact::FrictionOptions options;
  options.method =
      s.options.solver == ContactSolver::pgs ? contact::FrictionMethod::pgs : contact::FrictionMethod::cone;
  options.sweeps = s.options.sweeps;
  const contact::FrictionReport found = w.friction.solve(problem, options, w.lambda.data());
  w.cone_violation = found.cone_violation;
  report.solver_iterations = std::max(report.solver_iterations, found.iterations);
  report.residual = found.residual;
  if (s.options.solver == ContactSolver::cone && !found.converged && !(found.residual < 1e-5)) {
    report.status = result::Status::not_converged;
    report.message =
        fmt::format("the forces of {} contacts do not converge (residual {:.1e}); a smaller step may help",
                    contacts.count(), found.residual);
    return;
  }
  contacts.apply(w.lambda.data());
  keep_impulses(w, contacts.contacts(), state);
}

}  // namespace limber::rom
