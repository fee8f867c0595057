// The columns that probes make, for every method: names, units, order, and how each number follows from what
// a method can tell.
#pragma once

#include <vector>

#include "limber/model/features.h"
#include "limber/observe/source.h"
#include "limber/result/snapshot.h"

namespace limber::observe {

// The probes that have columns in the answer to a question: those of the model that it honours; of a run
// besides, under their usual names, all energies that it knows, and contact where there is any.
std::vector<Probe> columns_for(const Model& model, Question question);

int column_count(const Model& model, const Probe& probe);
// Names and units of all columns, added to the layout's scalars.
void add_columns(const Model& model, const std::vector<Probe>& probes, result::Layout& layout);

// The numbers of all columns into the first of the snapshot's scalars; how many they are.
std::size_t put_columns(const Model& model, const std::vector<Probe>& probes, const Source& source,
                        result::Snapshot& snapshot);

}  // namespace limber::observe
