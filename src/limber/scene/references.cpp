// Names of things: explicit ones in maps, generated ones ("arm.17") by arithmetic.
#include <fmt/format.h>

#include <charconv>

#include "limber/scene/fields.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {

std::optional<int> index_of(std::string_view text) {
  int value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9' || (text[0] == '0' && text.size() > 1))
    return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Split {
  std::string_view head, tail;
};
Split split_last_dot(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {text, {}};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

Attachment on_body(BodyId id, const Vec3& p = Vec3::Zero()) {
  Attachment a;
  a.body = id;
  a.p = p;
  return a;
}

std::optional<Vec3> point_of(const Body& body, std::string_view name) {
  for (const NamedPoint& point : body.points)
    if (point.name == name) return point.p;
  return std::nullopt;
}

}  // namespace

const Series* Reader::find_series(std::string_view name) const {
  const auto found = series_names_.find(std::string(name));
  return found == series_names_.end() ? nullptr : &series_[found->second];
}

void Reader::add_series(Series series) {
  series_names_.emplace(series.name, static_cast<int>(series_.size()));
  series_.push_back(std::move(series));
}

std::optional<BodyId> Reader::find_body(std::string_view name) const {
  if (const auto found = body_names.find(name); found != body_names.end()) return BodyId{found->second};
  const auto [head, tail] = split_last_dot(name);
  if (tail.empty()) return std::nullopt;
  const std::optional<int> k = index_of(tail);
  if (const Series* s = find_series(head)) {
    if (k && *k < s->count) return BodyId{s->first_body + *k};
    if (tail == "first" || tail == "trunk") return BodyId{s->first_body};
    if (tail == "last") return BodyId{s->first_body + s->count - 1};
  }
  const auto [stem, leaf] = split_last_dot(head);
  const Series* s = leaf == "leaf" ? find_series(stem) : nullptr;
  if (s && s->first_leaf >= 0 && k && *k < s->count - s->first_leaf)
    return BodyId{s->first_body + s->first_leaf + *k};
  return std::nullopt;
}

std::optional<JointId> Reader::find_joint(std::string_view name) const {
  if (const auto found = joint_names.find(name); found != joint_names.end()) return JointId{found->second};
  const auto [head, tail] = split_last_dot(name);
  if (tail != "joint") return std::nullopt;
  const std::optional<BodyId> id = find_body(head);
  if (!id) return std::nullopt;
  if (const int own = extras[id->value].own_joint; own >= 0) return JointId{own};
  for (const Series& s : series_)
    if (id->value >= s.first_body && id->value < s.first_body + s.count)
      return JointId{s.first_joint + id->value - s.first_body};
  return std::nullopt;
}

std::optional<Attachment> Reader::find_place(std::string_view text, std::string& note) const {
  if (text == "world") return Attachment{};
  if (const auto id = find_body(text)) return on_body(*id);
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    const auto beam = beam_names.find(text.substr(0, at));
    const auto s = parse_number(text.substr(at + 1));
    if (beam == beam_names.end()) return std::nullopt;
    if (!s || !(*s >= 0 && *s <= 1)) {
      note = "the place on a beam is a fraction of its length, 0 … 1, after the @";
      return std::nullopt;
    }
    Attachment a;
    a.beam = BeamId{beam->second};
    a.s = *s;
    return a;
  }
  const auto [head, tail] = split_last_dot(text);
  if (const auto beam = beam_names.find(head);
      beam != beam_names.end() && (tail == "tip" || tail == "root")) {
    Attachment a;
    a.beam = BeamId{beam->second};
    a.s = tail == "tip" ? 1 : 0;
    return a;
  }
  if (const Series* s = find_series(head)) {
    if (tail == "base") return on_body(BodyId{s->first_body});
    const BodyId last{s->first_body + s->count - 1};
    if (tail == "tip" && s->first_leaf < 0)
      if (const auto p = point_of(parts.bodies[last.value], "tip")) return on_body(last, *p);
  }
  if (const auto id = tail.empty() ? std::nullopt : find_body(head)) {
    const Body& b = parts.bodies[id->value];
    if (const auto p = point_of(b, tail)) return on_body(*id, *p);
    Suggestion suggestion(tail);
    for (const NamedPoint& point : b.points) suggestion.offer(point.name);
    note = fmt::format("body \"{}\" has no point {}{}", head, quoted(tail), suggestion.text());
    return std::nullopt;
  }
  if (beam_names.count(text))
    note = fmt::format("say where on the beam: {0}.tip, {0}.root or {0}@0.5", text);
  else if (const Series* s = find_series(text))
    note = fmt::format("{0} has many bodies: say {0}.first, {0}.last or {0}.{1}", text, s->count / 2);
  return std::nullopt;
}

bool Reader::names_beam(const Node& node) const {
  if (!node.is_scalar()) return false;
  const std::string_view text = node.text;
  if (const std::size_t at = text.find('@'); at != std::string_view::npos)
    return beam_keys.contains(text.substr(0, at));
  const auto [head, tail] = split_last_dot(text);
  return (tail == "tip" || tail == "root") && beam_keys.contains(head);
}

std::optional<BodyId> Reader::body(const Node& node, const Path& path, bool allow_world) {
  if (!node.is_scalar()) {
    error(node, path, fmt::format("expected the name of a body, got {}", describe(node)));
    return std::nullopt;
  }
  if (node.text == "world" && allow_world) return world;
  if (const auto id = find_body(node.text)) return id;
  std::string note;
  if (node.text == "world")
    note = "the world cannot be used here";
  else if (find_series(node.text))
    note = fmt::format("{0} has many bodies: say {0}.first or {0}.last", node.text);
  else if (beam_names.count(node.text))
    note = fmt::format("\"{}\" is a beam; a body is needed here", node.text);
  else
    note = fmt::format("there is no body {}{}", quoted(node.text), suggest_body(node.text));
  error(node, path, note);
  return std::nullopt;
}

