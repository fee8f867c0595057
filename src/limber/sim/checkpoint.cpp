#include "limber/sim/checkpoint.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "limber/result/recording.h"
#include "limber/result/state_bytes.h"

namespace limber::sim {

namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian");
constexpr char tag[] = "LIMBCHK5";
constexpr std::size_t tag_size = 8;

constexpr std::size_t crc_size = sizeof(std::uint32_t);

// Every number of a report that is saved, in order; `visit` puts or gets it.
template <class Report, class Visit>
void each_field(Report& r, Visit&& visit) {
  visit(r.time), visit(r.iterations), visit(r.total_iterations), visit(r.steps), visit(r.substeps);
  visit(r.parts), visit(r.rejected);
  visit(r.residual), visit(r.loop_gap), visit(r.contact_residual), visit(r.cone_violation),
      visit(r.contact_overlap), visit(r.redundant_rows), visit(r.redundant), visit(r.solver_iterations);
  visit(r.worst), visit(r.warning);
}

std::uint32_t crc_of(std::string_view bytes) { return result::crc32c(bytes.data(), bytes.size()); }

}  // namespace

std::string encode(const Checkpoint& c) {
  result::StateWriter w;
  w.put(c.hash), w.put(c.step), w.put(c.frames), w.put(c.wall_seconds), w.put(c.saved);
  each_field(c.report, [&](const auto& x) { w.put(x); });
  w.put(c.state);
  std::string bytes = std::string(tag, tag_size) + w.take();
  const std::uint32_t crc = crc_of(bytes);
  return bytes.append(reinterpret_cast<const char*>(&crc), crc_size);
}

Checkpoint decode(const std::string& bytes) {
  if (bytes.size() < tag_size + crc_size) throw std::invalid_argument("it ends too early");
  if (bytes.compare(0, tag_size, tag) != 0)
    throw std::invalid_argument("it is no checkpoint of this version");
  const std::string_view all(bytes), body = all.substr(0, bytes.size() - crc_size);
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + body.size(), crc_size);
  if (crc != crc_of(body)) throw std::invalid_argument("its checksum is wrong");
  result::StateReader r(body.substr(tag_size));
  Checkpoint c;
  r.get(c.hash), r.get(c.step), r.get(c.frames), r.get(c.wall_seconds), r.get(c.saved);
  each_field(c.report, [&](auto& x) { r.get(x); });
  r.get(c.state);
  r.end();
  return c;
}

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  result::write_atomically(file, encode(checkpoint));
}

std::uint64_t fnv1a(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace limber::sim
