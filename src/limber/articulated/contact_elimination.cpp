#include "limber/articulated/contact_elimination.h"

#include <algorithm>
#include <utility>

#include "limber/articulated/contacts.h"
#include "limber/articulated/system.h"

namespace limber::articulated {

using multibody::BlockSystem;
using multibody::LinkPair;

namespace {

bool comes_before(const LinkPair& x, const LinkPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); }
bool is_same(const LinkPair& x, const LinkPair& y) { return x.a == y.a && x.b == y.b; }

void push_sides(const std::vector<TouchSide>& sides, double scale, const std::vector<Vec3>& f,
                std::vector<Vec6>& wrench) {
  for (std::size_t k = 0; k < sides.size(); ++k)
    if (sides[k].link >= 0) wrench[sides[k].link] += sides[k].G.transpose() * (scale * f[k / 2]);
}

void read_sides(const std::vector<TouchSide>& sides, const std::vector<Vec6>& twist, std::vector<Vec3>& u) {
  u.resize(sides.size() / 2);
  for (std::size_t c = 0; c < u.size(); ++c) {
    u[c].setZero();
    for (int k = 0; k < 2; ++k)
      if (const TouchSide& side = sides[2 * c + k]; side.link >= 0) u[c] += side.G * twist[side.link];
  }
}

}  // namespace

void answer_at_places(const SystemData& s, WorkspaceData& w, const std::vector<TouchSide>& sides,
                      double scale, const std::vector<Vec3>& f, std::vector<Vec3>& u) {
  Contacts& c = *w.contacts;
  std::swap(c.kept, w.blocks->rhs);  // the step needs its own once more
  w.blocks->rhs.clear();
  push_sides(sides, scale, f, w.blocks->rhs.wrench);
  solve_blocks(s, w, c.answer, true);
  ++c.solves;
  read_sides(sides, c.answer.twist, u);
  std::swap(c.kept, w.blocks->rhs);
}

// The step's matrix with springs at places. Of structures with hundreds of loops by ManyLoops, as the step's
// own.
struct ContactElimination::Stiff {
  explicit Stiff(const SystemData& s)
      : pattern(s.pattern),
        system(s.tree, pattern),
        rhs(system),
        x(system),
        gaba(s.tree, pattern, multibody::EliminationOrder{}),
        scratch(gaba) {}

  multibody::Pattern pattern;
  std::vector<LinkPair> tied;                   // that the pattern has beside the step's own, sorted
  bool ordered = false;                         // … and an order for them
  std::vector<std::pair<LinkPair, int>> known;  // sorted: where a pair stands in the pattern
  BlockSystem system;
  multibody::BlockRhs rhs;
  multibody::BlockSolution x;
  multibody::OrderFinder finder;
  multibody::Gaba gaba;
  multibody::Gaba::Scratch scratch;
  std::unique_ptr<multibody::ManyLoops> many;
};

void ContactElimination::tie(std::vector<LinkPair>& pairs) {
  std::sort(pairs.begin(), pairs.end(), comes_before);
  pairs.erase(std::unique(pairs.begin(), pairs.end(), is_same), pairs.end());
  wanted_.assign(pairs.begin(), pairs.end());
}

