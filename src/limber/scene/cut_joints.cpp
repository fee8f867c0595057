// Joints beyond a tree close loops: a scene says what is joined to what, and the tree is found here
// (model/spanning_tree.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/model/spanning_tree.h"
#include "limber/scene/fields.h"

namespace limber::scene {
namespace {

bool is_limited(const Joint& j) {
  for (int k = 0; k < dof_count(j.kind); ++k)
    if (std::isfinite(j.law.lower[k]) || std::isfinite(j.law.upper[k])) return true;
  return false;
}

bool any_of(const Joint& j, const DofArray& a) {
  return std::any_of(a.begin(), a.begin() + dof_count(j.kind), [](double x) { return x != 0; });
}

// Joints named in a list of drives or motions.
void mark_listed(const Fields& scene, const char* key, std::vector<char>& driven) {
  if (!scene.has(key) || !scene.node(key).is_sequence()) return;
  for (const Node* item : scene.node(key).items) {
    const Entry* entry = item->is_map() ? item->find("joint") : nullptr;
    if (!entry || !entry->value->is_scalar()) continue;
    if (const auto id = scene.reader.find_joint(entry->value->text)) driven[id->value] = 1;
  }
}

std::vector<char> driven_joints(const Fields& scene) {
  const ModelParts& parts = scene.reader.parts;
  std::vector<char> driven(parts.joints.size(), 0);
  for (const Drive& d : parts.drives) driven[d.joint.value] = 1;
  for (const PrescribedMotion& m : parts.motions) driven[m.joint.value] = 1;
  mark_listed(scene, "drives", driven);
  mark_listed(scene, "motions", driven);
  for (const std::string& name : coupled_joints(scene))
    if (const auto id = scene.reader.find_joint(name)) driven[id->value] = 1;
  return driven;
}

// What is lost where a joint closes a loop: its drive or start; one less in the tree; turns beyond ±180°; and
// it costs as many rows as it holds.
std::array<int, 5> worth_of(const Joint& j, bool of_short_form, bool driven) {
  const bool starts = any_of(j, j.position) || any_of(j, j.velocity);
  bool rubs = false;  // what sticks is one row less in the tree
  for (int k = 0; k < dof_count(j.kind); ++k) rubs = rubs || j.law.rubs(k);
  return {of_short_form, driven || starts || rubs, 1,
          is_limited(j) || any_of(j, j.law.stiffness) || j.law.extras, 6 - dof_count(j.kind)};
}

// What a closing joint cannot have; null: nothing.
const char* given_to(const Fields& fields, const Joint& j, bool driven) {
  for (const char* key : {"drive", "motion"})
    if (fields.has(key)) return key;
  if (driven) return "drive";
  if (any_of(j, j.position)) return "position";
  return any_of(j, j.velocity) ? "velocity" : nullptr;
}

void refuse_given(const Fields& fields, const Joint& j, bool driven, const std::string& instead) {
  const char* given = given_to(fields, j, driven);
  if (!given) return;
  fields.error(
      fields.has(given) ? given : "child",
      fmt::format("the joint closes a loop ({}), and one that does cannot have a {}", instead, given));
}

Loop as_loop(const Joint& j) {
  Loop loop;
  loop.name = j.name;
  loop.kind = j.kind;
  loop.a = j.parent;
  loop.b = j.child;
  loop.X_AF = j.X_PF;
  loop.X_BM = j.X_BM;
  loop.pitch = j.pitch;
  loop.law = j.law;
  return loop;
}

}  // namespace

std::vector<char> choose_tree(const Fields& scene, std::size_t first) {
  const ModelParts& parts = scene.reader.parts;
  const std::vector<char> driven = driven_joints(scene);
  std::vector<char> in_tree(parts.joints.size(), 1);
  std::vector<int> order(parts.joints.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return parts.joints[a].name < parts.joints[b].name; });
  std::vector<TreeCandidate> candidates;
  std::vector<int> joint;
  for (const int i : order) {
    const Joint& j = parts.joints[i];
    if (!j.child.valid() || j.child == j.parent) continue;  // reported elsewhere
    candidates.push_back(
        {j.parent.value, j.child.value, worth_of(j, static_cast<std::size_t>(i) < first, driven[i] != 0)});
    joint.push_back(i);
  }
  const std::vector<char> chosen = spanning_tree(static_cast<int>(parts.bodies.size()), candidates);
  for (std::size_t k = 0; k < chosen.size(); ++k) in_tree[joint[k]] = chosen[k];
  return in_tree;
}

void cut_joints(const Fields& scene, const std::vector<char>& in_tree) {
  Reader& reader = scene.reader;
  if (std::ranges::all_of(in_tree, [](char yes) { return yes != 0; })) return;
  const std::vector<char> driven = driven_joints(scene);
  std::vector<std::string> hangs_on(reader.parts.bodies.size());
  for (std::size_t i = 0; i < in_tree.size(); ++i)
    if (const Joint& j = reader.parts.joints[i]; in_tree[i] && j.child.valid())
      hangs_on[j.child.value] = j.name;
  const std::size_t errors = reader.diagnostics.size();
  for_each_entry(scene, "joints", ObjectType::joint, [&](const Fields& fields, std::string_view name) {
    const auto found = reader.joint_names.find(name);
    if (found == reader.joint_names.end() || in_tree[found->second]) return;
    const Joint& j = reader.parts.joints[found->second];
    const std::string& other = hangs_on[j.child.value];
    refuse_given(fields, j, driven[found->second] != 0,
                 other.empty() ? "a ring of joints"
                               : fmt::format("\"{}\" hangs on joint \"{}\" already",
                                             reader.parts.bodies[j.child.value].name, other));
    reader.remember("loop", name, fields.self(), fields.mark(), fields.path());
  });
  if (reader.diagnostics.size() > errors) return;

  std::vector<int> now(in_tree.size(), -1);
  std::vector<Joint> kept;
  for (std::size_t i = 0; i < in_tree.size(); ++i) {
    Joint& j = reader.parts.joints[i];
    if (!in_tree[i]) {
      reader.parts.loops.push_back(as_loop(j));
      continue;
    }
    now[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(j));
  }
  reader.parts.joints = std::move(kept);
  for (auto it = reader.joint_names.begin(); it != reader.joint_names.end();)
    if (it->second = now[it->second]; it->second < 0)
      it = reader.joint_names.erase(it);
    else
      ++it;
  for (Drive& d : reader.parts.drives) d.joint.value = now[d.joint.value];
  for (PrescribedMotion& m : reader.parts.motions) m.joint.value = now[m.joint.value];
  for (Reader::BodyExtra& extra : reader.extras)
    if (extra.relative_joint >= 0) extra.relative_joint = now[extra.relative_joint];
}

}  // namespace limber::scene
