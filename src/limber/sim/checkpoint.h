// The checkpoint of a run: all that is needed to go on bit for bit, in one small file that is replaced
// atomically.
//
//   file = "LIMBCHK5", u64 run hash, i64 step, u64 frames, f64 wall seconds, u64 checkpoints,
//          report (f64 time, i64 iterations, total iterations, steps, substeps, parts, … as each_field() has
//          them), string state, u32 crc32c of everything before             (little endian; string = u64
//          length, bytes)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "limber/result/report.h"

namespace limber::sim {

struct Checkpoint {
  std::uint64_t hash = 0;      // of the run it belongs to, see run_hash()
  std::int64_t step = 0;       // finished steps
  std::uint64_t frames = 0;    // recorded until then
  double wall_seconds = 0;     // of all parts of the run so far
  std::uint64_t saved = 0;     // checkpoints so far, this one included
  result::SolveReport report;  // totals so far
  std::string state;           // bytes of the method's state
};

std::string encode(const Checkpoint& checkpoint);
Checkpoint decode(const std::string& bytes);  // throws std::invalid_argument that says what is wrong

void write_checkpoint(const std::filesystem::path& file,
                      const Checkpoint& checkpoint);  // throws result::IoError

std::uint64_t fnv1a(const std::string& bytes);  // 64-bit FNV-1a

}  // namespace limber::sim