void ContactElimination::find_order() {
  const SystemData& s = *s_;
  if (!stiff_) stiff_ = std::make_shared<Stiff>(s);
  Stiff& m = *stiff_;
  if (m.ordered && std::equal(wanted_.begin(), wanted_.end(), m.tied.begin(), m.tied.end(), is_same)) return;
  m.ordered = true;
  m.tied = wanted_;
  const auto before = [](const auto& x, const auto& y) { return comes_before(x.first, y.first); };
  m.known.clear();
  m.pattern.pairs.assign(s.pattern.pairs.begin(), s.pattern.pairs.end());
  for (std::size_t k = 0; k < m.pattern.pairs.size(); ++k)
    m.known.push_back({m.pattern.pairs[k], static_cast<int>(k)});
  std::sort(m.known.begin(), m.known.end(), before);
  const std::size_t own = m.known.size();
  for (const LinkPair& p : m.tied) {
    const std::pair<LinkPair, int> wanted{p, static_cast<int>(m.pattern.pairs.size())};
    if (std::binary_search(m.known.begin(), m.known.begin() + static_cast<std::ptrdiff_t>(own), wanted,
                           before))
      continue;
    m.pattern.pairs.push_back(p);
    m.known.push_back(wanted);
  }
  std::sort(m.known.begin(), m.known.end(), before);
  m.system.off.assign(m.pattern.pairs.size(), Mat6::Zero());
  if (w_->blocks->many) {
    m.many = std::make_unique<multibody::ManyLoops>(
        s.tree, m.pattern, std::make_shared<multibody::LoopPlan>(s.tree, m.pattern, &m.finder));
  } else {
    m.gaba.retie(m.pattern, m.finder);
    m.scratch.fit(m.gaba);
  }
}

int ContactElimination::pair_of(int a, int b) const {
  const LinkPair wanted{std::min(a, b), std::max(a, b)};
  const auto at = std::lower_bound(stiff_->known.begin(), stiff_->known.end(), wanted,
                                   [](const auto& x, const LinkPair& y) { return comes_before(x.first, y); });
  return at->second;
}

void ContactElimination::begin(const SystemData& s, WorkspaceData& w, double scale) {
  s_ = &s, w_ = &w, scale_ = scale;
  find_order();
  pair_.clear();
  for (std::size_t k = 0; k < sides.size(); k += 2) {
    const int a = sides[k].link, b = sides[k + 1].link;
    pair_.push_back(a >= 0 && b >= 0 ? pair_of(a, b) : -1);
  }
  const BlockSystem& base = w.blocks->system;
  BlockSystem& m = stiff_->system;
  m.origin = base.origin, m.S = base.S, m.joint = base.joint, m.loops = base.loops;
  m.locks = base.locks, m.lock_index = base.lock_index, m.length = base.length;
}

void ContactElimination::move(const std::vector<Vec3>& f, std::vector<Vec3>& u) {
  answer_at_places(*s_, *w_, sides, scale_, f, u);
}

bool ContactElimination::stiffen(const std::vector<Mat3>& K) {
  const BlockSystem& base = w_->blocks->system;
  BlockSystem& m = stiff_->system;
  m.diagonal = base.diagonal;
  m.elastic = base.elastic;
  std::copy(base.off.begin(), base.off.end(), m.off.begin());
  std::fill(m.off.begin() + static_cast<std::ptrdiff_t>(base.off.size()), m.off.end(), Mat6::Zero());
  for (std::size_t c = 0; c < K.size(); ++c) {
    if (K[c].isZero(0)) continue;
    const TouchSide &a = sides[2 * c], &b = sides[2 * c + 1];
    const Mat3 k = scale_ * K[c];
    using Rows = Eigen::Matrix<double, 3, 6>;
    const Rows on_a = a.link >= 0 ? Rows(k * a.G) : Rows(Rows::Zero()),
               on_b = b.link >= 0 ? Rows(k * b.G) : Rows(Rows::Zero());
    if (a.link >= 0) m.diagonal[a.link] += a.G.transpose() * on_a;
    if (b.link >= 0) m.diagonal[b.link] += b.G.transpose() * on_b;
    if (pair_[c] < 0) continue;
    if (a.link < b.link)
      m.off[pair_[c]] += a.G.transpose() * on_b;
    else
      m.off[pair_[c]] += b.G.transpose() * on_a;
  }
  ++factors_;
  return stiff_->many ? stiff_->many->factor(m) : stiff_->gaba.factor(m);
}

void ContactElimination::move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) {
  Stiff& m = *stiff_;
  m.rhs.clear();
  push_sides(sides, scale_, f, m.rhs.wrench);
  if (m.many)
    m.many->solve(m.rhs, m.x, true);
  else
    m.gaba.solve(m.rhs, m.scratch, m.x, true);
  read_sides(sides, m.x.twist, u);
}

}  // namespace limber::articulated
