// The file of a reduced model, little endian:
//
//   "limber-rom\n", u32 version, u32 CRC-32C of the payload, u64 its length, payload
//
// The payload holds the scene's text and every number of every point, so the file needs nothing beside it.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "limber/result/recording.h"
#include "limber/result/state_bytes.h"
#include "limber/rom/blend.h"
#include "limber/rom/rom.h"

namespace limber::rom {
namespace {

constexpr char magic[] = "limber-rom\n";
constexpr std::size_t magic_size = sizeof magic - 1;
constexpr std::uint32_t version = 4;

// One walk over all fields, for writing and for reading.
struct Writer {
  result::StateWriter out;
  static constexpr bool reads = false;
  template <class T>
  void number(const T& x) {
    out.put(x);
  }
  template <class T>
  void list(const std::vector<T>& x) {
    out.put(x);
  }
  void text(const std::string& x) { out.put(x); }
};
struct Reader {
  result::StateReader in;
  static constexpr bool reads = true;
  template <class T>
  void number(T& x) {
    in.get(x);
  }
  template <class T>
  void list(std::vector<T>& x) {
    in.get_any(x);
  }
  void text(std::string& x) { in.get(x); }
};

template <class File, class Text>
void text(File& f, Text& x) {
  f.text(x);
}
template <class File, class T>
void whole(File& f, T& x) {
  std::int64_t value = static_cast<std::int64_t>(x);
  f.number(value);
  if constexpr (File::reads) {
    x = static_cast<std::remove_const_t<T>>(value);
    if (static_cast<std::int64_t>(x) != value) result::StateReader::out_of_range();
  }
}
template <class File, class M>
void matrix(File& f, M& x) {
  std::int64_t rows = x.rows(), cols = x.cols();
  f.number(rows), f.number(cols);
  std::vector<double> data(x.data(), x.data() + x.size());
  f.list(data);
  if constexpr (File::reads) {
    if (rows < 0 || cols < 0 || rows > 100000 || cols > 100000 ||
        static_cast<std::size_t>(rows * cols) != data.size())
      throw std::invalid_argument("state: a matrix has another size than it says");
    x.resize(rows, cols);
    std::copy(data.begin(), data.end(), x.data());
  }
}
template <class File, class List, class Each>
void items(File& f, List& x, Each each) {
  if constexpr (File::reads) {
    x.clear();
    const std::size_t n = f.in.length(1);
    for (std::size_t k = 0; k < n; ++k) each(x.emplace_back());  // no more memory than there are bytes for
  } else {
    f.number(static_cast<std::uint64_t>(x.size()));
    for (auto& item : x) each(item);
  }
}
template <class File, class V>
void vec3(File& f, V& x) {
  for (int k = 0; k < 3; ++k) f.number(x[k]);
}
template <class File, class P>
void pose(File& f, P& X) {
  for (int k = 0; k < 9; ++k) f.number(X.R.data()[k]);
  vec3(f, X.p);
}
template <class File, class I>
void inertia(File& f, I& x) {
  f.number(x.m);
  vec3(f, x.h);
  for (int k = 0; k < 9; ++k) f.number(x.I.data()[k]);
}

template <class File, class P>
void point(File& f, P& p) {
  items(f, p.X, [&](auto& X) { pose(f, X); });
  matrix(f, p.input);
  f.number(p.time), f.number(p.energy);
  matrix(f, p.at), matrix(f, p.wrench), matrix(f, p.slope);
  for (auto* m : {&p.C, &p.K, &p.response, &p.M, &p.D, &p.momentum, &p.watched_rows, &p.watched_compliance})
    matrix(f, *m);
  inertia(f, p.inertia);
  whole(f, p.rank);
  f.list(p.map);
  f.list(p.watched_at);
}

template <class File, class Mech>
void mechanism(File& f, Mech& m) {
  text(f, m.name);
  items(f, m.bodies, [&](auto& b) { whole(f, b); });
  items(f, m.names, [&](auto& name) { text(f, name); });
  items(f, m.ends, [&](auto& e) { whole(f, e); });
  whole(f, m.free_base);
  f.number(m.radius);
  whole(f, m.modes);
  items(f, m.inputs, [&](auto& x) { whole(f, x.joint), whole(f, x.dof), f.number(x.gain); });
  items(f, m.limits,
        [&](auto& x) { whole(f, x.joint), whole(f, x.dof), whole(f, x.upper), f.number(x.bound); });
  items(f, m.servos, [&](auto& x) {
    whole(f, x.joint), whole(f, x.dof);
    f.number(x.kp), f.number(x.kd), f.number(x.most);
  });
  items(f, m.sites, [&](auto& x) { whole(f, x.a), whole(f, x.b), vec3(f, x.on_a), vec3(f, x.on_b); });
  items(f, m.inertias, [&](auto& x) { inertia(f, x); });
  matrix(f, m.directions), matrix(f, m.labels), matrix(f, m.rest);
  items(f, m.points, [&](auto& p) { point(f, p); });
  auto& q = m.quality;
  whole(f, q.tested), whole(f, q.beyond);
  for (auto* x : {&q.gap_bound, &q.end_bound, &q.gap, &q.end, &q.force, &q.moment, &q.reached, &q.share})
    f.number(*x);
}

// Numbers that a hand-made file could get wrong and a run would trip over.
void check(const Mechanism& m) {
  const auto wrong = [](const char* what) {
    throw std::invalid_argument(fmt::format("reduced model: {}", what));
  };
  const int links = static_cast<int>(m.bodies.size()), n = m.coordinates(), columns = m.columns();
  const int inputs = static_cast<int>(m.inputs.size()), watched = m.watched();
  if (m.names.size() != m.bodies.size() || m.inertias.size() != m.bodies.size())
    wrong("lists of links differ in length");
  if (m.ends.empty() || m.points.empty() || m.modes < 0) wrong("it has no end effector or no point");
  for (const int e : m.ends)
    if (e < 0 || e >= links) wrong("an end effector is no link of it");
  for (const JointSite& s : m.sites)
    if (s.a < -1 || s.a >= links || s.b < -1 || s.b >= links) wrong("a joint is not between its links");
  const auto is_coordinate = [&](int joint, int dof) {
    return joint >= 0 && joint < links && dof >= 0 && dof < 6;
  };
  for (const Input& i : m.inputs)
    if (!is_coordinate(i.joint, i.dof)) wrong("an input is of no joint of it");
  for (const JointLimit& l : m.limits)
    if (!is_coordinate(l.joint, l.dof)) wrong("a limit is of no joint of it");
  for (const CappedServo& c : m.servos)
    if (!is_coordinate(c.joint, c.dof) || !(c.most > 0) || !(c.kp >= 0) || !(c.kd >= 0))
      wrong("a servo of it makes no sense");
  if (n < 1 || m.labels.rows() != m.rest.size() || m.directions.rows() != m.labels.rows() ||
      m.directions.cols() != n)
    wrong("its coordinates are not those of its joints");
  const int ends = 6 * static_cast<int>(m.ends.size());
  for (const Point& p : m.points) {
    const bool good =
        static_cast<int>(p.X.size()) == links && p.at.size() == n && p.input.size() == inputs &&
        p.wrench.size() == ends && p.slope.size() == columns && p.C.rows() == ends && p.C.cols() == ends &&
        p.K.rows() == ends && p.K.cols() == ends && p.response.rows() == columns &&
        p.response.cols() == columns && p.M.rows() == n && p.M.cols() == n && p.D.rows() == n &&
        p.D.cols() == n && p.momentum.rows() == 6 && p.momentum.cols() == n &&
        p.watched_rows.rows() == watched && p.watched_rows.cols() == columns &&
        p.watched_compliance.rows() == watched && p.watched_compliance.cols() == watched &&
        static_cast<int>(p.watched_at.size()) == watched &&
        p.map.size() == static_cast<std::size_t>(links) * 6 * columns && p.rank >= 1 && p.rank <= ends;
    if (!good) wrong("a point has matrices of another size");
  }
}

}  // namespace

std::string save(const ModelFile& file) {
  Writer w;
  std::string scene = file.scene;
  text(w, scene);
  std::vector<Mechanism> mechanisms = file.model.mechanisms;
  items(w, mechanisms, [&](auto& m) { mechanism(w, m); });
  const std::string payload = w.out.take();
  std::string out(magic, magic_size);
  const auto append = [&](const auto& x) { out.append(reinterpret_cast<const char*>(&x), sizeof x); };
  append(version);
  append(result::crc32c(payload.data(), payload.size()));
  append(static_cast<std::uint64_t>(payload.size()));
  return out + payload;
}

ModelFile load(const std::string& bytes) {
  constexpr std::size_t head = magic_size + 16;
  if (bytes.size() < head || bytes.compare(0, magic_size, magic, magic_size) != 0)
    throw std::invalid_argument("not a reduced model (made by `limber reduce`)");
  std::uint32_t its_version = 0, crc = 0;
  std::uint64_t size = 0;
  std::memcpy(&its_version, bytes.data() + magic_size, 4);
  std::memcpy(&crc, bytes.data() + magic_size + 4, 4);
  std::memcpy(&size, bytes.data() + magic_size + 8, 8);
  if (its_version != version)
    throw std::invalid_argument(fmt::format(
        "a reduced model of version {}; this limber reads version {}: make it again", its_version, version));
  if (bytes.size() - head != size)
    throw std::invalid_argument(
        fmt::format("a reduced model of {} bytes that should have {}: it is cut off or has grown",
                    bytes.size(), size + head));
  const std::string payload = bytes.substr(head);
  if (result::crc32c(payload.data(), payload.size()) != crc)
    throw std::invalid_argument("a damaged reduced model: its checksum does not fit");
  ModelFile out;
  Reader r{result::StateReader(payload)};
  text(r, out.scene);
  items(r, out.model.mechanisms, [&](auto& m) { mechanism(r, m); });
  r.in.end();
  for (Mechanism& m : out.model.mechanisms) {
    check(m);
    join_points(m);
  }
  return out;
}

}  // namespace limber::rom
