#include "limber/adaptive/back_substitution.h"

namespace limber::adaptive {

void BackSubstitution::visit(const Coefficients& c, int i, double* qdd) {
  const AssemblyNode& n = c.node(i);
  if (n.is_leaf()) return;
  double none[6];
  Inputs unused;
  split(c, i, inputs_[i], c.dofs(i) ? qdd + c.tree()[n.link].v : none, n.a >= 0 ? inputs_[n.a] : unused,
        inputs_[n.b]);
}

void BackSubstitution::operator()(const Coefficients& c, double* qdd, multibody::Workers* workers) {
  if (!workers) {
    for (int i = static_cast<int>(c.assembly().nodes.size()) - 1; i >= 0; --i) visit(c, i, qdd);
    return;
  }
  const auto& cut = c.cut();
  for (auto it = cut.top.rbegin(); it != cut.top.rend(); ++it) visit(c, *it, qdd);
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, cut.subtrees.size(), [&](std::size_t k) {
      for (int i = cut.subtrees[k].end - 1; i >= cut.subtrees[k].begin; --i) visit(c, i, qdd);
    });
  });
}

}  // namespace limber::adaptive
