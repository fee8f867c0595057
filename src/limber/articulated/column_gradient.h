// How what is probed changes with the state that it is probed at.
//
// Differences, with the links moved one by one: a probe of a place sees one link, so most links cost one
// look. Energies, accelerations and reactions see all of them: there coordinates and rates are moved one by
// one, of which each costs a look at the whole structure.
#pragma once

#include <span>
#include <vector>

#include "limber/articulated/system.h"

namespace limber::articulated {

struct WeightedColumn {
  int column = 0;  // of the layout's scalars
  double weight = 1;
};

// Adds the derivatives of the weighted sum to q_bar (rates) and v_bar, (v_count) each.
void add_column_gradient(const System& system, const State& state, Workspace& workspace,
                         std::span<const WeightedColumn> columns, std::vector<double>& q_bar,
                         std::vector<double>& v_bar);

// The weighted sum itself.
double sum_of_columns(const System& system, const State& state, Workspace& workspace,
                      std::span<const WeightedColumn> columns);

// The columns alone: of links as they stand in w.links; of the state, by placing them.
void put_scalars_placed(const SystemData& s, const State& state, WorkspaceData& w,
                        const result::Energy& energies, result::Snapshot& snapshot);
void put_scalars(const System& system, const State& state, Workspace& workspace, result::Snapshot& snapshot);

}  // namespace limber::articulated
