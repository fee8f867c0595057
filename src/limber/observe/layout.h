// What a method draws, for every method that sees beams as links: a frame each body, a line each beam and
// spring; and which body carries a point of such a line.
#pragma once

#include <optional>
#include <vector>

#include "limber/elastic/beam_links.h"
#include "limber/observe/source.h"
#include "limber/result/hand.h"
#include "limber/result/snapshot.h"

namespace limber::observe {

using Traces = std::vector<elastic::BeamTrace>;

// A frame each body; fixed: welded to the world.
void add_bodies(const Model& model, result::Layout& layout);
void add_springs(const Model& model, result::Layout& layout);  // a line of two points each
void add_beams(const Traces& traces, result::Layout& layout);

void put_frame(const Pose& X_WB, std::size_t index, result::Snapshot& snapshot);
// The points of add_beams() and, after them, of add_springs().
void put_lines(const Traces& traces, const Model& model, const Source& source, result::Snapshot& snapshot);

// Where a point of put_lines() sits; nullopt: there is no such point.
std::optional<Attachment> carrier_of(const Traces& traces, const Model& model, int point);
// Where a hand holds: a body by its frame, or what carries the point; nullopt: there is nothing.
std::optional<Attachment> held_place(const Traces& traces, const Model& model, const result::Hand& hand);

}  // namespace limber::observe
