// Colours that people with any kind of colour vision can tell apart: cividis (Nuñez, Anderton, Renslow 2018) for numbers,
// Okabe and Ito (2008) for curves.

const cividis = [
  [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115],
  [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56],
];

// sRGB in 0…1 at a place in 0…1.
export function mapColor(x: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, x)) * (cividis.length - 1);
  const k = Math.min(cividis.length - 2, Math.floor(at));
  const mix = (c: number) => (cividis[k][c] + (at - k) * (cividis[k + 1][c] - cividis[k][c])) / 255;
  return [mix(0), mix(1), mix(2)];
}

export function mapGradient(): string {
  return `linear-gradient(to right, ${cividis.map((c) => `rgb(${c.join(',')})`).join(', ')})`;
}

// For the GPU: n texels, RGBA bytes.
export function mapTexels(n: number): Uint8Array {
  const texels = new Uint8Array(4 * n);
  for (let i = 0; i < n; ++i) {
    const color = mapColor(i / (n - 1));
    for (let c = 0; c < 3; ++c) texels[4 * i + c] = Math.round(255 * color[c]);
    texels[4 * i + 3] = 255;
  }
  return texels;
}

const okabeIto = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a6d00', '#6f6f6f'];
export function curveColor(k: number): string {
  return okabeIto[k % okabeIto.length];
}

export function linearToSrgb(c: number): number {
  return c <= 0.0031308 ? 12.92 * c : 1.055 * Math.pow(c, 1 / 2.4) - 0.055;
}
