// Links that stretch and shear (docs/theory/chain.md): the shift e before a joint follows from the force N
// that hangs on it, e = C Rᵀ N in the axes of the parent's link. Under dead loads and closures N does not
// know where links are, so that e is a function of the links' turns and the closures' forces alone: nothing
// is added to the unknowns. With B = R C Rᵀ the condensed potential −½ NᵀBN of a joint has, by the parent's
// turn Ω, the second derivative −[N]ᵀB[N] beside that of a dead load at the shifted place; a closure's row f
// is opened by B f where its own force stretches links, and by B (N × Ω).
#pragma once

#include "limber/chain/structure.h"

namespace limber::chain {

// Where links are, turned by `shape` and stretched by what acts on them: balance.R and balance.in.c.
void stand(const Structure& s, const Shape& shape, double factor, const std::vector<double>& lambda,
           Balance& balance);

}  // namespace limber::chain
