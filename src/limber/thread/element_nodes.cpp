// A node's gradient and diagonal block from the two elements at it (element.cpp leaves their halves).
#include "limber/thread/element_gradient.h"

namespace limber::thread {
namespace {

// A node's gradient and diagonal block from the two elements at it: node j has the first half of slot j and
// the second half of slot j − 1. Slots before 0 and empty ones hold zeros.
LIMBER_KERNEL void nodes_kernel(int nodes, bool tangent, ElementArrays& a) {
  const Table& t = a.constants;
  for (int j = 0; j < nodes; j += lanes) {
    const Strain e = load_strain(a.strain, 0, j);
    const NodeMap map = node_map(e);
    const auto both = [&](const Table& table, int first, int second) LIMBER_LAMBDA {
      Pack x = load(table[first] + j);
      Pack y = j == 0 ? Pack{0, table[second][0], table[second][1], table[second][2]}
                      : load(table[second] + j - 1);
      return x + y;
    };
    P3 x, m;
    Pack S[6];
    for (int i = 0; i < 3; ++i) {
      x[i] = both(a.force, i, 12 + i);
      m[i] = both(a.force, 3 + i, 15 + i);
    }
    for (int i = 0; i < 6; ++i) S[i] = both(a.force, 6 + i, 18 + i);
    Pack column[12];
    for (int i = 0; i < 3; ++i) column[i] = x[i];
    P3 mu = map_row(map, m, S, column + 3);
    store_rows<12>(a.g.data(), j, nodes, 0, 0, column);
    if (!tangent) continue;
    if (a.geometric != 1 || a.foresees) {
      const Pack share = pack(a.foresees ? 0 : a.geometric);
      mu = share * mu;
      for (Pack& x_S : S) x_S *= share;
    }

    const auto half = [&](int row) LIMBER_LAMBDA { return both(a.half, row, half_rows + row); };
    const auto constant = [&](int first, int second) LIMBER_LAMBDA {
      const Pack s1 = load(t[slot::scale] + j), k1 = load(t[first] + j);
      Pack s2, k2;
      if (j == 0) {
        s2 = Pack{0, t[slot::scale][0], t[slot::scale][1], t[slot::scale][2]};
        k2 = Pack{0, t[second][0], t[second][1], t[second][2]};
      } else {
        s2 = load(t[slot::scale] + j - 1), k2 = load(t[second] + j - 1);
      }
      return s1 * k1 + s2 * k2;
    };
    Pack H[12][12];
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) {
        H[i][3 + l] = H[3 + l][i] = half(9 + 3 * i + l);
        if (l < i) continue;
        H[i][l] = H[l][i] = half(3 * i + l);
        H[3 + i][3 + l] = H[3 + l][3 + i] = half(18 + 3 * i + l);
      }
    for (int c = 0; c < 5; ++c)
      for (int i = 0; i < 3; ++i) {
        H[i][6 + c] = H[6 + c][i] = half(27 + 3 * c + i);
        H[3 + i][6 + c] = H[6 + c][3 + i] = half(42 + 3 * c + i);
      }
    for (int i = 0; i < 6; ++i) {
      H[i][11] = H[11][i] = pack(0);
      for (int l = 0; l < 6; ++l) H[6 + i][6 + l] = pack(0);
    }
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l)
        H[6 + i][6 + l] = constant(slot::axial + upper7(1 + i, 1 + l), slot::axial + upper7(4 + i, 4 + l));
    H[9][9] = constant(slot::shear_y + 3, slot::shear_y + 5) + constant(slot::bend_z, slot::bend_z);
    H[10][10] = constant(slot::shear_z + 3, slot::shear_z + 5) + constant(slot::bend_y, slot::bend_y);
    H[11][11] = constant(slot::skew_yz, slot::skew_yz + 2);

