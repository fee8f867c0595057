#pragma once

// Allocations by operator new in the whole program so far.
long allocation_count();
