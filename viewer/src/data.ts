// What the page shows: a layout that is fixed for a run, and moments of it. The same names as in the library's result/.

export interface Triangles {
  vertices: number[];
  triangles: number[];
}

export interface Shape {
  box?: number[];
  sphere?: number;
  cylinder?: number[];
  capsule?: number[];
  hull?: Triangles;
  mesh?: Triangles;
  height_field?: {size: number[]; columns: number; heights: number[]};
  p?: number[];
  R?: number[]; // by rows
}

export interface Layout {
  title: string;
  frames: {name: string; fixed?: boolean; color?: number[]; shapes?: Shape[]}[];
  // An outline is that of a section which is swept along the line: corner (a, b) stands at x + a (y − x) + b (z − x), y and z on the
  // two lines that follow.
  polylines: {name: string; points: number; radius: number; color?: number[]; outline?: number[][]}[];
  scalars: {name: string; unit: string}[];
}

// A number for each frame, polyline or point, to colour it by.
export interface FieldInfo {
  name: string;
  unit: string;
  on: 'frames' | 'polylines' | 'points';
}

export interface Moment {
  time: number; // [s]
  rotations: Float32Array; // w x y z of each frame
  positions: Float32Array; // [m]
  points: Float32Array; // [m]
  scalars: Float64Array;
  fields: Float32Array[];
  touches: Float32Array; // places (x, y, z) where things press on each other [m], each with its force [N]
}

export function pointCount(layout: Layout): number {
  return layout.polylines.reduce((sum, line) => sum + line.points, 0);
}

export function fieldSize(layout: Layout, field: FieldInfo): number {
  if (field.on === 'frames') return layout.frames.length;
  return field.on === 'polylines' ? layout.polylines.length : pointCount(layout);
}

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

// A recording as a report carries it. Motion (f32) may hold fewer frames than the numbers (f64).
export interface StoredRecording {
  layout: Omit<Layout, 'frames'> & {frames: StoredFrame[]};
  fields: FieldInfo[];
  times: number; // moments of the numbers
  motion_times: number[]; // which of them have a motion
  numbers: string; // base64: times, then each scalar's values, f64
  motion: string; // base64: each stored frame: rotations, positions, points, fields, f32; u16 if there are ranges
  ranges?: [number, number][]; // of rotations, of x, y and z, of each field
  touches?: {counts: number[]; places: string}; // of each stored frame; base64: places with their forces, f32
}

// Frames that are alike but for a number at the end of their names may stand there once: beginning of the names, the numbers.
type StoredFrame = Layout['frames'][number] & {run?: [string, ...number[]]};

function withoutRuns(frames: StoredFrame[]): Layout['frames'] {
  return frames.flatMap(({run, ...frame}) => (run ? run.slice(1).map((k) => ({...frame, name: `${run[0]}${k}`})) : [frame]));
}

// Numbers of which each part takes its ranges in turns.
function unrounded(values: Uint16Array, parts: {size: number; ranges: [number, number][]}[]): Float32Array {
  const out = new Float32Array(values.length);
  for (let at = 0; at < values.length; )
    for (const {size, ranges} of parts)
      for (let i = 0; i < size; ++i, ++at) {
        const [low, high] = ranges[i % ranges.length];
        out[at] = values[at] === 65535 ? NaN : low + (values[at] * (high - low)) / 65534;
      }
  return out;
}

export class Recording {
  readonly layout: Layout;
  readonly fields: FieldInfo[];
  readonly times: Float64Array;
  readonly scalars: Float64Array[]; // by column
  readonly frameTimes: Float64Array;
  readonly touches: Float32Array[]; // of each stored frame
  private motion: Float32Array;
  private stride: number;

  constructor(stored: StoredRecording) {
    this.layout = {...stored.layout, frames: withoutRuns(stored.layout.frames)};
    this.fields = stored.fields ?? [];
    const numbers = new Float64Array(bytesOf(stored.numbers));
    const n = stored.times;
    this.times = numbers.subarray(0, n);
    this.scalars = this.layout.scalars.map((_, k) => numbers.subarray((k + 1) * n, (k + 2) * n));
    this.touches = touchesOf(stored);
    this.frameTimes = Float64Array.from(stored.motion_times, (i) => this.times[i]);
    const motion = bytesOf(stored.motion);
    this.motion = stored.ranges ? unrounded(new Uint16Array(motion), this.parts(stored.ranges)) : new Float32Array(motion);
    const fields = this.fields.reduce((sum, f) => sum + fieldSize(this.layout, f), 0);
    this.stride = 7 * this.layout.frames.length + 3 * pointCount(this.layout) + fields;
  }

  private parts(ranges: [number, number][]): {size: number; ranges: [number, number][]}[] {
    const nf = this.layout.frames.length;
    const places = ranges.slice(1, 4);
    return [
      {size: 4 * nf, ranges: ranges.slice(0, 1)}, {size: 3 * nf, ranges: places}, {size: 3 * pointCount(this.layout), ranges: places},
      ...this.fields.map((f, k) => ({size: fieldSize(this.layout, f), ranges: [ranges[4 + k]]})),
    ];
  }

