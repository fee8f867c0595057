#include "limber/articulated/contacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "limber/articulated/system.h"

namespace limber::articulated {

using contact::ContactMatrix;
using multibody::LinkMotion;

namespace {

constexpr int most_exact = 24;     // contacts of an island that are solved at once, in one dense matrix
constexpr int most_pushed = 8;     // links of a part that are pushed one by one for it
constexpr int most_dense = 120;    // … where eliminations do not get there
constexpr int most_direct = 8000;  // contacts by eliminations; more by sweeps
constexpr double unsure = 1e-9;    // a residual above this is worth a second way
constexpr double direct_tolerance = 1e-10;
constexpr int first_newton = 30;  // before the interior is tried
constexpr int most_interior = 60;
constexpr int most_newton = 60;
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

void Response::number(const SystemData& s) {
  place_.resize(static_cast<std::size_t>(s.tree.size()));
  part_.resize(links_.size()), order_.resize(links_.size());
  count_.clear();
  // Parts are numbered in the order of their first touched link.
  number_.assign(static_cast<std::size_t>(s.part_count), -1);
  for (std::size_t k = 0; k < links_.size(); ++k) {
    place_[links_[k]] = static_cast<int>(k);
    int& part = number_[s.part_of[links_[k]]];
    if (part < 0) part = static_cast<int>(count_.size()), count_.push_back(0);
    part_[k] = part;
    order_[k] = count_[part]++;
  }
  first_.resize(count_.size());
  std::size_t total = 0;
  for (std::size_t p = 0; p < count_.size(); ++p) {
    first_[p] = total;
    total += static_cast<std::size_t>(count_[p]) * count_[p];
  }
  Y_.resize(total);
}

void Response::find(const SystemData& s, WorkspaceData& w, const std::vector<int>& links) {
  if (valid_ && std::includes(links_.begin(), links_.end(), links.begin(), links.end())) return;
  links_ = links;
  valid_ = true;
  number(s);
  Blocks& b = *w.blocks;
  Contacts& contacts = *w.contacts;
  std::swap(contacts.kept, b.rhs);  // the step needs its own once more
  b.rhs.clear();
  const int most = count_.empty() ? 0 : *std::max_element(count_.begin(), count_.end());
  for (int by = 0; by < most; ++by)
    for (int c = 0; c < 6; ++c) {
      for (std::size_t k = 0; k < links_.size(); ++k)
        if (order_[k] == by) b.rhs.wrench[links_[k]][c] = 1;
      solve_blocks(s, w, contacts.answer, true);
      ++contacts.solves;
      for (std::size_t k = 0; k < links_.size(); ++k) {
        const int p = part_[k];
        if (by < count_[p])
          Y_[first_[p] + static_cast<std::size_t>(order_[k]) * count_[p] + by].col(c) =
              contacts.answer.twist[links_[k]];
        if (order_[k] == by) b.rhs.wrench[links_[k]][c] = 0;
      }
    }
  std::swap(contacts.kept, b.rhs);
}

void Response::find_own(const SystemData& s, WorkspaceData& w, const std::vector<int>& links) {
  if (own_valid_) return;
  if (!w.blocks->gaba) return find(s, w, links);
  w.blocks->gaba->answers(*w.blocks->scratch, own_);
  own_valid_ = true;
}

int ContactForces::part_of(const TouchSide& side) const {
  return side.link < 0 ? -1 : s_->part_of[side.link];
}

void ContactForces::begin(const SystemData& s, WorkspaceData& w, const std::vector<Touch>& touches) {
  s_ = &s, w_ = &w;
  sides_.resize(2 * touches.size());
  for (std::size_t c = 0; c < touches.size(); ++c) {
    const Touch& t = touches[c];
    sides_[2 * c].link = t.link_a, sides_[2 * c + 1].link = t.link_b;
    if (t.link_a >= 0) sides_[2 * c].G = rows_of(t, w.links[t.link_a].X_WM.p, 1);
    if (t.link_b >= 0) sides_[2 * c + 1].G = rows_of(t, w.links[t.link_b].X_WM.p, -1);
  }
  moved_by_.clear();
  find_islands();
}

void ContactForces::find_islands() {
  const std::size_t parts = static_cast<std::size_t>(s_->part_count), n = sides_.size() / 2;
  parent_.resize(parts);
  std::iota(parent_.begin(), parent_.end(), 0);
  of_part_.resize(parts);
  for (auto& list : of_part_) list.clear();
  const auto root = [&](int p) {
    while (parent_[p] != p) p = parent_[p] = parent_[parent_[p]];
    return p;
  };
  for (std::size_t c = 0; c < n; ++c) {
    const int p = part_of(sides_[2 * c]), q = part_of(sides_[2 * c + 1]);
    if (p >= 0) of_part_[p].push_back(static_cast<int>(c));
    if (q >= 0 && q != p) of_part_[q].push_back(static_cast<int>(c));
    if (p >= 0 && q >= 0) parent_[std::max(root(p), root(q))] = std::min(root(p), root(q));
  }
  std::vector<int>& number = found_;  // (parts) of the island
  number.assign(parts, -1);
  for (auto& island : islands_) island.clear();
  island_count_ = 0;
  place_.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    const int p = part_of(sides_[2 * c]), part = p >= 0 ? p : part_of(sides_[2 * c + 1]);
    int& island = number[root(part)];
    if (island < 0) {
      island = island_count_++;
      if (static_cast<int>(islands_.size()) < island_count_) islands_.emplace_back();
    }
    place_[c] = static_cast<int>(islands_[island].size());
    islands_[island].push_back(static_cast<int>(c));
  }
}

void ContactForces::add_motion(double scale, const std::vector<Vec3>& x, std::vector<Vec3>& u) {
  answer_at_places(*s_, *w_, sides_, scale, x, moved_);
  moved_by_.assign(x.begin(), x.end());
  moved_scale_ = scale;
  for (std::size_t c = 0; c < u.size(); ++c) u[c] += moved_[c];
}

// The links that places of some islands touch, ascending, into links_.
void ContactForces::find_links(std::span<const int> islands) {
  links_.clear();
  for (const int i : islands)
    for (const int c : islands_[i])
      for (int k = 0; k < 2; ++k)
        if (const int link = sides_[2 * static_cast<std::size_t>(c) + k].link; link >= 0)
          links_.push_back(link);
  std::sort(links_.begin(), links_.end());
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
}

bool ContactForces::by_elimination(int island) {
  if (s_->options.contact_way != ContactWay::automatic)
    return s_->options.contact_way == ContactWay::elimination;
  const int n = static_cast<int>(islands_[island].size());
  if (n > most_exact && n <= most_direct) return true;
  find_links({&island, 1});
  for (int& link : links_) link = s_->part_of[link];
  std::sort(links_.begin(), links_.end());
  for (std::size_t k = most_pushed; k < links_.size(); ++k)
    if (links_[k] == links_[k - most_pushed]) return true;  // so many of one part
  return false;
}

// W of an island, and what else its problem has.
void ContactForces::assemble(const std::vector<int>& members, double scale, const std::vector<Vec3>& free,
                             const std::vector<Touch>& touches) {
  const Response& Y = w_->contacts->response;
  const std::size_t n = members.size();
  W_.start.assign(1, 0);
  W_.columns.clear(), W_.diagonal.clear(), W_.values.clear();
  free_.assign(4 * n, 0.0), lambda_.assign(4 * n, 0.0), mu_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const int c = members[k];
    mu_[k] = touches[c].friction;
    for (int i = 0; i < 3; ++i) free_[4 * k + i] = free[c][i], lambda_[4 * k + i] = touches[c].force[i];
    const TouchSide* mine = &sides_[2 * static_cast<std::size_t>(c)];
    found_.clear();
    for (int s = 0; s < 2; ++s)
      if (const int part = part_of(mine[s]); part >= 0)
        found_.insert(found_.end(), of_part_[part].begin(), of_part_[part].end());
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    for (const int b : found_) {
      Eigen::Matrix<double, 4, 4> block = Eigen::Matrix<double, 4, 4>::Zero();
      for (int s = 0; s < 2; ++s)
        for (int r = 0; r < 2; ++r) {
          const TouchSide& other = sides_[2 * static_cast<std::size_t>(b) + r];
          if (mine[s].link < 0 || other.link < 0 || part_of(mine[s]) != part_of(other)) continue;
          block.topLeftCorner<3, 3>() +=
              scale * (mine[s].G * Y(mine[s].link, other.link)).eval().lazyProduct(other.G.transpose());
        }
      if (b == c) {
        block(0, 0) += touches[c].give;
        W_.diagonal.push_back(static_cast<int>(W_.columns.size()));
      }
      W_.columns.push_back(place_[b]);
      W_.values.insert(W_.values.end(), block.data(), block.data() + 16);
    }
    W_.start.push_back(static_cast<int>(W_.columns.size()));
  }
}

