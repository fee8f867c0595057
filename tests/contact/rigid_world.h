// A few rigid bodies with contact, by semi-implicit Euler: just enough to drive the contact library as a
// method would, in maximal coordinates and with dense matrices.
#pragma once

#include <vector>

#include "limber/contact/broad_phase.h"
#include "limber/contact/collide.h"
#include "limber/contact/contact_cache.h"
#include "limber/contact/friction.h"

namespace limber::contact {

struct RigidBody {
  Geometry geometry;
  double mass = 0;              // 0: fixed
  Vec3 inertia = Vec3::Ones();  // principal
  Pose X;
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();
  Vec3 force = Vec3::Zero();  // besides gravity
};

struct RigidWorld {
  std::vector<RigidBody> bodies;
  Vec3 gravity{0, 0, -10};
  double h = 1e-3, friction = 0.5, restitution = 0, margin = 1e-3;
  FrictionOptions options;
  FrictionReport report;

  struct Row {
    int a, b;
    ContactPoint point;
    Vec3 axis[3];
  };
  std::vector<Row> rows;
  std::vector<double> lambda;
  int iterations = 0;
  bool warm = true;

  void step() {
    const std::vector<Vec3> v0 = velocities(), w0 = spins();
    for (RigidBody& b : bodies)
      if (b.mass > 0) b.v += h * (gravity + b.force / b.mass);
    find();
    assemble(v0, w0);
    report = solver.solve(problem, options, lambda.data());
    iterations += report.iterations;
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const Row& r = rows[c];
      Vec3 p = Vec3::Zero();
      for (int i = 0; i < 3; ++i) p += lambda[4 * c + i] * r.axis[i];
      push(r.a, r.point.on_a, p);
      push(r.b, r.point.on_b, -p);
      cache.add(r.a, r.b, r.point, p);
    }
    for (RigidBody& b : bodies) {
      b.X.p += h * b.v;
      b.X.R = math::so3_exp(h * b.w) * b.X.R;
    }
  }

  ContactMatrix W;
  std::vector<double> free, mu;
  ConeProblem problem;
  FrictionSolver solver;

 private:
  BroadPhase broad;
  Collider collider;
  ContactCache cache;

  std::vector<Vec3> velocities() const {
    std::vector<Vec3> out;
    for (const RigidBody& b : bodies) out.push_back(b.v);
    return out;
  }
  std::vector<Vec3> spins() const {
    std::vector<Vec3> out;
    for (const RigidBody& b : bodies) out.push_back(b.w);
    return out;
  }
  Mat3 inverse_inertia(const RigidBody& b) const {
    return b.X.R * b.inertia.cwiseInverse().asDiagonal() * b.X.R.transpose();
  }
  void push(int i, const Vec3& at, const Vec3& p) {
    RigidBody& b = bodies[i];
    if (!(b.mass > 0)) return;
    b.v += p / b.mass;
    b.w += inverse_inertia(b) * (at - b.X.p).cross(p);
  }
  void find() {
    broad.resize(static_cast<int>(bodies.size()));
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      Bounds box = bounds({bodies[i].geometry, bodies[i].X});
      box.low.array() -= margin, box.high.array() += margin;
      broad.box(static_cast<int>(i)) = box;
    }
    rows.clear();
    lambda.clear();
    cache.turn();
    for (const auto& [a, b] :
         broad.pairs([&](int i, int k) { return bodies[i].mass > 0 || bodies[k].mass > 0; })) {
      Manifold m;
      collide({bodies[a].geometry, bodies[a].X}, {bodies[b].geometry, bodies[b].X}, margin, collider, m);
      Vec3 guess[8];
      cache.match(a, b, m, 0.02, guess);
      for (int i = 0; i < m.count; ++i) {
        const Mat3 R = math::rotation_from_z(m.points[i].normal);
        rows.push_back({a, b, m.points[i], {R.col(2), R.col(0), R.col(1)}});
        for (int k = 0; k < 4; ++k) lambda.push_back(k < 3 && warm ? rows.back().axis[k].dot(guess[i]) : 0);
      }
    }
  }
  Vec3 velocity(int i, const Vec3& at, const Vec3& v, const Vec3& w) const {
    return v + w.cross(at - bodies[i].X.p);
  }
  void assemble(const std::vector<Vec3>& v0, const std::vector<Vec3>& w0) {
    const int n = static_cast<int>(rows.size());
    make_dense(n, W);
    free.assign(4 * rows.size(), 0);
    mu.assign(rows.size(), friction);
    for (int c = 0; c < n; ++c) {
      const Row& r = rows[c];
      const auto relative = [&](const Vec3& va, const Vec3& wa, const Vec3& vb, const Vec3& wb) -> Vec3 {
        return velocity(r.a, r.point.on_a, va, wa) - velocity(r.b, r.point.on_b, vb, wb);
      };
      const Vec3 u = relative(bodies[r.a].v, bodies[r.a].w, bodies[r.b].v, bodies[r.b].w),
                 before = relative(v0[r.a], w0[r.a], v0[r.b], w0[r.b]);
      for (int i = 0; i < 3; ++i) free[4 * c + i] = r.axis[i].dot(u);
      // Open gaps may close in the step, overlaps close by a part of themselves.
      free[4 * c] += r.point.gap > 0 ? r.point.gap / h : 0.1 * r.point.gap / h;
      if (restitution > 0 && r.point.gap + h * r.axis[0].dot(u) < 0)
        free[4 * c] = with_restitution(r.axis[0].dot(u), r.axis[0].dot(before), restitution, 0.05);
      for (int b = 0; b < n; ++b) block(c, b, dense_block(W, n, c, b));
    }
    problem = {n, &W, free.data(), mu.data()};
  }
  void block(int c, int b, double* out) const {
    const Row &r = rows[c], &q = rows[b];
    for (const auto& [i, at_i, sign_i] : {std::tuple{r.a, r.point.on_a, 1.0}, {r.b, r.point.on_b, -1.0}})
      for (const auto& [k, at_k, sign_k] : {std::tuple{q.a, q.point.on_a, 1.0}, {q.b, q.point.on_b, -1.0}}) {
        if (i != k || !(bodies[i].mass > 0)) continue;
        const Vec3 ri = at_i - bodies[i].X.p, rk = at_k - bodies[i].X.p;
        const Mat3 M =
            Mat3::Identity() / bodies[i].mass - math::skew(ri) * inverse_inertia(bodies[i]) * math::skew(rk);
        for (int x = 0; x < 3; ++x)
          for (int y = 0; y < 3; ++y) out[4 * y + x] += sign_i * sign_k * r.axis[x].dot(M * q.axis[y]);
      }
  }
};

inline RigidBody box_body(const Vec3& half, double mass, const Pose& X) {
  const Vec3 s = 4 * half.cwiseProduct(half) / 12;
  RigidBody b;
  b.geometry = Box{half};
  b.mass = mass;
  b.inertia = mass * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
  b.X = X;
  return b;
}
inline RigidBody ball_body(double radius, double mass, const Pose& X) {
  RigidBody b;
  b.geometry = Sphere{radius};
  b.mass = mass;
  b.inertia = Vec3::Constant(0.4 * mass * radius * radius);
  b.X = X;
  return b;
}
inline RigidBody fixed_body(Geometry geometry, const Pose& X) {
  RigidBody b;
  b.geometry = std::move(geometry);
  b.X = X;
  return b;
}

}  // namespace limber::contact
