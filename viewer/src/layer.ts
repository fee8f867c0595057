// One structure on the GPU. Poses and points are two textures that are replaced at every moment; the meshes never change, and
// there is one for each simple kind of shape: at most five draw calls (and five for shadows), however many parts there are. Copies of a
// unit shape stand one after the other in one buffer, each vertex with the number of its copy: drawing them as hardware instances
// costs software renderers fifty microseconds for each.
//
// Where there are very many capsules or pieces, each is a rectangle that faces the camera and is shaded as if it were round. A box is
// the corner that faces the camera: three faces of seven vertices, of which three carry the normals.
//
// A vertex is p = unit·scale.xyz + (0, 0, cap·scale.w) in the shape's frame: box, sphere, cylinder (cap = 0) and capsule
// (cap = ±1) share one shader. A piece of a polyline is a capsule between two points of the texture; a line with an outline is that section
// swept along it (cap = 1: at the second point of a piece). Hulls, meshes and height fields are drawn with the same shader, each on its own.
import * as THREE from 'three';
import {FieldInfo, Layout, Moment, pointCount, Shape, Triangles} from './data';
import {linearToSrgb, mapTexels} from './colors';

const textureWidth = 1024; // a power of two
const manyCapsules = 1200;
export const plainShadows = 200; // parts, above which there are no shadows without a GPU

// What a face of a box has is the same all over it; without a GPU its light as well.
const handedOver = /* glsl */ `
#ifdef BOX
#define handed flat varying
#else
#define handed varying
#endif
handed vec3 vColor;
handed float vValue;
flat varying float vId;
#ifdef PLAIN
flat varying vec2 vLight;
#else
handed vec3 vNormal;
varying vec3 vView;
#endif
// How light a surface with the normal n is for an eye in the direction v, and how it shines.
vec2 lightOf(vec3 n, vec3 v) {
  vec3 lamp = vec3(0.347833, -0.496904, 0.795046);
  float light = 0.42 + 0.16 * n.z + 0.50 * max(dot(n, lamp), 0.0) + 0.10 * max(dot(n, v), 0.0);
  return vec2(light, pow(max(dot(reflect(-v, n), lamp), 0.0), 24.0));
}`;

