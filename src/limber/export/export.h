// Files for other programs, made from a recording. Each final name appears only when the file is complete.
#pragma once

#include <filesystem>

#include "limber/result/recording.h"

namespace limber::exporting {

// probes.csv: time and every scalar, a line a frame; header "time [s],tip.position.x [m],…"; shortest digits
// that read back to the same double.
void write_csv(result::RecordingReader& recording, const std::filesystem::path& file);

// scene.glb: glTF 2.0 binary with the shapes, the polylines, and one animation of all that moves. y is up in
// glTF: the root node turns limber's z up into it.
void write_glb(result::RecordingReader& recording, const std::filesystem::path& file);

// scene.pvd and vtk/frame_000000.vtp …: surfaces and lines per frame with the body index and the scalars
// (field data), binary appended.
void write_vtk(result::RecordingReader& recording, const std::filesystem::path& folder);

}  // namespace limber::exporting