  get duration(): number {
    return this.times.length ? this.times[this.times.length - 1] - this.times[0] : 0;
  }
  get start(): number {
    return this.times.length ? this.times[0] : 0;
  }
  get motionFrames(): number {
    return this.frameTimes.length;
  }

  // The last recorded moment at or before t.
  indexAt(t: number): number {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= t + 1e-12) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Poses between two stored frames are interpolated; numbers are those of the last recorded moment.
  at(t: number): Moment {
    const times = this.frameTimes;
    let k = 0;
    while (k + 1 < times.length && times[k + 1] <= t + 1e-12) ++k;
    const next = Math.min(k + 1, times.length - 1);
    const span = times[next] - times[k];
    const share = span > 0 ? Math.min(1, Math.max(0, (t - times[k]) / span)) : 0;
    const nf = this.layout.frames.length;
    const np = pointCount(this.layout);
    const a = this.motion.subarray(k * this.stride, (k + 1) * this.stride);
    const b = this.motion.subarray(next * this.stride, (next + 1) * this.stride);
    const mix = share === 0 ? a.slice() : Float32Array.from(a, (x, i) => x + share * (b[i] - x));
    if (share > 0) blendRotations(a, b, share, nf, mix);
    const index = this.indexAt(t);
    const fields: Float32Array[] = [];
    let at = 7 * nf + 3 * np;
    for (const field of this.fields) {
      const size = fieldSize(this.layout, field);
      fields.push(mix.subarray(at, at + size));
      at += size;
    }
    return {
      time: t,
      rotations: mix.subarray(0, 4 * nf),
      positions: mix.subarray(4 * nf, 7 * nf),
      points: mix.subarray(7 * nf, 7 * nf + 3 * np),
      scalars: Float64Array.from(this.scalars, (column) => column[index]),
      fields,
      touches: this.touches[k] ?? noTouches,
    };
  }
}

const noTouches = new Float32Array(0);

function touchesOf(stored: StoredRecording): Float32Array[] {
  if (!stored.touches) return [];
  const places = new Float32Array(bytesOf(stored.touches.places));
  let at = 0;
  return stored.touches.counts.map((n) => places.subarray(at, (at += 6 * n)));
}

// Quaternions the short way round, then of unit length.
function blendRotations(a: Float32Array, b: Float32Array, share: number, count: number, out: Float32Array): void {
  for (let i = 0; i < 4 * count; i += 4) {
    let dot = 0;
    for (let c = 0; c < 4; ++c) dot += a[i + c] * b[i + c];
    const sign = dot < 0 ? -1 : 1;
    let norm = 0;
    for (let c = 0; c < 4; ++c) {
      out[i + c] = (1 - share) * a[i + c] + share * sign * b[i + c];
      norm += out[i + c] * out[i + c];
    }
    const scale = norm > 0 ? 1 / Math.sqrt(norm) : 1;
    for (let c = 0; c < 4; ++c) out[i + c] *= scale;
  }
}

// A live frame: see tools/limber/live_frame.h.
export interface LiveFrame extends Moment {
  epoch: number;
  index: number;
  paused: boolean;
  held: boolean;
  failed: boolean;
  seen: number; // number of the last command that it knows of
  force: number[]; // of the handle [N]
  point: number[]; // where it pulls [m]
  pace: number; // simulated seconds a second
  felt: number; // number of the last command that a step was made after: the poses feel it
  answer: number; // [s] that this command waited in the program for this frame
}

const magic = 0x464d494c; // "LIMF"
const headBytes = 16 + 8 * 11;

export function decodeLiveFrame(data: ArrayBuffer, layout: Layout, fields: FieldInfo[], epoch: number): LiveFrame | null {
  const head = new DataView(data);
  if (data.byteLength < headBytes || head.getUint32(0, true) !== magic) return null;
  if (head.getUint32(4, true) !== epoch) return null;
  const flags = head.getUint32(12, true);
  const doubles = new Float64Array(data, 16, 11);
  const nf = layout.frames.length;
  const np = pointCount(layout);
  const ns = layout.scalars.length;
  const scalars = new Float64Array(data, headBytes, ns);
  const floats = new Float32Array(data, headBytes + 8 * ns);
  let at = 7 * nf + 3 * np;
  const values: Float32Array[] = [];
  for (const field of fields) {
    const size = fieldSize(layout, field);
    values.push(floats.subarray(at, at + size));
    at += size;
  }
  return {
    epoch,
    index: head.getUint32(8, true),
    paused: (flags & 1) !== 0,
    held: (flags & 2) !== 0,
    failed: (flags & 4) !== 0,
    time: doubles[0],
    seen: doubles[1],
    force: [doubles[2], doubles[3], doubles[4]],
    point: [doubles[5], doubles[6], doubles[7]],
    pace: doubles[8],
    felt: doubles[9],
    answer: doubles[10],
    rotations: floats.subarray(0, 4 * nf),
    positions: floats.subarray(4 * nf, 7 * nf),
    points: floats.subarray(7 * nf, 7 * nf + 3 * np),
    scalars,
    fields: values,
    touches: floats.subarray(at),
  };
}