const vertexShader = /* glsl */ `
precision highp float;
precision highp int;
uniform highp sampler2D poses;    // two texels a frame: rotation (x y z w), position and value
uniform highp sampler2D points;   // one texel a point: position and value
uniform float pixel;              // size of a pixel at distance 1
uniform float thinnest;           // [pixels]
uniform int chosen;               // id
uniform vec3 sun;                 // towards it
uniform float ground;             // height that shadows fall on
uniform highp sampler2D copies;   // four texels a copy: scale; turn; shift and part; colour and id
attribute float cap;
attribute float copy;
${handedOver}
#ifdef FLAT
varying vec3 vFlat;               // across and along in radii, and where the round ends begin
varying vec3 vSideways;
varying vec3 vAlong;
#endif

vec4 texel(highp sampler2D t, int i) { return texelFetch(t, ivec2(i & ${textureWidth - 1}, i >> ${Math.log2(textureWidth)}), 0); }
vec3 rotate(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
vec3 rotate_back(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) - q.w * v); }

#ifdef FLAT
// position.x = ±1 is the side, cap = ±1 the end.
vec3 flat_capsule(vec3 centre, vec3 axis, float half_length, float radius) {
  vec3 v = normalize(cameraPosition - centre);
  vec3 s = cross(axis, v);
  s = dot(s, s) > 1e-12 ? normalize(s) : normalize(cross(vec3(0.31, 0.87, 0.38), v));
  vec3 u = cross(v, s);
  float reach = abs(dot(axis, u)) * half_length / radius;
  vFlat = vec3(position.x, cap * (reach + 1.0), reach);
  vSideways = s;
  vAlong = u;
  return centre + (dot(axis, u) < 0.0 ? -axis : axis) * (cap * half_length) + u * (cap * radius) + s * (position.x * radius);
}
#endif

void main() {
  int c = 4 * int(copy + 0.5);
  vec4 scale = texel(copies, c), turn = texel(copies, c + 1), shift_part = texel(copies, c + 2), tint_id = texel(copies, c + 3);
  vec3 shift = shift_part.xyz, tint = tint_id.rgb;
  float id = tint_id.w;
  int i = int(shift_part.w + 0.5);  // frame, or first point of a piece
  vec3 world, direction;
#ifdef SWEEP
  // position: the corner, and the number of points of a line; normal: across, or along at an end.
  int k = i + int(cap + 0.5), n = int(position.z + 0.5);
  vec4 x = texel(points, k);
  vec3 y = texel(points, k + n).xyz - x.xyz, z = texel(points, k + 2 * n).xyz - x.xyz;
  float wide = max(1.0, thinnest * pixel * distance(cameraPosition, x.xyz) / scale.x);
  world = x.xyz + wide * (position.x * y + position.y * z);
  direction = normalize(normal.x * y / dot(y, y) + normal.y * z / dot(z, z) + normal.z * cross(y, z) / (length(y) * length(z)));
  vValue = x.w;
#elif defined(PIECE)
  vec4 a = texel(points, i), b = texel(points, i + 1);
  vec3 along = b.xyz - a.xyz, middle = 0.5 * (a.xyz + b.xyz);
  float span = length(along);
  vec3 z = span > 0.0 ? along / span : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(vec3(0.0, 0.0, 1.0), z) : cross(vec3(1.0, 0.0, 0.0), z));
  mat3 R = mat3(x, cross(z, x), z);
  float radius = max(scale.x, thinnest * pixel * distance(cameraPosition, middle));
  world = middle + R * (position * radius + vec3(0.0, 0.0, cap * 0.5 * span));
  direction = R * normal;
  vValue = cap > 0.0 ? b.w : a.w;
#ifdef FLAT
  world = flat_capsule(middle, z, 0.5 * span, radius);
#endif
#else
  vec4 q = texel(poses, 2 * i), p = texel(poses, 2 * i + 1);
#ifdef BOX
  // The faces on the side of the eye, or of the sun for a shadow.
#ifdef SHADOW
  vec3 eye = rotate_back(turn, rotate_back(q, sun));
#else
  vec3 eye = rotate_back(turn, rotate_back(q, cameraPosition - p.xyz) - shift);
#endif
  vec3 side = vec3(eye.x < 0.0 ? -1.0 : 1.0, eye.y < 0.0 ? -1.0 : 1.0, eye.z < 0.0 ? -1.0 : 1.0);
  world = rotate(q, rotate(turn, side * position * scale.xyz) + shift) + p.xyz;
  direction = rotate(q, rotate(turn, side * normal));
#else
  vec3 local = rotate(turn, position * scale.xyz + vec3(0.0, 0.0, cap * scale.w)) + shift;
  world = rotate(q, local) + p.xyz;
  direction = rotate(q, rotate(turn, normalize(normal / scale.xyz)));
#endif
  vValue = p.w;
#ifdef FLAT
  world = flat_capsule(rotate(q, shift) + p.xyz, rotate(q, rotate(turn, vec3(0.0, 0.0, 1.0))), scale.w, scale.x);
#endif
#endif
  vColor = tint;
  vId = id;
#ifdef PLAIN
  vLight = lightOf(direction, normalize(cameraPosition - world));
#else
  vNormal = direction;
  vView = cameraPosition - world;
#endif
  if (int(id + 0.5) == chosen) vColor = mix(vColor, vec3(1.0, 0.85, 0.1), 0.65);
#ifdef SHADOW
  world -= sun * ((world.z - ground) / sun.z);
#endif
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}`;

