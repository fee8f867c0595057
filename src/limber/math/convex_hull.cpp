#include "limber/math/convex_hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace limber::math {
namespace {

struct Triangle {
  std::array<int, 3> v;
  std::array<int, 3> next;  // neighbour across the edge v[i] – v[i+1]
  Vec3 normal;
  double offset = 0;
  bool alive = true;
};

struct RimEdge {
  int a, b, outside;  // the face that stays, across it
};

class Builder {
 public:
  explicit Builder(const std::vector<Vec3>& points) : points_(points) {
    Vec3 low = points[0], high = points[0];
    for (const Vec3& p : points) low = low.cwiseMin(p), high = high.cwiseMax(p);
    flat_ = 1e-10 * (high - low).norm();
  }

  void run() {
    start();
    // Every round takes one more point for good, so it ends.
    std::vector<char> used(points_.size(), 0);
    for (std::size_t round = 0; round < points_.size(); ++round) {
      int best = -1, face = -1;
      double most = flat_;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (used[i]) continue;
        for (std::size_t f = 0; f < faces_.size(); ++f) {
          if (!faces_[f].alive) continue;
          const double d = height(faces_[f], static_cast<int>(i));
          if (d > most) most = d, best = static_cast<int>(i), face = static_cast<int>(f);
        }
      }
      if (best < 0) return;
      used[best] = 1;
      add(best, face);
    }
  }

  ConvexHull polygons() {
    ConvexHull out;
    group();
    std::vector<int> name(points_.size(), -1);
    std::vector<char> corner(points_.size(), 0);
    for (std::size_t f = 0; f < faces_.size(); ++f)
      for (int i = 0; i < 3; ++i)
        if (faces_[f].alive && group_[faces_[f].next[i]] != group_[f]) corner[faces_[f].v[i]] = 1;
    for (std::size_t i = 0; i < points_.size(); ++i)
      if (corner[i]) name[i] = static_cast<int>(out.vertices.size()), out.vertices.push_back(points_[i]);
    for (const Vec3& p : out.vertices) out.inside += p / static_cast<double>(out.vertices.size());
    for (int g = 0; g < groups_; ++g) trace(g, name, out);
    return out;
  }

 private:
  double height(const Triangle& f, int i) const { return f.normal.dot(points_[i]) - f.offset; }

  Triangle triangle(int a, int b, int c) const {
    Triangle t{{a, b, c}, {-1, -1, -1}, {}, 0, true};
    t.normal = (points_[b] - points_[a]).cross(points_[c] - points_[a]);
    const double l = t.normal.norm();
    if (l > 0) t.normal /= l;
    t.offset = t.normal.dot(points_[a]);
    return t;
  }

  template <class Measure>
  int farthest(Measure measure) const {
    int best = 0;
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (measure(points_[i]) > measure(points_[best])) best = static_cast<int>(i);
    return best;
  }

  // Four points far apart.
  void start() {
    const int a = farthest([](const Vec3& p) { return p.x() + 1e-3 * p.y() + 1e-6 * p.z(); });
    const int b = farthest([&](const Vec3& p) { return (p - points_[a]).norm(); });
    const Vec3 u = points_[b] - points_[a];
    const int c = farthest([&](const Vec3& p) { return u.cross(p - points_[a]).norm(); });
    const Vec3 n = u.cross(points_[c] - points_[a]);
    const int d = farthest([&](const Vec3& p) { return std::abs(n.dot(p - points_[a])); });
    const double volume = n.dot(points_[d] - points_[a]);
    if (!(std::abs(volume) > 1e-8 * n.norm() * u.norm()))
      throw std::invalid_argument("the points lie in a plane");
    const std::array<int, 4> v = volume > 0 ? std::array{a, c, b, d} : std::array{a, b, c, d};
    // Seen from outside: abc below d.
    faces_ = {triangle(v[0], v[1], v[2]), triangle(v[0], v[3], v[1]), triangle(v[1], v[3], v[2]),
              triangle(v[2], v[3], v[0])};
    for (std::size_t f = 0; f < 4; ++f) link(static_cast<int>(f));
  }

  // Finds f's neighbours among all faces; only for the first four.
  void link(int f) {
    for (int i = 0; i < 3; ++i)
      for (std::size_t g = 0; g < faces_.size(); ++g)
        for (int k = 0; k < 3; ++k)
          if (faces_[g].v[k] == faces_[f].v[(i + 1) % 3] && faces_[g].v[(k + 1) % 3] == faces_[f].v[i])
            faces_[f].next[i] = static_cast<int>(g);
  }

