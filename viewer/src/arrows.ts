// Forces as arrows, from where things press on each other. The longest is that of the largest force so far; lengths go with the
// square root of the force, so that what merely rests shows beside what hits.
import * as THREE from 'three';

const share = 0.14; // of the picture's size: the longest arrow
const least = 0.02; // of the longest: shorter ones (0.04 % of the largest force) are not drawn

export class Arrows {
  readonly group = new THREE.Group();
  readonly largest = {value: 0}; // [N] so far: the longest arrow
  private material = new THREE.MeshBasicMaterial({color: 0xcc2277, depthTest: false, transparent: true, opacity: 0.85});
  private shafts = this.mesh(new THREE.CylinderGeometry(0.012, 0.012, 1, 6).translate(0, 0.5, 0), 0);
  private heads = this.mesh(new THREE.ConeGeometry(0.035, 0.16, 8).translate(0, -0.08, 0), 0);

  constructor() {
    this.group.renderOrder = 9;
    this.group.add(this.shafts, this.heads);
  }

  private mesh(geometry: THREE.BufferGeometry, count: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(geometry, this.material, Math.max(1, count));
    mesh.frustumCulled = false;
    mesh.count = 0;
    return mesh;
  }

  get count(): number {
    return this.shafts.count;
  }

  // places: x, y, z and a force, one after the other; size: of the picture [m].
  show(places: Float32Array, size: number): void {
    const n = Math.floor(places.length / 6);
    if (n === 0 && this.count === 0) return;
    if (n > this.shafts.instanceMatrix.count) this.grow(n);
    for (let k = 0; k < n; ++k) this.largest.value = Math.max(this.largest.value, Math.hypot(...places.subarray(6 * k + 3, 6 * k + 6)));
    const longest = share * size;
    const [at, along, up] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3(0, 1, 0)];
    const [turn, scale, matrix] = [new THREE.Quaternion(), new THREE.Vector3(), new THREE.Matrix4()];
    let drawn = 0;
    for (let k = 0; k < n; ++k) {
      along.fromArray(places, 6 * k + 3);
      const length = longest * Math.sqrt(along.length() / this.largest.value);
      if (!(length > least * longest)) continue;
      at.fromArray(places, 6 * k);
      turn.setFromUnitVectors(up, along.normalize());
      this.shafts.setMatrixAt(drawn, matrix.compose(at, turn, scale.set(longest, length, longest)));
      this.heads.setMatrixAt(drawn, matrix.compose(at.addScaledVector(along, length), turn, scale.setScalar(longest)));
      ++drawn;
    }
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = drawn;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private grow(n: number): void {
    const room = Math.ceil(1.5 * n);
    const [shafts, heads] = [this.shafts, this.heads].map((old) => this.mesh(old.geometry, room));
    for (const old of [this.shafts, this.heads]) {
      this.group.remove(old);
      old.dispose();
    }
    this.group.add(shafts, heads);
    [this.shafts, this.heads] = [shafts, heads];
  }
}