const fragmentShader = /* glsl */ `
precision highp float;
uniform highp sampler2D map;
uniform vec2 range;
uniform int coloured;
uniform int picking;
uniform float opacity;
uniform vec4 wash;                // a colour over all, and how much of it
${handedOver}
#ifdef FLAT
varying vec3 vFlat;
varying vec3 vSideways;
varying vec3 vAlong;
#endif

void main() {
#ifdef FLAT
  float end = max(abs(vFlat.y) - vFlat.z, 0.0), rest = 1.0 - vFlat.x * vFlat.x - end * end;
  if (rest < 0.0) discard;
#endif
#ifdef SHADOW
  gl_FragColor = vec4(0.0, 0.0, 0.0, 0.22 * opacity);
#else
  if (picking == 1) {
    gl_FragColor = vec4(vId, gl_FragCoord.z, 0.0, 1.0);
    return;
  }
#ifdef PLAIN
  vec2 light = vLight;
#else
  vec3 v = normalize(vView);
#ifdef FLAT
  vec3 n = vSideways * vFlat.x + vAlong * (sign(vFlat.y) * end) + v * sqrt(rest);
#else
  vec3 n = normalize(vNormal);
  if (dot(n, v) < 0.0) n = -n;
#endif
  vec2 light = lightOf(n, v);
#endif
  vec3 base = mix(vColor, wash.rgb, wash.a);
  if (coloured == 1) {
    // Values below −1e30 mark parts that have none.
    if (vValue > -1e30) {
      float x = clamp((vValue - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
      base = texture2D(map, vec2((x * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    } else {
      base = mix(base, vec3(0.6), 0.75);
    }
  }
  gl_FragColor = vec4(base * light.x + 0.10 * light.y, opacity);
#endif
}`;

type Kind = 'box' | 'sphere' | 'cylinder' | 'capsule' | 'piece' | 'sweep';

// Two triangles a cell, as the library cuts them.
function fieldTriangles(field: NonNullable<Shape['height_field']>): Triangles {
  const columns = field.columns;
  const rows = field.heights.length / columns;
  const out: Triangles = {vertices: [], triangles: []};
  field.heights.forEach((h, k) => {
    const i = k % columns;
    const j = Math.floor(k / columns);
    out.vertices.push((i / (columns - 1) - 0.5) * field.size[0], (j / (rows - 1) - 0.5) * field.size[1], h);
    if (i + 1 < columns && j + 1 < rows) out.triangles.push(k, k + 1, k + columns + 1, k, k + columns + 1, k + columns);
  });
  return out;
}

function triangleShape(t: Triangles, sharp: boolean): THREE.BufferGeometry {
  let geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(t.vertices, 3));
  geometry.setIndex(t.triangles);
  if (sharp) {
    geometry = geometry.toNonIndexed();
    geometry.setIndex(Array.from({length: geometry.getAttribute('position').count}, (_, i) => i));
  }
  geometry.computeVertexNormals();
  const count = geometry.getAttribute('position').count;
  geometry.setAttribute('cap', new THREE.Float32BufferAttribute(new Float32Array(count), 1));
  return geometry;
}