  void add(int point, int seen) {
    std::vector<int> stack{seen};
    std::vector<RimEdge> rim;
    faces_[seen].alive = false;
    while (!stack.empty()) {
      const int f = stack.back();
      stack.pop_back();
      for (int i = 0; i < 3; ++i) {
        const int g = faces_[f].next[i];
        if (!faces_[g].alive || height(faces_[g], point) <= -flat_) continue;
        faces_[g].alive = false;
        stack.push_back(g);
      }
    }
    for (const Triangle& f : faces_)
      for (int i = 0; i < 3; ++i)
        if (!f.alive && f.next[i] >= 0 && faces_[f.next[i]].alive)
          rim.push_back({f.v[i], f.v[(i + 1) % 3], f.next[i]});
    for (Triangle& f : faces_)
      if (!f.alive) f.next = {-1, -1, -1};  // buried
    join(point, rim);
  }

  void join(int point, const std::vector<RimEdge>& rim) {
    const int first = static_cast<int>(faces_.size()), n = static_cast<int>(rim.size());
    for (int i = 0; i < n; ++i) {
      Triangle t = triangle(rim[i].a, rim[i].b, point);
      t.next[0] = rim[i].outside;
      for (int k = 0; k < n; ++k) {
        if (rim[k].a == rim[i].b) t.next[1] = first + k;
        if (rim[k].b == rim[i].a) t.next[2] = first + k;
      }
      Triangle& out = faces_[rim[i].outside];
      for (int k = 0; k < 3; ++k)
        if (out.v[k] == rim[i].b && out.v[(k + 1) % 3] == rim[i].a) out.next[k] = first + i;
      faces_.push_back(t);
    }
  }

  // Numbers the planes of the faces.
  void group() {
    group_.assign(faces_.size(), -1);
    for (std::size_t f = 0; f < faces_.size(); ++f) {
      if (!faces_[f].alive || group_[f] >= 0) continue;
      std::vector<int> stack{static_cast<int>(f)};
      group_[f] = groups_;
      while (!stack.empty()) {
        const Triangle t = faces_[stack.back()];
        stack.pop_back();
        for (const int g : t.next) {
          if (group_[g] >= 0) continue;
          bool same = true;
          for (const int v : faces_[g].v) same = same && std::abs(height(faces_[f], v)) <= 10 * flat_;
          if (same) group_[g] = groups_, stack.push_back(g);
        }
      }
      ++groups_;
    }
  }

  // The rim of a group as a loop, and those of its edges where it comes first.
  void trace(int g, const std::vector<int>& name, ConvexHull& out) const {
    struct Side {
      int a, b, across;
    };
    std::vector<Side> sides;
    Vec3 normal = Vec3::Zero();
    for (std::size_t f = 0; f < faces_.size(); ++f) {
      if (group_[f] != g) continue;
      const Triangle& t = faces_[f];
      normal += (points_[t.v[1]] - points_[t.v[0]]).cross(points_[t.v[2]] - points_[t.v[0]]);
      for (int i = 0; i < 3; ++i)
        if (group_[t.next[i]] != g) sides.push_back({t.v[i], t.v[(i + 1) % 3], group_[t.next[i]]});
    }
    HullFace face{static_cast<int>(out.loops.size()), static_cast<int>(sides.size()), normal.normalized()};
    int at = sides[0].a;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto side = std::find_if(sides.begin(), sides.end(), [&](const Side& s) { return s.a == at; });
      if (side == sides.end()) throw std::invalid_argument("the points are too close to a plane");
      out.loops.push_back(name[at]);
      if (g < side->across) out.edges.push_back({name[side->a], name[side->b], g, side->across});
      at = side->b;
    }
    out.faces.push_back(face);
  }

  const std::vector<Vec3>& points_;
  double flat_ = 0;  // distances below this are none [m]
  std::vector<Triangle> faces_;
  std::vector<int> group_;
  int groups_ = 0;
};

}  // namespace

ConvexHull convex_hull(const std::vector<Vec3>& points) {
  for (const Vec3& p : points)
    if (!p.allFinite()) throw std::invalid_argument("the points must be finite");
  if (points.size() < 4) throw std::invalid_argument("a convex hull needs at least four points");
  Builder builder(points);
  builder.run();
  return builder.polygons();
}

}  // namespace limber::math