std::optional<JointId> Reader::joint(const Node& node, const Path& path) {
  if (!node.is_scalar()) {
    error(node, path, fmt::format("expected the name of a joint, got {}", describe(node)));
    return std::nullopt;
  }
  if (const auto id = find_joint(node.text)) return id;
  error(node, path, fmt::format("there is no joint {}{}", quoted(node.text), suggest_joint(node.text)));
  return std::nullopt;
}

std::optional<Attachment> Reader::place(const Node& node, const Path& path) {
  if (node.is_map()) {
    const Fields fields(*this, node, ObjectType::place, path, node.mark);
    if (!fields.has("on") || !fields.node("on").is_scalar()) {
      if (fields.has("on")) fields.text("on");
      return std::nullopt;
    }
    std::optional<Attachment> a = place(fields.node("on"), fields.path("on"));
    const Vec3 offset = fields.vector("at");
    if (a) a->p += offset;
    return a;
  }
  if (!node.is_scalar()) {
    error(node, path,
          fmt::format("expected a place like body.point or {{on: body, at: [x, y, z]}}, got {}",
                      describe(node)));
    return std::nullopt;
  }
  std::string note;
  if (const auto a = find_place(node.text, note)) return a;
  if (note.empty())
    note = fmt::format("there is no body or beam {}{}", quoted(node.text), suggest_body(node.text));
  error(node, path, note);
  return std::nullopt;
}

std::string Reader::suggest_body(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const auto& [known, id] : body_names) {
    suggestion.offer(known);
    for (const NamedPoint& point : parts.bodies[id].points)
      if (name.find('.') != std::string_view::npos) suggestion.offer(fmt::format("{}.{}", known, point.name));
  }
  for (const auto& [known, id] : beam_names)
    for (const char* end : {".tip", ".root"}) suggestion.offer(std::string(known) + end);
  for (const Series& s : series_)
    for (const char* end : {".first", ".last", ".tip", ".base"}) suggestion.offer(s.name + end);
  suggestion.offer("world");
  return suggestion.text();
}

std::string Reader::suggest_joint(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const auto& [known, id] : joint_names) suggestion.offer(known);
  for (const Series& s : series_) suggestion.offer(s.name + ".0.joint");
  return suggestion.text();
}

std::string Reader::suggest_spring(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const auto& [known, id] : spring_names) suggestion.offer(known);
  return suggestion.text();
}

std::string Reader::suggest_rider(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const auto& [known, id] : rider_names) suggestion.offer(known);
  return suggestion.text();
}

std::string Reader::suggest_chain(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const Series& s : series_)
    if (s.first_leaf < 0) suggestion.offer(s.name);
  return suggestion.text();
}

void Reader::remember(const char* kind, std::string_view name, const Node& node, const Mark& mark,
                      const Path& path) {
  if (!keeps_places) return;
  origins.emplace(fmt::format("{} {}", kind, name), Origin{&node, mark, path.text()});
}

Pose Reader::reference_pose(BodyId id) {
  if (!id.valid()) return Pose::identity();
  reference_.resize(parts.bodies.size());
  reference_state_.resize(parts.bodies.size(), 0);
  std::vector<int> climbed;
  int b = id.value;
  Pose X;
  while (b >= 0) {
    if (reference_state_[b] == 2) {
      X = reference_[b];
      break;
    }
    const int j = extras[b].relative_joint;
    if (j < 0 || reference_state_[b] == 1) {  // written, or a ring, which the model reports
      X = extras[b].written;
      reference_[b] = X;
      reference_state_[b] = 2;
      break;
    }
    reference_state_[b] = 1;
    climbed.push_back(b);
    b = parts.joints[j].parent.value;
  }
  for (auto it = climbed.rbegin(); it != climbed.rend(); ++it) {
    const Joint& joint = parts.joints[extras[*it].relative_joint];
    X = X * joint.X_PF * joint.X_BM.inverse();
    reference_[*it] = X;
    reference_state_[*it] = 2;
  }
  return X;
}

Pose Reader::start_pose(BodyId id) {
  start_.resize(parts.bodies.size());
  start_known_.resize(parts.bodies.size(), 0);
  std::vector<int> climbed;
  int b = id.value;
  while (b >= 0 && !start_known_[b] && joint_of[b] >= 0) {
    start_known_[b] = 1;  // ends the climb in a ring, which the model reports
    climbed.push_back(b);
    b = parts.joints[joint_of[b]].parent.value;
  }
  for (auto it = climbed.rbegin(); it != climbed.rend(); ++it) {
    const Joint& j = parts.joints[joint_of[*it]];
    const Pose X_WP = j.parent.valid() ? start_[j.parent.value] : Pose::identity();
    DofArray q = j.position;
    for (const PrescribedMotion& m : parts.motions)
      for (int k = 0; m.joint.value == joint_of[*it] && k < dof_count(j.kind); ++k)
        q[k] = m.position[k].value(0);
    start_[*it] = X_WP * j.X_PF * joint_pose(j.kind, j.pitch, q) * j.X_BM.inverse();
  }
  return id.valid() ? start_[id.value] : Pose::identity();
}

}  // namespace limber::scene