// Unit shapes with the direction in which their ends move apart.
function unitShape(kind: Kind, sides: number): THREE.BufferGeometry {
  let geometry: THREE.BufferGeometry;
  if (kind === 'box') return boxCorner();
  else if (kind === 'cylinder') geometry = new THREE.CylinderGeometry(1, 1, 2, sides).rotateX(Math.PI / 2);
  else {
    // A sphere whose equator is doubled: its halves move apart.
    const rings = Math.max(1, Math.floor(sides / 4));
    const positions: number[] = [];
    const caps: number[] = [];
    const index: number[] = [];
    const levels: [number, number][] = [];
    for (let k = 0; k <= rings; ++k) levels.push([(Math.PI / 2) * (1 - k / rings), 1]);
    for (let k = 0; k <= rings; ++k) levels.push([(-Math.PI / 2) * (k / rings), -1]);
    for (const [latitude, cap] of levels)
      for (let s = 0; s <= sides; ++s) {
        const angle = (2 * Math.PI * s) / sides;
        const r = Math.cos(latitude);
        positions.push(r * Math.cos(angle), r * Math.sin(angle), Math.sin(latitude));
        caps.push(kind === 'sphere' ? 0 : cap);
      }
    const row = sides + 1;
    for (let k = 0; k + 1 < levels.length; ++k)
      for (let s = 0; s < sides; ++s) {
        const a = k * row + s;
        if (k > 0) index.push(a, a + row, a + 1);
        if (k + 2 < levels.length) index.push(a + 1, a + row, a + row + 1);
      }
    geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('normal', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('cap', new THREE.Float32BufferAttribute(caps, 1));
    geometry.setIndex(index);
  }
  if (!geometry.getAttribute('cap'))
    geometry.setAttribute('cap', new THREE.Float32BufferAttribute(new Float32Array(geometry.getAttribute('position').count), 1));
  return geometry;
}

// Three faces of a box that meet. The last vertex of a triangle, which no other face ends with, gives its normal.
function boxCorner(): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  const at = [1, 1, 1, 1, -1, 1, 1, 1, -1, -1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1];
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(at, 3));
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3));
  geometry.setAttribute('cap', new THREE.Float32BufferAttribute(new Float32Array(7), 1));
  geometry.setIndex([2, 0, 1, 4, 2, 1, 3, 0, 2, 5, 3, 2, 1, 0, 3, 6, 1, 3]);
  return geometry;
}

function rectangle(): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute([-1, 0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0], 3));
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], 3));
  geometry.setAttribute('cap', new THREE.Float32BufferAttribute([-1, -1, 1, 1], 1));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
}

interface Section {
  outline: number[][];
  lines: {points: number; piece: number}[]; // number of points and first piece of each line that it is swept along
}

// The corners of an outline with normals: once where it is smooth, twice where it is sharp; not joined to the next: the first of two.
function ringOf(outline: number[][]): {at: number[]; normal: number[]; joined: boolean}[] {
  const smooth = 0.75; // cosine between two faces that look like one
  const faces = outline.map((p, k) => {
    const q = outline[(k + 1) % outline.length];
    const length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
    return [(q[1] - p[1]) / length, (p[0] - q[0]) / length];
  });
  return outline.flatMap((at, k) => {
    const [before, after] = [faces[(k + outline.length - 1) % outline.length], faces[k]];
    if (before[0] * after[0] + before[1] * after[1] > smooth) return [{at, normal: [before[0] + after[0], before[1] + after[1]], joined: true}];
    return [{at, normal: before, joined: false}, {at, normal: after, joined: true}];
  });
}

// Sections along lines, a ring at every point of a line, their ends closed.
function sweptShape(sections: Iterable<Section>): THREE.BufferGeometry {
  const data: Record<string, number[]> = {position: [], normal: [], cap: [], copy: []};
  const index: number[] = [];
  const vertex = (at: number[], normal: number[], points: number, piece: number, cap: number) => {
    data.position.push(at[0], at[1], points);
    data.normal.push(...normal);
    data.cap.push(cap);
    data.copy.push(piece);
  };
  for (const {outline, lines} of sections) {
    const ring = ringOf(outline);
    const ends = THREE.ShapeUtils.triangulateShape(outline.map(([a, b]) => new THREE.Vector2(a, b)), []);
    for (const {points, piece} of lines) {
      const first = data.cap.length;
      for (let r = 0; r < points; ++r)
        for (const {at, normal} of ring) vertex(at, [...normal, 0], points, piece + Math.min(r, points - 2), r === points - 1 ? 1 : 0);
      for (let r = 0; r + 1 < points; ++r)
        ring.forEach(({joined}, k) => {
          if (!joined) return;
          const [a, b] = [first + r * ring.length + k, first + r * ring.length + ((k + 1) % ring.length)];
          index.push(a, b, b + ring.length, a, b + ring.length, a + ring.length);
        });
      for (const [side, p, cap] of [[-1, piece, 0], [1, piece + points - 2, 1]]) {
        const from = data.cap.length;
        for (const at of outline) vertex(at, [0, 0, side], points, p, cap);
        for (const [i, j, k] of ends) index.push(from + i, from + j, from + k);
      }
    }
  }
  const geometry = new THREE.BufferGeometry();
  for (const [name, values] of Object.entries(data)) geometry.setAttribute(name, new THREE.Float32BufferAttribute(values, values.length / data.cap.length));
  geometry.setIndex(index);
  return geometry;
}