    // Curvature of the map from F to (P, U): θ' and V' of a straight path in F.
    P33 U, T;  // U, and the gradient in U as a tensor
    const int index[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) {
        U(i, l) = e.v[index[i][l]];
        T(i, l) = i == l ? S[index[i][l]] : 0.5 * S[index[i][l]];
      }
    for (int i = 0; i < 3; ++i) U(i, i) += pack(1);
    const P33 UT = U * T, mU = times_skew(U, mu);
    const Pack trace = UT(0, 0) + UT(1, 1) + UT(2, 2);
    const P33 turn = symmetric(mU) - symmetric(UT) + diagonal(trace);
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < 3; ++l) H[3 + i][3 + l] += turn(i, l);
    // −μ tr V + Vμ + axial(VT − TV) for each component of V.
    const Pack o = pack(0);
    const P3 block[6] = {{{o, T(0, 2) - mu[1], -T(0, 1) - mu[2]}},
                         {{-T(1, 2) - mu[0], o, T(1, 0) - mu[2]}},
                         {{T(2, 1) - mu[0], -T(2, 0) - mu[1], o}},
                         {{mu[1] - T(0, 2), mu[0] + T(1, 2), T(0, 0) - T(1, 1)}},
                         {{mu[2] + T(0, 1), T(2, 2) - T(0, 0), mu[0] - T(2, 1)}},
                         {{T(1, 1) - T(2, 2), mu[2] - T(1, 0), mu[1] + T(2, 0)}}};
    for (int c = 0; c < 6; ++c)
      for (int i = 0; i < 3; ++i) {
        H[3 + i][6 + c] += block[c][i];
        H[6 + c][3 + i] += block[c][i];
      }
    Pack A[12][12];
    for (int r = 0; r < 6; ++r) {
      for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
      map_row(map, {{H[r][3], H[r][4], H[r][5]}}, &H[r][6], &A[r][3]);
    }
    for (int r = 6; r < 12; ++r)
      for (int i = 0; i < 3; ++i) A[r][i] = H[r][i];
    for (int r = 6; r < 9; ++r) map_axial(map, {{H[r][3], H[r][4], H[r][5]}}, &H[r][6], &A[r][3]);
    map_shear<0>(map, {{H[9][3], H[9][4], H[9][5]}}, H[9][9], &A[9][3]);
    map_shear<1>(map, {{H[10][3], H[10][4], H[10][5]}}, H[10][10], &A[10][3]);
    map_shear<2>(map, {{H[11][3], H[11][4], H[11][5]}}, H[11][11], &A[11][3]);
    // Of the rows only the upper triangle, in packs: columns 0 … 3 go down to row 3.
    Pack out[12][12];
    for (int c = 0; c < 12; ++c) {
      for (int i = 0; i < 3; ++i) out[i][c] = A[i][c];
      out[3][c] = A[6][c];
    }
    for (int c = 4; c < 12; ++c) {
      const Pack E[6] = {A[6][c], A[7][c], A[8][c], A[9][c], A[10][c], A[11][c]};
      Pack rows[9];
      map_row(map, {{A[3][c], A[4][c], A[5][c]}}, E, rows);
      for (int i = 1; i < 9; ++i) out[3 + i][c] = rows[i];
    }
    const Pack mw = load(a.weight[0] + j);
    const auto mass = [&](int row) LIMBER_LAMBDA { return mw * load(a.node_constants[row] + j); };
    for (int i = 0; i < 3; ++i) {
      out[i][i] += mass(node::mass_xx);
      out[i][3 + i] += mass(node::mass_xs);
      out[3 + i][i] += mass(node::mass_xs);
      out[3 + i][3 + i] += mass(node::mass_ss);
      out[6 + i][6 + i] += mass(node::mass_yy);
      out[9 + i][9 + i] += mass(node::mass_zz);
    }
    for (int r = 0; r < 12; ++r) store_rows<144>(a.D.data(), j, nodes, r, r / 4 * 4, out[r]);
  }
}

}  // namespace

void assemble_nodes(int nodes, bool tangent, ElementArrays& a) { nodes_kernel(nodes, tangent, a); }

}  // namespace limber::thread
