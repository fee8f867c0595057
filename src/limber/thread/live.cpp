#include "limber/thread/live.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/so3.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

// A line of another method's snapshot, by the fraction of its length.
struct Line {
  const Vec3* points = nullptr;
  int count = 0;
  Vec3 at(double fraction) const {
    double length = 0;
    for (int i = 0; i + 1 < count; ++i) length += (points[i + 1] - points[i]).norm();
    double left = fraction * length;
    for (int i = 0; i + 1 < count; ++i) {
      const double l = (points[i + 1] - points[i]).norm();
      if (left <= l && l > 0) return points[i] + left / l * (points[i + 1] - points[i]);
      left -= l;
    }
    return points[count - 1];
  }
};

Line find_line(const result::Layout& layout, const result::Snapshot& at, const std::string& name) {
  std::size_t first = 0;
  for (const result::PolylineInfo& info : layout.polylines) {
    if (info.name == name && info.points >= 2) return {at.points.data() + first, info.points};
    first += static_cast<std::size_t>(info.points);
  }
  return {};
}

double element_count(const State& state, int thread) {
  int n = 0;
  for (int j = state.first[thread]; j + 1 < state.first[thread + 1]; ++j)
    n += state.place[j + 1] > state.place[j];
  return n;
}

// Nodes along a line, their axes carried from node to node without twist.
void lay_along(const SystemData& s, State& state, int thread, const Line& line, std::vector<double>& e) {
  const ThreadInfo& info = s.threads[thread];
  const int first = state.first[thread], end = state.first[thread + 1];
  const auto place = [&](int j) { return line.at(static_cast<double>(state.place[j]) / info.fine); };
  Mat3 R = info.start[0].R;
  for (int j = first; j < end; ++j) {
    const Vec3 x = place(j), along = (place(std::min(j + 1, end - 1)) - place(std::max(j - 1, first)));
    if (along.norm() > 0) {
      const Vec3 u = along.normalized(), turn = R.col(0).cross(u);
      const double c = R.col(0).dot(u);
      // The shortest turn that takes the node's axis to the line's direction.
      const Mat3 K = math::skew(turn);
      R = c > -0.999 ? Mat3((Mat3::Identity() + K + K * K / (1 + c)) * R) : R;
    }
    double* q = e.data() + 12 * j;
    for (int i = 0; i < 3; ++i) {
      q[i] = x[i];
      for (int c = 0; c < 3; ++c) q[3 + 3 * c + i] = R(i, c);
    }
  }
}

// Which place of a thread a point of the snapshot belongs to.
struct ThreadPlace {
  int thread = 0;
  double s = 0;
};
std::optional<ThreadPlace> held_at(const SystemData& s, int point) {
  auto index = static_cast<std::size_t>(point);
  for (const Piece& p : s.pieces) {
    const std::size_t n = static_cast<std::size_t>(p.samples), count = s.point_count(p);
    if (index >= count) {
      index -= count;
      continue;
    }
    // A ring is held where its node was at the start of the mesh: near enough for a hand.
    const double along = index < 3 * n ? static_cast<double>(index % n) / static_cast<double>(n - 1)
                                       : static_cast<double>(index - 3 * n) / p.rings;
    return ThreadPlace{p.thread,
                       std::min(1.0, (p.from + along * (p.to - p.from)) / s.threads[p.thread].fine)};
  }
  return {};
}

}  // namespace

void touches(const System& system, const State& state, Workspace& workspace, result::Touches& out) {
  const SystemData& s = system.data();
  out.clear();
  if (!s.contact) return;
  set_mesh(s, state, workspace.data());
  ContactWork& c = workspace.data().contact;
  take_last(s, state, workspace.data(), c);
  for (const LastTouch& t : c.last)
    out.push_back({-1, t.b < 0 ? s.solids[-1 - t.b].body : -1,
                   midline_point(state.e.data(), t.a, workspace.data().length[t.a], t.xi_a), t.force});
}

bool hold(const System& system, Workspace& workspace, const result::Hand& hand) {
  const SystemData& s = system.data();
  if (hand.on == result::Hand::On::frame) {
    if (carried_body(s, hand.index) == nullptr) return false;
    workspace.data().held_by_hand = Held{hand, hand.index};
    return true;
  }
  const std::optional<ThreadPlace> at = hand.index < 0 ? std::nullopt : held_at(s, hand.index);
  if (!at) return false;
  workspace.data().held_by_hand = Held{hand, -1, at->thread, at->s};
  return true;
}