// n copies of a shape in one buffer, with the number of the copy at each vertex.
function copyShape(unit: THREE.BufferGeometry, n: number): THREE.BufferGeometry {
  const vertices = unit.getAttribute('position').count;
  const geometry = new THREE.BufferGeometry();
  for (const name of ['position', 'normal', 'cap']) {
    const {array, itemSize} = unit.getAttribute(name);
    const data = new Float32Array(n * array.length);
    for (let k = 0; k < n; ++k) data.set(array as Float32Array, k * array.length);
    geometry.setAttribute(name, new THREE.BufferAttribute(data, itemSize));
  }
  geometry.setAttribute('copy', new THREE.BufferAttribute(Float32Array.from({length: n * vertices}, (_, v) => Math.floor(v / vertices)), 1));
  const from = unit.index!.array;
  const index = new Uint32Array(n * from.length);
  for (let k = 0; k < n; ++k) for (let i = 0; i < from.length; ++i) index[k * from.length + i] = k * vertices + from[i];
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  return geometry;
}

interface Instance {
  part: number;
  scale: number[];
  turn: number[];
  shift: number[];
  tint: number[];
  id: number;
}

// What an id on the screen means.
export interface Part {
  kind: 'frame' | 'piece';
  index: number; // of the frame, or of the piece's first point
  name: string;
  polyline: number; // −1: a frame
}

function quaternionOf(R: number[] | undefined): number[] {
  if (!R) return [0, 0, 0, 1];
  const m = new THREE.Matrix4().set(R[0], R[1], R[2], 0, R[3], R[4], R[5], 0, R[6], R[7], R[8], 0, 0, 0, 0, 1);
  return new THREE.Quaternion().setFromRotationMatrix(m).toArray();
}

const plainColors = [
  [0.36, 0.45, 0.55], [0.62, 0.45, 0.33], [0.42, 0.55, 0.45], [0.55, 0.5, 0.62], [0.6, 0.56, 0.38],
];

export class Layer {
  readonly layout: Layout;
  readonly group = new THREE.Group();
  readonly parts: Part[] = [];
  readonly uniforms: Record<string, THREE.IUniform>;
  readonly instances: number;
  readonly radius: Float32Array; // of each frame's shapes, around its origin [m]
  private poses: THREE.DataTexture;
  private points: THREE.DataTexture;
  private poseData: Float32Array;
  private pointData: Float32Array;
  private copies: THREE.DataTexture[] = [];
  private surfaces: {unit: THREE.BufferGeometry; instance: Instance}[] = [];
  private sections = new Map<string, Section>(); // by their outlines
  private field: FieldInfo | null = null;
  private fieldIndex = -1;
  drawn: Moment | null = null;