// Of the island that assemble() was for.
contact::FrictionReport ContactForces::solve_assembled() {
  const int n = static_cast<int>(mu_.size());
  const contact::ConeProblem problem{n, &W_, free_.data(), mu_.data()};
  if (n <= most_dense) return friction_.solve(problem, {}, lambda_.data());
  double largest = 0;
  for (const double u : free_) largest = std::max(largest, std::abs(u));
  contact::FrictionReport found;
  const contact::ConeReport swept =
      sweeps_.solve_many(problem, sweep_tolerance * largest, most_sweeps, lambda_.data());
  contact::measure(problem, lambda_.data(), found);
  found.iterations = swept.sweeps;
  return found;
}

// A third of the trace of a place's own block of W; where both its links are of one part, which answer for
// each other too, a bound of it.
double ContactForces::mobility(std::size_t touch) const {
  const TouchSide *a = &sides_[2 * touch], *b = a + 1;
  double trace = 0;
  for (const TouchSide* side : {a, b}) {
    if (side->link < 0) continue;
    const Mat6& Y = w_->contacts->response.own(side->link);
    trace += (side->G * Y).cwiseProduct(side->G).sum();
  }
  return (part_of(*a) == part_of(*b) ? 2 : 1) * trace / 3;
}

// Whether add_motion() told what the forces at hand move.
bool ContactForces::guess_is_known(const std::vector<Touch>& touches) const {
  if (moved_by_.size() != touches.size()) return false;
  for (const int i : by_elimination_)
    for (const int c : islands_[i])
      if (touches[c].force != moved_by_[c]) return false;
  return true;
}

