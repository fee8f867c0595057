// Parts of a structure that know nothing of each other, each as a model of its own.
//
// Two links belong together if a joint, a spring, a closing joint or a rider's road connects them other than
// by what stands still: the world, and links that fixed joints or given motions carry. Where such a part
// comes to rest must not depend on the others, also not through the size of a step, a shift or a tolerance;
// and what it costs must not grow with them.
#include "limber/articulated/static_parts.h"

#include <algorithm>
#include <numeric>

namespace limber::articulated {
namespace {

class Parts {
 public:
  explicit Parts(const SystemData& s) : s_(s), m_(s.model), group_(s.tree.size()), stands_(s.tree.size(), 0) {
    std::iota(group_.begin(), group_.end(), 0);
    std::vector<char> given(s.tree.size(), 0);
    for (const CompiledMotion& motion : s.motions) given[motion.link] = 1;
    for (int i = 0; i < s.tree.size(); ++i) {
      const int parent = s.tree[i].parent;
      stands_[i] = (s.tree[i].dofs == 0 || given[i]) && (parent < 0 || stands_[parent]);
      join(i, parent);
    }
    for (const Spring& spring : m_.springs()) join(spring.a.body.value, spring.b.body.value);
    for (const Bushing& x : m_.bushings()) join(x.a.value, x.b.value);
    for (const Cable& c : m_.cables())
      for (const CableGuide& g : c.route) join(first_moving(c), g.at.body.value);
    for (const Loop& loop : m_.loops()) join(loop.a.value, loop.b.value);
    for (const Coupling& c : m_.couplings())
      for (const Coupling::Term& t : c.terms) join(first_moving(c), t.joint.value);
    for (const Rider& rider : m_.riders())
      for (const BodyId b : rider.bodies) join(first_moving(rider), b.value);
  }

  std::vector<std::vector<int>> lists() {
    std::vector<std::vector<int>> all(s_.tree.size()), out;
    for (int i = 0; i < s_.tree.size(); ++i)
      if (!stands_[i]) all[root(i)].push_back(i);
    for (auto& list : all)
      if (std::any_of(list.begin(), list.end(), [&](int i) { return s_.tree[i].dofs > 0; }))
        out.push_back(std::move(list));
    return out;
  }

  // The links of a part and what stands still under them.
  Model model_of(const std::vector<int>& links) {
    std::vector<char> own(s_.tree.size(), 0);
    for (const int i : links) own[i] = 1;
    const auto has = [&](BodyId b) { return b.valid() && own[b.value]; };
    std::vector<char> kept = own;
    const auto keep = [&](BodyId b) {
      for (; b.valid() && !kept[b.value]; b = m_.joints()[b.value].parent) kept[b.value] = 1;
    };
    for (const int i : links) keep(m_.joints()[i].parent);
    ModelParts out;
    out.title = m_.title();
    out.gravity = m_.gravity();
    out.wind = m_.wind();
    for (const Spring& x : m_.springs())
      if (has(x.a.body) || has(x.b.body)) out.springs.push_back(x), keep(x.a.body), keep(x.b.body);
    for (const Cable& x : m_.cables())
      if (std::ranges::any_of(x.route, [&](const CableGuide& g) { return has(g.at.body); })) {
        out.cables.push_back(x);
        for (const CableGuide& g : x.route) keep(g.at.body);
      }
    for (const Loop& x : m_.loops())
      if (has(x.a) || has(x.b)) out.loops.push_back(x), keep(x.a), keep(x.b);
    for (const Bushing& x : m_.bushings())
      if (has(x.a) || has(x.b)) out.bushings.push_back(x), keep(x.a), keep(x.b);
    for (const Coupling& x : m_.couplings())
      if (std::any_of(x.terms.begin(), x.terms.end(),
                      [&](const auto& t) { return has(m_[t.joint].child); })) {
        out.couplings.push_back(x);
        for (const Coupling::Term& t : x.terms) keep(m_[t.joint].child);
      }
    for (const PointLoad& x : m_.point_loads())
      if (has(x.at.body)) out.point_loads.push_back(x);
    for (const Rider& x : m_.riders())
      if (std::any_of(x.bodies.begin(), x.bodies.end(), has)) {
        out.riders.push_back(x);
        for (const BodyId b : x.bodies) keep(b);
      }
    for (int i = 0; i < s_.tree.size(); ++i)
      if (kept[i]) out.bodies.push_back(m_.bodies()[i]), out.joints.push_back(m_.joints()[i]);
    for (const Drive& x : m_.drives())
      if (kept[m_[x.joint].child.value]) out.drives.push_back(x);
    for (const PrescribedMotion& x : m_.motions())
      if (kept[m_[x.joint].child.value]) out.motions.push_back(x);
    renumber(kept, out);
    return Model(std::move(out));
  }