  // `plain`: as few vertices as possible, for a renderer without a GPU.
  constructor(layout: Layout, firstId: number, private plain: boolean) {
    this.layout = layout;
    const np = pointCount(layout);
    const rows = (n: number) => Math.max(1, Math.ceil(n / textureWidth));
    this.poseData = new Float32Array(4 * textureWidth * rows(2 * layout.frames.length));
    this.pointData = new Float32Array(4 * textureWidth * rows(np));
    this.poses = Layer.texture(this.poseData);
    this.points = Layer.texture(this.pointData);
    const map = new THREE.DataTexture(mapTexels(256), 256, 1, THREE.RGBAFormat);
    map.needsUpdate = true;
    this.uniforms = {
      poses: {value: this.poses}, points: {value: this.points}, map: {value: map}, range: {value: new THREE.Vector2(0, 1)},
      coloured: {value: 0}, picking: {value: 0}, opacity: {value: 1}, wash: {value: new THREE.Vector4(0, 0, 0, 0)},
      pixel: {value: 0.001}, thinnest: {value: 1.1}, chosen: {value: -1},
      sun: {value: new THREE.Vector3(0.35, -0.5, 1.1)}, ground: {value: 0},
    };
    this.radius = new Float32Array(layout.frames.length);
    const lists: Record<Kind, Instance[]> = {box: [], sphere: [], cylinder: [], capsule: [], piece: [], sweep: []};
    this.collectShapes(lists, firstId);
    this.collectPieces(lists, firstId);
    this.instances = Object.values(lists).reduce((sum, list) => sum + list.length, this.surfaces.length);
    for (const kind of Object.keys(lists) as Kind[]) if (lists[kind].length && kind !== 'sweep') this.addMesh(kind, lists[kind]);
    for (const {unit, instance} of this.surfaces) this.addMesh('box', [instance], unit);
    if (lists.sweep.length) this.addMesh('sweep', lists.sweep, sweptShape(this.sections.values()));
  }

  private static texture(data: Float32Array): THREE.DataTexture {
    const t = new THREE.DataTexture(data as unknown as BufferSource & Float32Array<ArrayBuffer>, textureWidth, data.length / 4 / textureWidth, THREE.RGBAFormat, THREE.FloatType);
    t.minFilter = t.magFilter = THREE.NearestFilter;
    t.needsUpdate = true;
    return t;
  }

  private collectShapes(lists: Record<Kind, Instance[]>, firstId: number): void {
    this.layout.frames.forEach((frame, index) => {
      const shapes = frame.shapes ?? [];
      if (!shapes.length) return;
      const id = firstId + this.parts.length;
      this.parts.push({kind: 'frame', index, name: frame.name, polyline: -1});
      const tint = frame.color ? frame.color.map(linearToSrgb) : plainColors[frame.fixed ? 0 : index % plainColors.length];
      for (const s of shapes) {
        const common = {part: index, turn: quaternionOf(s.R), shift: s.p ?? [0, 0, 0], tint, id};
        let reach = Math.hypot(...common.shift);
        if (s.box) {
          lists.box.push({...common, scale: [...s.box.map((x) => x / 2), 0]});
          reach += Math.hypot(...s.box) / 2;
        } else if (s.sphere !== undefined) {
          lists.sphere.push({...common, scale: [s.sphere, s.sphere, s.sphere, 0]});
          reach += s.sphere;
        } else if (s.cylinder) {
          lists.cylinder.push({...common, scale: [s.cylinder[0], s.cylinder[0], s.cylinder[1] / 2, 0]});
          reach += Math.hypot(s.cylinder[0], s.cylinder[1] / 2);
        } else if (s.capsule) {
          lists.capsule.push({...common, scale: [s.capsule[0], s.capsule[0], s.capsule[0], s.capsule[1] / 2]});
          reach += s.capsule[0] + s.capsule[1] / 2;
        } else {
          const t = s.hull ?? s.mesh ?? (s.height_field ? fieldTriangles(s.height_field) : null);
          if (!t) continue;
          this.surfaces.push({unit: triangleShape(t, !s.height_field), instance: {...common, scale: [1, 1, 1, 0]}});
          let far = 0;
          for (let i = 0; i < t.vertices.length; i += 3)
            far = Math.max(far, Math.hypot(t.vertices[i], t.vertices[i + 1], t.vertices[i + 2]));
          reach += far;
        }
        this.radius[index] = Math.max(this.radius[index], reach);
      }
    });
  }

