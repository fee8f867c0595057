#include "limber/rom/pose_batch.h"

#include <algorithm>
#include <cmath>

#include "limber/math/pack.h"

namespace limber::rom {
namespace {

constexpr int lanes = 4, terms = 15;

struct Series {
  double a[terms], b[terms], c[terms];  // sin φ/φ, (1 − cos φ)/φ², (φ − sin φ)/φ³ in powers of φ²
};
constexpr Series series() {
  Series s{};
  double f = 1;  // (2k + 1)!
  for (int k = 0; k < terms; ++k) {
    const double sign = k % 2 == 0 ? 1 : -1;
    s.a[k] = sign / f;
    s.b[k] = sign / (f * (2 * k + 2));
    s.c[k] = sign / (f * (2 * k + 2) * (2 * k + 3));
    f *= (2.0 * k + 2) * (2.0 * k + 3);
  }
  return s;
}
constexpr Series table = series();

// Twists of a block: xi[6][4] += Σ map[c][6][4] u[c].
LIMBER_KERNEL void twists(const double* map, const double* u, int columns, double* xi) {
  double sum[6 * lanes];
  for (int k = 0; k < 6 * lanes; ++k) sum[k] = xi[k];
  for (int c = 0; c < columns; ++c) {
    const double x = u[c];
    const double* m = map + 6 * lanes * c;
    for (int k = 0; k < 6 * lanes; ++k) sum[k] += m[k] * x;
  }
  for (int k = 0; k < 6 * lanes; ++k) xi[k] = sum[k];
}

// pose · exp(xi) into out[12][4]: R by rows, then p.
LIMBER_KERNEL void exponentials(const double* xi, const double* pose, double* out) {
  double x[lanes], a[lanes], b[lanes], c[lanes];
  const double *w0 = xi, *w1 = xi + lanes, *w2 = xi + 2 * lanes, *v0 = xi + 3 * lanes, *v1 = xi + 4 * lanes,
               *v2 = xi + 5 * lanes;
  for (int l = 0; l < lanes; ++l) {
    x[l] = w0[l] * w0[l] + w1[l] * w1[l] + w2[l] * w2[l];
    a[l] = table.a[terms - 1], b[l] = table.b[terms - 1], c[l] = table.c[terms - 1];
  }
  for (int k = terms - 2; k >= 0; --k)
    for (int l = 0; l < lanes; ++l) {
      a[l] = a[l] * x[l] + table.a[k];
      b[l] = b[l] * x[l] + table.b[k];
      c[l] = c[l] * x[l] + table.c[k];
    }
  double R[9][lanes], p[3][lanes];
  for (int l = 0; l < lanes; ++l) {
    const double xx = w0[l] * w0[l], yy = w1[l] * w1[l], zz = w2[l] * w2[l];
    const double xy = b[l] * (w0[l] * w1[l]), xz = b[l] * (w0[l] * w2[l]), yz = b[l] * (w1[l] * w2[l]);
    R[0][l] = 1 - b[l] * (yy + zz), R[1][l] = xy - a[l] * w2[l], R[2][l] = xz + a[l] * w1[l];
    R[3][l] = xy + a[l] * w2[l], R[4][l] = 1 - b[l] * (xx + zz), R[5][l] = yz - a[l] * w0[l];
    R[6][l] = xz - a[l] * w1[l], R[7][l] = yz + a[l] * w0[l], R[8][l] = 1 - b[l] * (xx + yy);
    // v + b θ × v + c θ × (θ × v)
    const double s0 = w1[l] * v2[l] - w2[l] * v1[l], s1 = w2[l] * v0[l] - w0[l] * v2[l],
                 s2 = w0[l] * v1[l] - w1[l] * v0[l];
    p[0][l] = v0[l] + b[l] * s0 + c[l] * (w1[l] * s2 - w2[l] * s1);
    p[1][l] = v1[l] + b[l] * s1 + c[l] * (w2[l] * s0 - w0[l] * s2);
    p[2][l] = v2[l] + b[l] * s2 + c[l] * (w0[l] * s1 - w1[l] * s0);
  }
  for (int i = 0; i < 3; ++i) {
    const double* r = pose + 3 * lanes * i;
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < lanes; ++l)
        out[(3 * i + j) * lanes + l] =
            r[l] * R[j][l] + r[lanes + l] * R[3 + j][l] + r[2 * lanes + l] * R[6 + j][l];
    for (int l = 0; l < lanes; ++l)
      out[(9 + i) * lanes + l] =
          pose[(9 + i) * lanes + l] + r[l] * p[0][l] + r[lanes + l] * p[1][l] + r[2 * lanes + l] * p[2][l];
  }
}

// Lane l of a block of poses.
Pose get(const double* block, int l) {
  Pose out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.R(r, c) = block[(3 * r + c) * lanes + l];
    out.p[r] = block[(9 + r) * lanes + l];
  }
  return out;
}
void put(const Pose& X, double* block, int l) {
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) block[(3 * r + c) * lanes + l] = X.R(r, c);
    block[(9 + r) * lanes + l] = X.p[r];
  }
}

// The exponentials, and the plain way for links that have turned by more than half a turn.
void move(const double* xi, const double* pose, double* out) {
  exponentials(xi, pose, out);
  for (int l = 0; l < lanes; ++l) {
    const double turn = xi[l] * xi[l] + xi[lanes + l] * xi[lanes + l] + xi[2 * lanes + l] * xi[2 * lanes + l];
    if (turn <= pi * pi) continue;
    Vec6 far;
    for (int k = 0; k < 6; ++k) far[k] = xi[k * lanes + l];
    put(get(pose, l) * math::se3_exp(far), out, l);
  }
}

}  // namespace

LinkMaps make_maps(const std::vector<Pose>& X, const std::vector<double>& map, int columns) {
  LinkMaps out;
  out.links = static_cast<int>(X.size());
  out.columns = columns;
  const int blocks = (out.links + lanes - 1) / lanes;
  out.map.assign(static_cast<std::size_t>(blocks) * columns * 6 * lanes, 0.0);
  out.pose.assign(static_cast<std::size_t>(blocks) * 12 * lanes, 0.0);
  for (int i = 0; i < out.links; ++i) {
    const std::size_t b = i / lanes, l = i % lanes;
    for (int c = 0; c < columns; ++c)
      for (int k = 0; k < 6; ++k)
        out.map[((b * columns + c) * 6 + k) * lanes + l] =
            map[(static_cast<std::size_t>(i) * columns + c) * 6 + k];
    put(X[i], out.pose.data() + b * 12 * lanes, static_cast<int>(l));
  }
  return out;
}

void pose_blocks(const std::vector<BlendPart>& parts, int begin, int end, Pose* X) {
  alignas(32) double xi[6 * lanes], out[12 * lanes];
  const LinkMaps& first = *parts[0].maps;
  for (int b = begin; b < end; ++b) {
    std::fill(xi, xi + 6 * lanes, 0.0);
    for (const BlendPart& part : parts) twists(part.maps->map_of(b), part.x, first.columns, xi);
    move(xi, first.pose_of(b), out);
    for (int l = 0; l < std::min(lanes, first.links - b * lanes); ++l) X[b * lanes + l] = get(out, l);
  }
}

}  // namespace limber::rom
