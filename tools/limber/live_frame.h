// A frame of the live view as bytes, little endian:
//
//   u32 "LIMF", epoch of the scene message it belongs to, index, flags (1 paused, 2 held, 4 failed)
//   f64 time, last command it knows of, force of the handle (3), its point (3), simulated seconds a second,
//       last command that a step was made after (its poses feel it), seconds that this one waited for its
//       frame
//   f64 scalars;  f32 rotations (w,x,y,z), positions, points, values of the fields, places (x,y,z) with the
//       forces of things that press on each other, to the end
//
// viewer/src/data.ts reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/snapshot.h"
#include "limber/result/touch.h"

namespace limber::cli {

struct LiveFrameHead {
  std::uint32_t epoch = 0, index = 0;
  bool paused = false, held = false, failed = false;
  double command = 0, pace = 0;
  double felt = 0, answer = 0;  // [s]
  result::Pull pull;
};

std::shared_ptr<const std::string> encode_live_frame(const LiveFrameHead& head,
                                                     const result::Snapshot& snapshot,
                                                     const result::Fields& fields,
                                                     const result::Touches& touches);

}  // namespace limber::cli