  private collectPieces(lists: Record<Kind, Instance[]>, firstId: number): void {
    let first = 0;
    this.layout.polylines.forEach((line, polyline) => {
      const tint = line.color ? line.color.map(linearToSrgb) : line.radius > 0 ? [0.28, 0.5, 0.62] : [0.35, 0.36, 0.38];
      const swept = line.outline !== undefined && line.points >= 2;
      const to = swept ? lists.sweep : lists.piece;
      if (swept) {
        const key = JSON.stringify(line.outline);
        if (!this.sections.has(key)) this.sections.set(key, {outline: line.outline!, lines: []});
        this.sections.get(key)!.lines.push({points: line.points, piece: to.length});
      }
      for (let k = 0; k + 1 < line.points; ++k) {
        const id = firstId + this.parts.length;
        this.parts.push({kind: 'piece', index: first + k, name: line.name, polyline});
        to.push({part: first + k, scale: [line.radius, 0, 0, 0], turn: [0, 0, 0, 1], shift: [0, 0, 0], tint, id});
      }
      first += line.points;
    });
  }

  private addMesh(kind: Kind, list: Instance[], own?: THREE.BufferGeometry): void {
    const sides = list.length > 1500 ? 5 : list.length > 200 ? 8 : list.length > 24 ? 12 : 20;
    const many = list.length > manyCapsules || (this.plain && this.instances > plainShadows);
    const rectangles = many && (kind === 'capsule' || kind === 'piece');
    const unit = own ?? (rectangles ? rectangle() : unitShape(kind, sides));
    const geometry = kind === 'sweep' ? unit : copyShape(unit, list.length);
    const data = new Float32Array(4 * textureWidth * Math.ceil((4 * list.length) / textureWidth));
    list.forEach((i, k) => data.set([...i.scale, ...i.turn, ...i.shift, i.part, ...i.tint, i.id], 16 * k));
    const copies = Layer.texture(data);
    this.copies.push(copies);
    const uniforms = {...this.uniforms, copies: {value: copies}};
    const material = (shadow: boolean) => {
      const defines: Record<string, string> = {};
      if (kind === 'piece') defines.PIECE = '';
      if (kind === 'sweep') defines.SWEEP = '';
      if (shadow) defines.SHADOW = '';
      if (rectangles) defines.FLAT = '';
      if (kind === 'box' && !own) defines.BOX = '';
      if (kind === 'box' && !own && this.plain) defines.PLAIN = '';
      // The stencil lets each pixel of the ground darken once.
      return new THREE.ShaderMaterial({
        vertexShader, fragmentShader, uniforms, defines, transparent: shadow, depthWrite: !shadow,
        stencilWrite: shadow, stencilFunc: THREE.NotEqualStencilFunc, stencilRef: 1, stencilZPass: THREE.ReplaceStencilOp,
        side: rectangles || own || kind === 'box' ? THREE.DoubleSide : THREE.FrontSide,
      });
    };
    const mesh = new THREE.Mesh(geometry, material(false));
    mesh.frustumCulled = false;
    this.group.add(mesh);
    if (rectangles) return; // a rectangle that faces the camera throws no right shadow
    const shadow = new THREE.Mesh(geometry, material(true));
    shadow.frustumCulled = false;
    shadow.renderOrder = -1;
    shadow.name = 'shadow';
    this.group.add(shadow);
  }

  dispose(): void {
    this.group.traverse((object) => {
      if (!(object instanceof THREE.Mesh)) return;
      object.geometry.dispose();
      (object.material as THREE.Material).dispose();
    });
    for (const texture of this.copies) texture.dispose();
    this.poses.dispose();
    this.points.dispose();
    (this.uniforms.map.value as THREE.Texture).dispose();
  }

