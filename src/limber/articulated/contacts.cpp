#include "limber/articulated/contacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/articulated/system.h"

namespace limber::articulated {

using contact::ContactMatrix;
using multibody::LinkMotion;

namespace {

constexpr int most_exact = 24;     // contacts of an island that are solved at once, in one dense matrix
constexpr int most_direct = 8000;  // … by a sparse one; more by sweeps
constexpr int most_dense = 120;    // … where a sparse one does not get there
constexpr double direct_tolerance = 1e-9;
constexpr int most_newton = 150;
constexpr double poor = 1e-3;  // a residual above this is no answer
constexpr int most_sweeps = 1000;
constexpr double sweep_tolerance = 1e-9;  // of the largest velocity

Eigen::Matrix<double, 3, 6> rows_of(const Touch& t, const Vec3& origin, double sign) {
  Eigen::Matrix<double, 3, 6> of_twist;
  of_twist << -math::skew(t.at - origin), Mat3::Identity();
  return sign * t.axes.transpose() * of_twist;
}

}  // namespace

Contacts::Contacts(const SystemData& s, const multibody::BlockSystem& system)
    : solids(s.contacts.solids().size()),
      links(static_cast<std::size_t>(s.tree.size())),
      links_end(links.size()),
      kept(system),
      answer(system) {
  broad.resize(static_cast<int>(solids.size()));
  for (std::size_t k = 0; k < solids.size(); ++k) {
    solids[k].geometry = s.contacts.solids()[k].geometry;
    solids[k].X_WG = s.contacts.solids()[k].X_BG;  // of what has no body
  }
  solids_end = solids;
}

Vec3 touch_velocity(const Touch& t, const std::vector<LinkMotion>& links) {
  const auto of = [&](int link) -> Vec3 {
    if (link < 0) return Vec3::Zero();
    const LinkMotion& m = links[link];
    return m.X_WM.R * m.V.tail<3>() + (m.X_WM.R * m.V.head<3>()).cross(t.at - m.X_WM.p);
  };
  return t.axes.transpose() * (of(t.link_a) - of(t.link_b));
}

Vec3 touch_velocity(const Touch& t, const std::vector<LinkMotion>& links, const Vec6* twist) {
  const auto of = [&](int link) -> Vec3 {
    if (link < 0) return Vec3::Zero();
    return twist[link].tail<3>() + twist[link].head<3>().cross(t.at - links[link].X_WM.p);
  };
  return t.axes.transpose() * (of(t.link_a) - of(t.link_b));
}

void follow(Touch& t, const std::vector<LinkMotion>& links) {
  const Vec3 a = t.link_a < 0 ? t.p_a : Vec3(links[t.link_a].X_WM * t.p_a);
  const Vec3 b = t.link_b < 0 ? t.p_b : Vec3(links[t.link_b].X_WM * t.p_b);
  t.at = 0.5 * (a + b);
}

void Response::find(const SystemData& s, WorkspaceData& w, const std::vector<Touch>& touches) {
  wanted_.clear();
  for (const Touch& t : touches)
    for (const int link : {t.link_a, t.link_b})
      if (link >= 0) wanted_.push_back(link);
  std::sort(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  if (valid_ && wanted_ == links_) return;
  links_ = wanted_;
  valid_ = true;
  place_.resize(static_cast<std::size_t>(s.tree.size()));
  part_.resize(links_.size()), order_.resize(links_.size());
  count_.clear();
  // Parts are numbered in the order of their first touched link.
  std::vector<int>& number = wanted_;  // scratch: (parts of the structure)
  number.assign(static_cast<std::size_t>(s.part_count), -1);
  for (std::size_t k = 0; k < links_.size(); ++k) {
    place_[links_[k]] = static_cast<int>(k);
    int& part = number[s.part_of[links_[k]]];
    if (part < 0) part = static_cast<int>(count_.size()), count_.push_back(0);
    part_[k] = part;
    order_[k] = count_[part]++;
  }
  first_.resize(count_.size());
  std::size_t total = 0;
  int most = 0;
  for (std::size_t p = 0; p < count_.size(); ++p) {
    first_[p] = total;
    total += static_cast<std::size_t>(count_[p]) * count_[p];
    most = std::max(most, count_[p]);
  }
  Y_.resize(total);
  Blocks& b = *w.blocks;
  std::fill(b.rhs.tau.begin(), b.rhs.tau.end(), 0.0);
  for (Vec6& g : b.rhs.g) g.setZero();
  for (Vec6& f : b.rhs.wrench) f.setZero();
  for (int by = 0; by < most; ++by)
    for (int c = 0; c < 6; ++c) {
      for (std::size_t k = 0; k < links_.size(); ++k)
        if (order_[k] == by) b.rhs.wrench[links_[k]][c] = 1;
      solve_blocks(s, w, w.contacts->answer, true);
      for (std::size_t k = 0; k < links_.size(); ++k) {
        const int p = part_[k];
        if (by < count_[p])
          Y_[first_[p] + static_cast<std::size_t>(order_[k]) * count_[p] + by].col(c) =
              w.contacts->answer.twist[links_[k]];
        if (order_[k] == by) b.rhs.wrench[links_[k]][c] = 0;
      }
    }
}

void ContactForces::find_islands(const Response& Y, const std::vector<Touch>& touches) {
  int parts = 0;
  for (const Side& side : sides_)
    if (side.link >= 0) parts = std::max(parts, Y.part_of(side.link) + 1);
  parent_.resize(static_cast<std::size_t>(parts));
  std::iota(parent_.begin(), parent_.end(), 0);
  if (static_cast<int>(of_part_.size()) < parts) of_part_.resize(static_cast<std::size_t>(parts));
  for (auto& list : of_part_) list.clear();
  const auto root = [&](int p) {
    while (parent_[p] != p) p = parent_[p] = parent_[parent_[p]];
    return p;
  };
  for (std::size_t c = 0; c < touches.size(); ++c) {
    const Side &a = sides_[2 * c], &b = sides_[2 * c + 1];
    const int p = a.link >= 0 ? Y.part_of(a.link) : -1, q = b.link >= 0 ? Y.part_of(b.link) : -1;
    if (p >= 0) of_part_[p].push_back(static_cast<int>(c));
    if (q >= 0 && q != p) of_part_[q].push_back(static_cast<int>(c));
    if (p >= 0 && q >= 0) parent_[std::max(root(p), root(q))] = std::min(root(p), root(q));
  }
  std::vector<int>& number = found_;  // (parts) of the island
  number.assign(static_cast<std::size_t>(parts), -1);
  for (auto& island : islands_) island.clear();
  island_count_ = 0;
  place_.resize(touches.size());
  for (std::size_t c = 0; c < touches.size(); ++c) {
    const int link = sides_[2 * c].link >= 0 ? sides_[2 * c].link : sides_[2 * c + 1].link;
    int& island = number[root(Y.part_of(link))];
    if (island < 0) {
      island = island_count_++;
      if (static_cast<int>(islands_.size()) < island_count_) islands_.emplace_back();
    }
    place_[c] = static_cast<int>(islands_[island].size());
    islands_[island].push_back(static_cast<int>(c));
  }
}

void ContactForces::assemble(const std::vector<LinkMotion>& links, const Response& Y,
                             const std::vector<Touch>& touches) {
  Y_ = &Y;
  sides_.resize(2 * touches.size());
  for (std::size_t c = 0; c < touches.size(); ++c) {
    const Touch& t = touches[c];
    sides_[2 * c].link = t.link_a, sides_[2 * c + 1].link = t.link_b;
    if (t.link_a >= 0) sides_[2 * c].G = rows_of(t, links[t.link_a].X_WM.p, 1);
    if (t.link_b >= 0) sides_[2 * c + 1].G = rows_of(t, links[t.link_b].X_WM.p, -1);
  }
  find_islands(Y, touches);
  W_.start.assign(1, 0);
  W_.columns.clear(), W_.diagonal.clear(), W_.values.clear();
  for (std::size_t c = 0; c < touches.size(); ++c) {
    const Side* mine = &sides_[2 * c];
    found_.clear();
    for (int s = 0; s < 2; ++s)
      if (mine[s].link >= 0) {
        const auto& others = of_part_[Y.part_of(mine[s].link)];
        found_.insert(found_.end(), others.begin(), others.end());
      }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    for (const int b : found_) {
      Eigen::Matrix<double, 4, 4> block = Eigen::Matrix<double, 4, 4>::Zero();
      for (int s = 0; s < 2; ++s)
        for (int r = 0; r < 2; ++r) {
          const Side& other = sides_[2 * static_cast<std::size_t>(b) + r];
          if (mine[s].link < 0 || other.link < 0 || Y.part_of(mine[s].link) != Y.part_of(other.link))
            continue;
          block.topLeftCorner<3, 3>() +=
              (mine[s].G * Y(mine[s].link, other.link)).eval().lazyProduct(other.G.transpose());
        }
      if (b == static_cast<int>(c)) W_.diagonal.push_back(static_cast<int>(W_.columns.size()));
      W_.columns.push_back(b);
      W_.values.insert(W_.values.end(), block.data(), block.data() + 16);
    }
    W_.start.push_back(static_cast<int>(W_.columns.size()));
  }
}

void ContactForces::add_motion(double scale, const std::vector<Vec3>& x, std::vector<Vec3>& u) const {
  for (std::size_t c = 0; c < u.size(); ++c)
    for (int e = W_.start[c]; e < W_.start[c + 1]; ++e) {
      const Vec3& f = x[W_.columns[e]];
      const double* v = W_.values.data() + 16 * static_cast<std::size_t>(e);
      for (int i = 0; i < 3; ++i) u[c][i] += scale * (v[i] * f[0] + v[4 + i] * f[1] + v[8 + i] * f[2]);
    }
}

void ContactForces::fill_primal(const std::vector<int>& members, double scale) {
  // Parts of the island in the order in which they come; their touched links stand one after the other.
  std::vector<int>& first = found_;  // (parts) place of the first link
  first.assign(of_part_.size(), -1);
  std::vector<int> parts;
  int bodies = 0;
  for (const int c : members)
    for (int s = 0; s < 2; ++s) {
      const int link = sides_[2 * static_cast<std::size_t>(c) + s].link;
      if (link < 0) continue;
      const int part = Y_->part_of(link);
      if (first[part] >= 0) continue;
      first[part] = bodies;
      bodies += Y_->count(part);
      parts.push_back(part);
    }
  primal_.begin(bodies);
  for (const int part : parts) primal_.add_part(first[part], Y_->count(part), Y_->block(part), scale);
  for (const int c : members) {
    const Side *a = &sides_[2 * static_cast<std::size_t>(c)], *b = a + 1;
    const auto place = [&](const Side& side) {
      return side.link < 0 ? -1 : first[Y_->part_of(side.link)] + Y_->order(side.link);
    };
    primal_.add_contact({place(*a), place(*b), a->G, b->G});
  }
}

void ContactForces::solve_island(const std::vector<int>& members, double scale, const std::vector<Vec3>& free,
                                 std::vector<Touch>& touches, ContactReport& report) {
  const auto n = members.size();
  ContactMatrix& W = island_W_;
  W.start.assign(1, 0);
  W.columns.clear(), W.diagonal.clear(), W.values.clear();
  free_.assign(4 * n, 0.0), lambda_.assign(4 * n, 0.0), mu_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const int c = members[k];
    mu_[k] = touches[c].friction;
    for (int i = 0; i < 3; ++i) free_[4 * k + i] = free[c][i], lambda_[4 * k + i] = touches[c].force[i];
    W.diagonal.push_back(W_.diagonal[c] - W_.start[c] + W.start.back());
    for (int e = W_.start[c]; e < W_.start[c + 1]; ++e) {
      W.columns.push_back(place_[W_.columns[e]]);
      const double* v = W_.values.data() + 16 * static_cast<std::size_t>(e);
      for (int i = 0; i < 16; ++i) W.values.push_back(scale * v[i]);
    }
    W.start.push_back(static_cast<int>(W.columns.size()));
  }
  const contact::ConeProblem problem{static_cast<int>(n), &W, free_.data(), mu_.data()};
  contact::FrictionReport found;
  if (static_cast<int>(n) <= most_exact) {
    found = friction_.solve(problem, {}, lambda_.data());
  } else if (static_cast<int>(n) <= most_direct) {
    fill_primal(members, scale);
    found = primal_.solve(problem, direct_tolerance, most_newton, lambda_.data());
    if (found.residual > 1e-7 && static_cast<int>(n) <= most_dense) {
      kept_ = lambda_;
      const contact::FrictionReport dense = friction_.solve(problem, {}, lambda_.data());
      if (dense.residual < found.residual)
        found = dense;
      else
        lambda_ = kept_;
    }
  } else {
    double largest = 0;
    for (const double u : free_) largest = std::max(largest, std::abs(u));
    const contact::ConeReport swept =
        sweeps_.solve_many(problem, sweep_tolerance * largest, most_sweeps, lambda_.data());
    contact::measure(problem, lambda_.data(), found);
    found.iterations = swept.sweeps;
  }
  report.iterations = std::max(report.iterations, found.iterations);
  report.residual = std::max(report.residual, found.residual);
  report.cone_violation = std::max(report.cone_violation, found.cone_violation);
  report.converged = report.converged && found.residual < poor;
  for (std::size_t k = 0; k < n; ++k)
    touches[members[k]].force = Vec3(lambda_[4 * k], lambda_[4 * k + 1], lambda_[4 * k + 2]);
}

ContactReport ContactForces::solve(double scale, const std::vector<Vec3>& free, std::vector<Touch>& touches) {
  ContactReport report;
  for (int i = 0; i < island_count_; ++i) {
    // All part without any force. What pushes is asked first: it may jam although it would part (Painlevé),
    // and a step that took the one for its way and the other for its end would make energy.
    bool idle = true;
    for (const int c : islands_[i]) idle = idle && free[c][0] >= 0 && !(touches[c].force[0] > 0);
    if (idle)
      for (const int c : islands_[i]) touches[c].force.setZero();
    else
      solve_island(islands_[i], scale, free, touches, report);
  }
  return report;
}

}  // namespace limber::articulated