 private:
  int root(int i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }
  void join(int a, int b) {
    if (a < 0 || b < 0 || stands_[a] || stands_[b]) return;
    a = root(a), b = root(b);
    group_[std::max(a, b)] = std::min(a, b);
  }
  int first_moving(const Rider& rider) const {
    for (const BodyId b : rider.bodies)
      if (b.valid() && !stands_[b.value]) return b.value;
    return -1;
  }
  int first_moving(const Cable& c) const {
    for (const CableGuide& g : c.route)
      if (g.at.body.valid() && !stands_[g.at.body.value]) return g.at.body.value;
    return -1;
  }
  int first_moving(const Coupling& c) const {
    for (const Coupling::Term& t : c.terms)
      if (!stands_[t.joint.value]) return t.joint.value;
    return -1;
  }
  static void renumber(const std::vector<char>& kept, ModelParts& parts) {
    std::vector<std::int32_t> place(kept.size());
    std::exclusive_scan(kept.begin(), kept.end(), place.begin(), 0);
    const auto move = [&](auto& id) {
      if (id.valid()) id.value = place[id.value];
    };
    for (Joint& x : parts.joints) move(x.parent), move(x.child);
    for (Spring& x : parts.springs) move(x.a.body), move(x.b.body);
    for (Loop& x : parts.loops) move(x.a), move(x.b);
    for (Cable& x : parts.cables)
      for (CableGuide& g : x.route) move(g.at.body);
    for (Bushing& x : parts.bushings) move(x.a), move(x.b);
    for (PointLoad& x : parts.point_loads) move(x.at.body);
    for (Drive& x : parts.drives) move(x.joint);
    for (Coupling& x : parts.couplings)
      for (Coupling::Term& t : x.terms) move(t.joint);
    for (PrescribedMotion& x : parts.motions) move(x.joint);
    for (Rider& x : parts.riders) {
      for (BodyId& b : x.bodies) move(b);
      for (Attachment& a : x.from) move(a.body);
      for (Attachment& a : x.to) move(a.body);
    }
  }

  const SystemData& s_;
  const Model& m_;
  std::vector<int> group_;
  std::vector<char> stands_;  // (links)
};

}  // namespace

std::vector<StaticPart> static_parts(const SystemData& s) {
  Parts parts(s);
  const std::vector<std::vector<int>> lists = parts.lists();
  std::vector<StaticPart> out;
  for (const std::vector<int>& list : lists) {
    Model model = parts.model_of(list);
    if (model.bodies().size() == s.model.bodies().size()) break;  // the whole
    auto data = std::make_shared<SystemData>(elastic::LinkedModel{std::move(model), {}}, s.options);
    StaticPart part{System(data), {}};
    // Bodies keep their order, so that one walk finds them again.
    int i = 0;
    for (const Joint& joint : data->model.joints()) {
      while (s.model.joints()[i].name != joint.name) ++i;
      part.link.push_back(i++);
    }
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace limber::articulated