// Islands that Newton's method did not get through: from nothing along the interior, whose end it then
// sharpens.
void ContactForces::solve_by_interior() {
  const std::size_t n = reports_.size();
  unsolved_.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) unsolved_[i] = reports_[i].residual > unsure;
  if (std::ranges::none_of(unsolved_, [](char x) { return x != 0; })) return;
  contact::ContactAnswer& answer = *answer_;
  const auto take_better = [&](const std::vector<contact::FrictionReport>& found) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!unsolved_[i]) continue;
      const int iterations = reports_[i].iterations + found[i].iterations;
      if (found[i].residual < reports_[i].residual) {
        reports_[i] = found[i];
        std::copy(interior_force_.begin() + many_.first[i], interior_force_.begin() + many_.first[i + 1],
                  many_force_.begin() + many_.first[i]);
      }
      reports_[i].iterations = iterations;
    }
  };
  interior_force_ = many_force_;
  take_better(interior_.solve(many_, answer, unsolved_, unsure, most_interior, interior_force_));
  if (std::ranges::all_of(reports_, [](const auto& r) { return r.residual <= direct_tolerance; })) return;
  interior_force_ = many_force_;
  many_.moved.clear();
  take_better(primal_.solve(many_, answer, direct_tolerance, most_newton, interior_force_));
}

