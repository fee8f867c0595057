// The bytes of a history: every number as it is. What a change of material or section makes of the model is
// made again.
#include <algorithm>

#include "limber/chain/history.h"
#include "limber/chain/ties.h"
#include "limber/result/state_bytes.h"

namespace limber::chain {
namespace {

constexpr const char* kind_of_bytes = "history 1";

using Vec4 = Eigen::Vector4d;

template <class Fixed>
std::vector<double> numbers_of(const std::vector<Fixed>& list) {
  std::vector<double> out;
  out.reserve(list.size() * static_cast<std::size_t>(Fixed::SizeAtCompileTime));
  for (const Fixed& x : list) out.insert(out.end(), x.data(), x.data() + x.size());
  return out;
}
template <class Fixed>
void put_all(const std::vector<Fixed>& list, result::StateWriter& out) {
  out.put(numbers_of(list));
}
// As many as there are.
template <class Fixed>
void get_all(std::vector<Fixed>& list, result::StateReader& in) {
  constexpr auto each = static_cast<std::size_t>(Fixed::SizeAtCompileTime);
  std::vector<double> numbers;
  in.get_any(numbers);
  if (numbers.size() % each != 0) throw std::invalid_argument("state: bytes end too early");
  list.resize(numbers.size() / each);
  for (std::size_t i = 0; i < list.size(); ++i) std::copy_n(numbers.data() + each * i, each, list[i].data());
}

void put_shape(const Shape& shape, result::StateWriter& out) {
  std::vector<Vec4> q;
  for (const Quat& x : shape.q) q.push_back(x.coeffs());
  put_all(shape.theta, out), put_all(q, out), put_all(shape.R, out);
}
// Of so many links.
void get_shape(Shape& shape, std::size_t links, result::StateReader& in) {
  std::vector<Vec4> q;
  get_all(shape.theta, in), get_all(q, in), get_all(shape.R, in);
  if (shape.theta.size() != links || q.size() != links || shape.R.size() != links)
    throw std::invalid_argument("state: bytes are of a system of another size");
  shape.q.clear();
  for (const Vec4& x : q) shape.q.emplace_back(x);
}

void put_rest(const Rest& rest, result::StateWriter& out) {
  put_shape(rest.shape, out);
  out.put(rest.lambda), out.put(rest.factor);
}
void get_rest(Rest& rest, std::size_t links, result::StateReader& in) {
  get_shape(rest.shape, links, in);
  in.get_any(rest.lambda), in.get(rest.factor);
}

void put_severed(const Severed& s, result::StateWriter& out) {
  out.put(s.time), out.put(s.beam), out.put(s.s), out.put(s.stress), out.put(s.structure.size);
  const Links& l = s.structure.links;
  out.put(l.parent), put_all(l.R_f, out), put_all(l.p_f, out), put_all(l.stiffness, out), out.put(l.hinge);
  for (const std::string& name : l.name) out.put(name);
  put_rest(s.rest, out);
}
Severed get_severed(result::StateReader& in) {
  Severed s;
  in.get(s.time), in.get(s.beam), in.get(s.s), in.get(s.stress), in.get(s.structure.size);
  std::vector<int> parent;
  std::vector<Mat3> R;
  std::vector<Vec3> p, k;
  std::vector<std::uint8_t> hinge;
  in.get_any(parent), get_all(R, in), get_all(p, in), get_all(k, in), in.get_any(hinge);
  const std::size_t n = parent.size();
  if (R.size() != n || p.size() != n || k.size() != n || hinge.size() != n)
    result::StateReader::out_of_range();
  for (std::size_t i = 0; i < n; ++i) {
    if (parent[i] < -1 || parent[i] >= static_cast<int>(i)) result::StateReader::out_of_range();
    std::string name;
    in.get(name);
    s.structure.links.add(parent[i], Pose{R[i], p[i]}, k[i], hinge[i] != 0, std::move(name));
  }
  get_rest(s.rest, n, in);
  s.structure.resize_loads();
  s.structure.loads_changed();
  return s;
}

void put_fallen(const std::map<int, Fallen>& fallen, result::StateWriter& out) {
  out.put(static_cast<std::uint64_t>(fallen.size()));
  for (const auto& [link, f] : fallen) {
    out.put(link), out.put(f.time);
    put_all(std::vector<Mat3>{f.X.R}, out), put_all(std::vector<Vec3>{f.X.p, f.g}, out);
  }
}
std::map<int, Fallen> get_fallen(int links, result::StateReader& in) {
  std::map<int, Fallen> out;
  for (std::size_t left = in.length(sizeof(int)); left > 0; --left) {
    int link = 0;
    Fallen f;
    std::vector<Mat3> R;
    std::vector<Vec3> p;
    in.get(link, 0, links - 1), in.get(f.time);
    get_all(R, in), get_all(p, in);
    if (R.size() != 1 || p.size() != 2) result::StateReader::out_of_range();
    f.X = Pose{R[0], p[0]}, f.g = p[1];
    out[link] = f;
  }
  return out;
}

}  // namespace

std::string History::save() const {
  result::StateWriter out;
  out.put(std::string(kind_of_bytes));
  out.put(time_), out.put(static_cast<std::uint8_t>(started_)), out.put(made_), out.put(left_);
  const Links& links = system_->structure().links;
  put_all(links.R_f, out), put_all(links.stiffness, out), out.put(links.active);
  put_rest(rest_, out);
  out.put(std::vector<std::uint64_t>(held_.begin(), held_.end()));
  put_fallen(system_->all_fallen(), out);
  out.put(static_cast<std::uint64_t>(severed_.size()));
  for (const Severed& s : severed_) put_severed(s, out);
  out.put(static_cast<std::uint64_t>(events_.size()));
  for (const HistoryEvent& e : events_) out.put(e.time), out.put(e.text);
  return out.take();
}

void History::load(const std::string& bytes) {
  result::StateReader in(bytes);
  std::string kind;
  in.get(kind);
  if (kind != kind_of_bytes) throw std::invalid_argument("state: bytes are of no history");
  begin();
  const auto n = static_cast<std::size_t>(system_->structure().links.count());
  std::uint8_t started = 0;
  in.get(time_), in.get(started), in.get(made_), in.get(left_);
  started_ = started != 0;

  ModelParts parts = model_.parts();
  std::vector<Change> made;
  for (std::size_t i = 0; i < made_.size(); ++i)
    if (made_[i]) made.push_back(model_.changes()[i]);
  std::ranges::stable_sort(made, {}, &Change::at);
  for (const Change& c : made) change_beam(c, parts);
  rebuild(Model(std::move(parts)));

  Links& links = system_->structure().links;
  std::vector<Mat3> R;
  get_all(R, in), get_all(links.stiffness, in), in.get(links.active);
  if (R.size() != n || links.stiffness.size() != n) result::StateReader::out_of_range();
  for (std::size_t k = 0; k < n; ++k) links.set_rest(static_cast<int>(k), R[k]);
  get_rest(rest_, n, in);
  std::vector<std::uint64_t> held;
  in.get_any(held);
  held_.assign(held.begin(), held.end());
  std::size_t rows = 0;
  for (const std::size_t i : held_) {
    if (i >= ties_.size()) result::StateReader::out_of_range();
    rows += static_cast<std::size_t>(row_count(ties_[i].kind));
  }
  if (rest_.lambda.size() != rows) result::StateReader::out_of_range();
  system_->take_fallen(get_fallen(static_cast<int>(n), in));
  severed_.clear(), events_.clear();
  for (std::size_t left = in.length(1); left > 0; --left) severed_.push_back(get_severed(in));
  for (std::size_t left = in.length(1); left > 0; --left) {
    HistoryEvent& e = events_.emplace_back();
    in.get(e.time), in.get(e.text);
  }
  in.end();
  hold();
  stand_still();
  solver_->stiffness_changed();
}

}  // namespace limber::chain
