// An independent reference for statics in a plane: geometrically exact rods that stretch and shear (Reissner
// 1972), by cubic finite elements with three Gauss points, dense matrices throughout and an arc length of
// its own. Nothing of it is shared with the program.
//
//   ε = x' cos θ + z' sin θ − …₀,  γ = −x' sin θ + z' cos θ − …₀,  κ = θ' − θ₀',   V = ½∫ EA ε² + GA γ² + EI
//   κ²
//
// …₀ is the same of the unloaded shape, interpolated alike, so that it is free of stress. A node has three
// numbers x, z, θ; θ turns x towards z. Dead loads, all times one factor.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace limber::testing {

struct RodSection {
  double EA = 0, GA = 0, EI = 0;
};

class PlanarRods {
 public:
  struct Node {
    std::array<int, 3> at{};  // of x, z, θ among the unknowns
    double by = 0;            // θ of the rod there is the unknown and this
  };
  struct Point {
    Eigen::VectorXd u;
    double factor = 0;
    Eigen::VectorXd along;  // unit direction of the path, the factor's rate last
  };

  Node node(double x, double z, double theta) {
    const int n = static_cast<int>(u0_.size());
    u0_.insert(u0_.end(), {x, z, theta});
    held_.insert(held_.end(), 3, false);
    load_.insert(load_.end(), 3, 0.0);
    return {{n, n + 1, n + 2}, 0};
  }
  // A frame stiffly joined at an angle: the same unknowns, θ read with an offset.
  Node turned(const Node& other, double by) const {
    Node out = other;
    out.by += by;
    return out;
  }
  void hold(const Node& n, bool x, bool z, bool theta) {
    held_[n.at[0]] = x, held_[n.at[1]] = z, held_[n.at[2]] = theta;
  }
  void load(const Node& n, double x, double z, double moment = 0) {
    load_[n.at[0]] += x, load_[n.at[1]] += z, load_[n.at[2]] += moment;
  }

  // From `first` to `last` along at(s) → (x, z, θ), s in 0…1, of that length. The nodes between elements.
  std::vector<Node> rod(const RodSection& section, const std::function<Eigen::Vector3d(double)>& at,
                        double length, int elements, const Node& first, const Node& last) {
    std::vector<Node> ends{first};
    Node from = first;
    for (int e = 0; e < elements; ++e) {
      Element element;
      element.section = section, element.length = length / elements;
      element.nodes[0] = from;
      for (int i = 1; i <= 3; ++i) {
        const Eigen::Vector3d p = at((e + i / 3.0) / elements);
        element.nodes[i] = e + 1 == elements && i == 3 ? last : node(p[0], p[1], p[2]);
      }
      from = element.nodes[3];
      ends.push_back(from);
      elements_.push_back(element);
    }
    return ends;
  }

  Point start() {
    for (Element& e : elements_) e.set_rest(u0_);
    Point p;
    p.u = Eigen::Map<const Eigen::VectorXd>(u0_.data(), static_cast<Eigen::Index>(u0_.size()));
    p.along = direction(p, nullptr);
    return p;
  }
  double value(const Point& p, const Node& n, int which) const { return p.u[n.at[which]]; }
  double rate(const Point& p, const Node& n, int which) const { return p.along[n.at[which]]; }

  // The point at a distance along the path; false: no convergence.
  bool step(const Point& from, double length, Point& out) const {
    const auto n = from.u.size();
    out.u = from.u + length * from.along.head(n);
    out.factor = from.factor + length * from.along[n];
    for (int i = 0; i < 30; ++i) {
      Eigen::MatrixXd M;
      Eigen::VectorXd r;
      assemble(out.u, out.factor, M, r);
      M.row(n) = from.along.transpose();
      r[n] = 0;
      const Eigen::VectorXd d = M.partialPivLu().solve(-r);
      out.u += d.head(n), out.factor += d[n];
      if (d.norm() < 1e-12 * (1 + out.u.norm())) {
        out.along = direction(out, &from.along);
        return true;
      }
    }
    return false;
  }
  // At a given load, near a point.
  Point at_load(Point near, double factor) const {
    const auto n = near.u.size();
    near.factor = factor;
    for (int i = 0; i < 50; ++i) {
      Eigen::MatrixXd M;
      Eigen::VectorXd r;
      assemble(near.u, factor, M, r);
      M.row(n).setZero(), M(n, n) = 1, r[n] = 0;
      const Eigen::VectorXd d = M.partialPivLu().solve(-r);
      near.u += d.head(n);
      if (d.norm() < 1e-12 * (1 + near.u.norm())) break;
    }
    return near;
  }
  // Where a rate passes zero within one step from a point, by bisection and secants.
  Point turn(const Point& from, double length, const std::function<double(const Point&)>& rate_of) const {
    double low = 0, high = length, f_low = rate_of(from), f_high = 0;
    Point middle;
    step(from, length, middle);
    f_high = rate_of(middle);
    for (int i = 0; i < 60 && high - low > 1e-12 * length; ++i) {
      const double s = i % 2 ? 0.5 * (low + high) : low - f_low * (high - low) / (f_high - f_low);
      step(from, s, middle);
      const double f = rate_of(middle);
      (f * f_low > 0 ? low : high) = s;
      (f * f_low > 0 ? f_low : f_high) = f;
    }
    return middle;
  }

 private:
  struct Element {
    RodSection section;
    double length = 0;
    std::array<Node, 4> nodes;
    std::array<std::array<double, 3>, 3> rest{};  // at the Gauss points: strains of the unloaded shape

