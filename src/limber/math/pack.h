// Four doubles side by side. Only +, −, ×, ÷ of each lane, never fused: a kernel written with packs has the
// same bits on every CPU, whatever its vectors' width.
#pragma once

#pragma GCC diagnostic ignored "-Wpsabi"  // packs are only passed to functions that are inlined

#define LIMBER_INLINE inline __attribute__((always_inline))
#define LIMBER_LAMBDA __attribute__((always_inline))
// A kernel is compiled for wide vectors and for the oldest x86-64, and the one that fits is taken at the
// start.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMBER_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define LIMBER_KERNEL
#endif

namespace limber::math {

inline constexpr int lanes = 4;
using Pack = double __attribute__((vector_size(32)));
using LoosePack = double __attribute__((vector_size(32), aligned(8), may_alias));

LIMBER_INLINE Pack pack(double x) { return Pack{x, x, x, x}; }
LIMBER_INLINE Pack load(const double* p) { return *reinterpret_cast<const LoosePack*>(p); }
LIMBER_INLINE void store(double* p, Pack x) { *reinterpret_cast<LoosePack*>(p) = x; }

}  // namespace limber::math