std::optional<Change> cut_at(const System& system, const State& state, int point) {
  const SystemData& s = system.data();
  const std::optional<ThreadPlace> at = point < 0 ? std::nullopt : held_at(s, point);
  if (!at) return {};
  const ThreadInfo& info = s.threads[at->thread];
  const int node = static_cast<int>(std::lround(at->s * info.elements)),
            place = node * (info.fine / info.elements);
  if (node <= 0 || node >= info.elements) return {};
  for (const Cut& c : s.cuts)
    if (c.thread == at->thread && c.place == place) return {};
  Change out;
  out.at = state.t, out.kind = Change::Kind::cut;
  out.beam = BeamId{at->thread};
  out.s = static_cast<double>(node) / info.elements;
  return out;
}

void release(Workspace& workspace) { workspace.data().held_by_hand.reset(); }

result::Pull pull(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  if (!w.held_by_hand) return {};
  const auto& [hand, body, thread, along] = *w.held_by_hand;
  set_mesh(s, state, w);
  if (body >= 0) {
    place_carried(s, state, state.e.data(), w.X_WB);
    const Vec3 x = w.X_WB[body] * hand.p;
    return {x, hand.force(hand.target - x, carried_rate(state, *carried_body(s, body), hand.p).velocity)};
  }
  const Spot at = spot_at(s, state, thread, along);
  const double l = w.length[at.slot];
  const Vec3 x = midline(state.e.data(), at.slot, l, at.xi).x,
             v = midline(state.v.data(), at.slot, l, at.xi).x;
  return {x, hand.force(hand.target - x, v)};
}

result::Fields fields(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  result::Fields out{{"tension", "N", result::Field::On::points, {}},
                     {"bending moment", "N m", result::Field::On::points, {}},
                     {"twist", "rad/m", result::Field::On::points, {}}};
  for (const Piece& p : s.pieces) {
    const std::vector<Station> at = stations(system, state, workspace, p);
    for (const Station& x : at) {
      out[0].values.push_back(static_cast<float>(x.tension));
      out[1].values.push_back(static_cast<float>(x.moment.norm()));
      out[2].values.push_back(static_cast<float>(x.twist));
    }
    for (result::Field& f : out) f.values.resize(f.values.size() + s.point_count(p) - at.size(), none);
  }
  for (result::Field& f : out) f.values.resize(s.layout.point_count(), none);
  return out;
}

std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name) {
  const SystemData& s = system.data();
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    if (s.threads[t].name != name) continue;
    double length = 0, tension = 0, moment = 0, curvature = 0, twist = 0;
    for (const Piece& p : s.pieces) {
      if (p.thread != static_cast<int>(t)) continue;
      const std::vector<Station> at = stations(system, state, workspace, p);
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (i > 0) length += (at[i].x - at[i - 1].x).norm();
        tension = std::max(tension, at[i].tension);
        moment = std::max(moment, at[i].moment.norm());
        curvature = std::max(curvature, at[i].curvature.norm());
        twist = std::max(twist, std::abs(at[i].twist));
      }
    }
    return {{"length", "m", length},
            {"largest tension", "N", tension},
            {"largest bending moment", "N m", moment},
            {"largest curvature", "1/m", curvature},
            {"largest twist", "rad/m", twist},
            {"elements", "", element_count(state, static_cast<int>(t))}};
  }
  return {};
}

bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now) {
  const SystemData& s = system.data();
  if (!s.cuts.empty()) return false;
  const double h = now.time - before.time;
  State next = system.rest();
  next.t = now.time;
  for (int t = 0; t < static_cast<int>(s.threads.size()); ++t) {
    const Line line = find_line(layout, now, s.threads[t].name),
               last = find_line(layout, before, s.threads[t].name);
    if (line.points == nullptr || last.points == nullptr) return false;
    lay_along(s, next, t, line, next.e);
    lay_along(s, next, t, last, next.e_before);
  }
  for (std::size_t i = 0; i < next.e.size(); ++i) next.v[i] = h > 0 ? (next.e[i] - next.e_before[i]) / h : 0;
  Workspace w(system);
  place_fixes(s, next, next.t, next.e.data(), w.data());
  open_ledger(system, next, w);
  state = std::move(next);
  return true;
}

}  // namespace limber::thread