    static constexpr std::array<double, 3> xi{-0.7745966692414834, 0, 0.7745966692414834},
        w{5.0 / 9, 8.0 / 9, 5.0 / 9};
    // Lagrange's polynomials through −1, −1/3, 1/3, 1 and their slopes by arc length.
    void shape(int g, std::array<double, 4>& N, std::array<double, 4>& D) const {
      constexpr std::array<double, 4> at{-1, -1.0 / 3, 1.0 / 3, 1};
      for (int i = 0; i < 4; ++i) {
        double below = 1, up = 1, slope = 0;
        for (int j = 0; j < 4; ++j) {
          if (j == i) continue;
          below *= at[i] - at[j], up *= xi[g] - at[j];
          double others = 1;
          for (int k = 0; k < 4; ++k)
            if (k != i && k != j) others *= xi[g] - at[k];
          slope += others;
        }
        N[i] = up / below, D[i] = slope / below * 2 / length;
      }
    }
    template <class U>
    std::array<double, 4> field(const U& u, const std::array<double, 4>& N,
                                const std::array<double, 4>& D) const {
      std::array<double, 4> q{};  // x', z', θ, θ'
      for (int i = 0; i < 4; ++i) {
        q[0] += D[i] * u[nodes[i].at[0]], q[1] += D[i] * u[nodes[i].at[1]];
        const double theta = u[nodes[i].at[2]] + nodes[i].by;
        q[2] += N[i] * theta, q[3] += D[i] * theta;
      }
      return q;
    }
    void set_rest(const std::vector<double>& u0) {
      std::array<double, 4> N, D;
      for (int g = 0; g < 3; ++g) {
        shape(g, N, D);
        const auto q = field(u0, N, D);
        const double c = std::cos(q[2]), s = std::sin(q[2]);
        rest[g] = {q[0] * c + q[1] * s, -q[0] * s + q[1] * c, q[3]};
      }
    }
  };

  // Residual and the matrix [K, −f; …], its last row left to the caller.
  void assemble(const Eigen::VectorXd& u, double factor, Eigen::MatrixXd& M, Eigen::VectorXd& r) const {
    const auto n = u.size();
    M = Eigen::MatrixXd::Zero(n + 1, n + 1);
    r = Eigen::VectorXd::Zero(n + 1);
    std::array<double, 4> N, D;
    for (const Element& e : elements_)
      for (int g = 0; g < 3; ++g) {
        e.shape(g, N, D);
        const auto q = e.field(u, N, D);
        const double c = std::cos(q[2]), s = std::sin(q[2]), a = q[0] * c + q[1] * s,
                     b = -q[0] * s + q[1] * c;
        const double weight = Element::w[g] * e.length / 2;
        const Eigen::Vector3d force(e.section.EA * (a - e.rest[g][0]), e.section.GA * (b - e.rest[g][1]),
                                    e.section.EI * (q[3] - e.rest[g][2]));
        Eigen::Matrix<double, 3, 4> B;  // strains by x', z', θ, θ'
        B << c, s, b, 0, -s, c, -a, 0, 0, 0, 0, 1;
        Eigen::Matrix4d H = Eigen::Matrix4d::Zero();  // second derivatives times forces
        H(0, 2) = H(2, 0) = -s * force[0] - c * force[1];
        H(1, 2) = H(2, 1) = c * force[0] - s * force[1];
        H(2, 2) = -a * force[0] - b * force[1];
        const Eigen::Vector3d k(e.section.EA, e.section.GA, e.section.EI);
        const Eigen::Matrix4d K = weight * (B.transpose() * k.asDiagonal() * B + H);
        const Eigen::Vector4d f = weight * (B.transpose() * force);
        Eigen::Matrix<double, 4, 12> G = Eigen::Matrix<double, 4, 12>::Zero();
        std::array<int, 12> at{};
        for (int i = 0; i < 4; ++i) {
          G(0, 3 * i) = D[i], G(1, 3 * i + 1) = D[i], G(2, 3 * i + 2) = N[i], G(3, 3 * i + 2) = D[i];
          for (int j = 0; j < 3; ++j) at[3 * i + j] = e.nodes[i].at[j];
        }
        const Eigen::Matrix<double, 12, 12> KG = G.transpose() * K * G;
        const Eigen::Matrix<double, 12, 1> fG = G.transpose() * f;
        for (int i = 0; i < 12; ++i) {
          r[at[i]] += fG[i];
          for (int j = 0; j < 12; ++j) M(at[i], at[j]) += KG(i, j);
        }
      }
    for (Eigen::Index i = 0; i < n; ++i) {
      r[i] -= factor * load_[i];
      M(i, n) = -load_[i];
      if (!held_[i]) continue;
      M.row(i).setZero(), M.col(i).setZero();
      M(i, i) = 1, r[i] = 0;
    }
  }
  Eigen::VectorXd direction(const Point& p, const Eigen::VectorXd* last) const {
    const auto n = p.u.size();
    Eigen::MatrixXd M;
    Eigen::VectorXd r;
    assemble(p.u, p.factor, M, r);
    r.setZero();
    if (last)
      M.row(n) = last->transpose(), r[n] = 1;
    else
      M.row(n).setZero(), M(n, n) = 1, r[n] = 1;
    return M.partialPivLu().solve(r).normalized();
  }

  std::vector<double> u0_, load_;
  std::vector<bool> held_;
  std::vector<Element> elements_;
};

}  // namespace limber::testing