// The islands of by_elimination_; reports_ then has one for each.
void ContactForces::solve_many(double scale, const std::vector<Vec3>& free, std::vector<Touch>& touches) {
  Contacts& contacts = *w_->contacts;
  find_links(by_elimination_);
  contacts.response.find_own(*s_, *w_, links_);
  many_.clear(), many_force_.clear(), soft_.give.clear(), contacts.elimination.sides.clear();
  for (const int i : by_elimination_) {
    for (const int c : islands_[i]) {
      many_.free.push_back(free[c]);
      many_.friction.push_back(touches[c].friction);
      many_.mobility.push_back(scale * mobility(static_cast<std::size_t>(c)) + touches[c].give / 3);
      soft_.give.push_back(touches[c].give);
      many_force_.push_back(touches[c].force);
      for (int k = 0; k < 2; ++k)
        contacts.elimination.sides.push_back(sides_[2 * static_cast<std::size_t>(c) + k]);
    }
    many_.first.push_back(static_cast<int>(many_.free.size()));
  }
  if (guess_is_known(touches))
    for (const int i : by_elimination_)
      for (const int c : islands_[i]) {
        many_.moved.push_back(scale / moved_scale_ * moved_[c]);
        many_.moved.back()[0] += touches[c].give * touches[c].force[0];
      }
  contacts.elimination.begin(*s_, *w_, scale);
  soft_.stiff = answer_ = &contacts.elimination;
  if (std::ranges::any_of(soft_.give, [](double x) { return x > 0; })) answer_ = &soft_;
  const auto& found = primal_.solve(many_, *answer_, direct_tolerance, first_newton, many_force_);
  reports_.assign(found.begin(), found.end());
  solve_by_interior();
  std::size_t next = 0;
  for (const int i : by_elimination_)
    for (const int c : islands_[i]) touches[c].force = many_force_[next++];
}

ContactReport ContactForces::solve(double scale, const std::vector<Vec3>& free, std::vector<Touch>& touches) {
  by_links_.clear(), by_elimination_.clear(), reports_.clear();
  for (int i = 0; i < island_count_; ++i) {
    // All part without any force. What pushes is asked first: it may jam although it would part (Painlevé),
    // and a step that took the one for its way and the other for its end would make energy.
    bool idle = true;
    for (const int c : islands_[i]) idle = idle && free[c][0] >= 0 && !(touches[c].force[0] > 0);
    if (idle)
      for (const int c : islands_[i]) touches[c].force.setZero();
    else
      (by_elimination(i) ? by_elimination_ : by_links_).push_back(i);
  }
  if (!by_elimination_.empty()) solve_many(scale, free, touches);
  const std::size_t eliminated = by_elimination_.size();
  for (std::size_t k = 0; k < eliminated; ++k)
    if (reports_[k].residual > unsure && islands_[by_elimination_[k]].size() <= most_dense)
      by_links_.push_back(by_elimination_[k]);
  ContactReport report;
  const auto note = [&](const contact::FrictionReport& found) {
    report.iterations = std::max(report.iterations, found.iterations);
    report.residual = std::max(report.residual, found.residual);
    report.cone_violation = std::max(report.cone_violation, found.cone_violation);
    report.converged = report.converged && found.residual < poor;
  };
  find_links(by_links_);
  if (!by_links_.empty()) w_->contacts->response.find(*s_, *w_, links_);
  for (const int i : by_links_) {
    assemble(islands_[i], scale, free, touches);
    contact::FrictionReport found = solve_assembled();
    const auto before =
        std::find(by_elimination_.begin(), by_elimination_.end(), i) - by_elimination_.begin();
    if (before < static_cast<std::ptrdiff_t>(eliminated)) {
      contact::FrictionReport& so_far = reports_[static_cast<std::size_t>(before)];
      if (!(found.residual < so_far.residual)) continue;
      so_far = found;
    } else {
      note(found);
    }
    for (std::size_t k = 0; k < islands_[i].size(); ++k)
      touches[islands_[i][k]].force = Vec3(lambda_[4 * k], lambda_[4 * k + 1], lambda_[4 * k + 2]);
  }
  for (const contact::FrictionReport& found : reports_) note(found);
  return report;
}

}  // namespace limber::articulated