  setMoment(moment: Moment): void {
    this.drawn = moment;
    const none = -1e38;
    const values = this.fieldIndex >= 0 ? moment.fields[this.fieldIndex] : null;
    const on = values ? this.field!.on : null;
    const {rotations: q, positions: p, points} = moment;
    const poses = this.poseData;
    for (let i = 0; i < this.layout.frames.length; ++i) {
      const to = 8 * i;
      poses[to] = q[4 * i + 1];
      poses[to + 1] = q[4 * i + 2];
      poses[to + 2] = q[4 * i + 3];
      poses[to + 3] = q[4 * i];
      poses[to + 4] = p[3 * i];
      poses[to + 5] = p[3 * i + 1];
      poses[to + 6] = p[3 * i + 2];
      const carried = on === 'points' ? this.pointOf(moment)[i] : -1;
      const value = on === 'frames' ? values![i] : carried >= 0 ? values![carried] : none;
      poses[to + 7] = finiteOr(value, none);
    }
    let k = 0;
    for (let line = 0; line < this.layout.polylines.length; ++line)
      for (let end = k + this.layout.polylines[line].points; k < end; ++k) {
        this.pointData[4 * k] = points[3 * k];
        this.pointData[4 * k + 1] = points[3 * k + 1];
        this.pointData[4 * k + 2] = points[3 * k + 2];
        const value = on === 'points' ? values![k] : on === 'polylines' ? values![line] : none;
        this.pointData[4 * k + 3] = finiteOr(value, none);
      }
    this.poses.needsUpdate = true;
    this.points.needsUpdate = true;
  }

  // The links of a beam are drawn as bodies: each shows the value of the beam's point that is nearest to it.
  private carried: Int32Array | null = null;
  private pointOf(moment: Moment): Int32Array {
    if (this.carried) return this.carried;
    this.carried = new Int32Array(this.layout.frames.length).fill(-1);
    const lines = new Map<string, [number, number]>();
    let first = 0;
    for (const line of this.layout.polylines) {
      lines.set(line.name, [first, first + line.points]);
      first += line.points;
    }
    this.layout.frames.forEach((frame, i) => {
      const range = lines.get(frame.name.replace(/\.[^.]*$/, ''));
      if (!range) return;
      let best = Infinity;
      for (let k = range[0]; k < range[1]; ++k) {
        const d = Math.hypot(...[0, 1, 2].map((c) => moment.points[3 * k + c] - moment.positions[3 * i + c]));
        if (d < best) [best, this.carried![i]] = [d, k];
      }
    });
    return this.carried;
  }

  // Colours by a field of the moments, or by the parts' own colours.
  setField(field: FieldInfo | null, index: number, low: number, high: number): void {
    this.field = field;
    this.fieldIndex = field ? index : -1;
    this.uniforms.coloured.value = field ? 1 : 0;
    this.uniforms.range.value.set(low, high);
    if (this.drawn) this.setMoment(this.drawn);
  }

  setLook(opacity: number, wash: number[] | null): void {
    this.uniforms.opacity.value = opacity;
    this.uniforms.wash.value.set(...((wash ? [...wash, 0.85] : [0, 0, 0, 0]) as [number, number, number, number]));
    this.group.traverse((object) => {
      if (!(object instanceof THREE.Mesh)) return;
      if (object.name === 'shadow') object.visible = opacity === 1;
      else (object.material as THREE.ShaderMaterial).transparent = opacity < 1;
    });
  }

  setShadows(on: boolean, ground: number): void {
    this.uniforms.ground.value = ground;
    for (const child of this.group.children) if (child.name === 'shadow') child.visible = on && this.uniforms.opacity.value === 1;
  }

  // Grows the box by everything that is drawn.
  extend(box: THREE.Box3, moment: Moment): void {
    const at = new THREE.Vector3();
    const r = new THREE.Vector3();
    for (let i = 0; i < this.layout.frames.length; ++i) {
      if (!this.layout.frames[i].shapes?.length) continue;
      at.fromArray(moment.positions, 3 * i);
      r.setScalar(this.radius[i]);
      box.expandByPoint(at.clone().add(r)).expandByPoint(at.sub(r));
    }
    for (let k = 0; k < moment.points.length; k += 3) box.expandByPoint(at.fromArray(moment.points, k));
  }
}

function finiteOr(value: number, other: number): number {
  return Number.isFinite(value) ? value : other;
}
