// The 3D view: camera, ground, layers of structures, picking, and the handle that pulls at a part.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {Arrows} from './arrows';
import {Layout, Moment} from './data';
import {Layer, Part, plainShadows} from './layer';

export interface Hit {
  layer: number;
  part: Part;
  at: THREE.Vector3; // [m] in the world
}

const manyInstances = 20000; // no shadows above; fewer in software

THREE.ColorManagement.enabled = false; // colours here are sRGB throughout

export class View3D {
  readonly layers: Layer[] = [];
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly renderer: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private ground = new THREE.Group();
  private pickTarget = new THREE.WebGLRenderTarget(1, 1, {type: THREE.FloatType, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter});
  private handle: THREE.Group;
  readonly arrows = new Arrows();
  private dirty = true;
  private lastRender = 0;
  private slow = 0; // frames in a row that took too long
  private resolution = 1;
  private hurried = 1;
  private dark = false;
  readonly software: boolean;
  adaptive = true;
  renders = 0;
  private touched = false; // the camera is the user's
  onRender: (() => void) | null = null;

  constructor(private place: HTMLElement) {
    this.software = drawsInSoftware() && !location.hash.includes('picture');
    this.renderer = new THREE.WebGLRenderer({antialias: !this.software, alpha: !this.software, stencil: true});
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // the shaders work in sRGB already
    this.setBackground();
    place.appendChild(this.renderer.domElement);
    this.renderer.domElement.setAttribute('aria-hidden', 'true');
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', () => this.invalidate());
    this.controls.addEventListener('start', () => (this.touched = true));
    this.handle = this.makeHandle();
    this.scene.add(this.ground, this.handle, this.arrows.group);
    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
    const loop = (now: number) => {
      requestAnimationFrame(loop);
      if (this.onRender) this.onRender();
      if (this.dirty) this.render(now);
    };
    requestAnimationFrame(loop);
  }

  get drawCalls(): number {
    return this.renderer.info.render.calls;
  }

  invalidate(): void {
    this.dirty = true;
  }

  // Behind a picture that lets it through lies the page's gradient; blending it costs a software renderer too much.
  private setBackground(): void {
    if (this.software) this.renderer.setClearColor(this.dark ? 0x1f262c : 0xdbe2e8, 1);
    else this.renderer.setClearColor(0, 0);
  }

  setDark(dark: boolean): void {
    this.dark = dark;
    this.setBackground();
    this.drawGround();
    this.invalidate();
  }

  clear(): void {
    for (const layer of this.layers) {
      this.scene.remove(layer.group);
      layer.dispose();
    }
    this.layers.length = 0;
  }

  addLayer(layout: Layout): Layer {
    const firstId = this.layers.reduce((sum, layer) => sum + layer.parts.length, 0);
    const layer = new Layer(layout, firstId, this.software);
    this.layers.push(layer);
    this.scene.add(layer.group);
    return layer;
  }

  setMoment(moment: Moment, layer = 0): void {
    this.layers[layer].setMoment(moment);
    if (layer === 0) this.arrows.show(moment.touches, this.size);
    this.invalidate();
  }

  // Camera and ground for what these moments show.
  private box = new THREE.Box3();
  frame(moments: Moment[], keepCamera = false): void {
    const box = new THREE.Box3();
    for (const layer of this.layers) for (const moment of moments) if (fits(layer, moment)) layer.extend(box, moment);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    this.box = box;
    this.seen = box.clone();
    this.drawGround();
    if (!keepCamera) this.resetCamera();
  }

  // Of all moments so far, drawn or not.
  private seen = new THREE.Box3();
  see(moment: Moment): void {
    this.layers[0].extend(this.seen, moment);
  }

  // The whole motion so far stays in the picture, until the user takes the camera.
  follow(): void {
    const beyond = Math.max(...this.seen.max.clone().sub(this.box.max).toArray(), ...this.box.min.clone().sub(this.seen.min).toArray());
    if (beyond < 0.04 * this.size) return;
    this.box = this.seen.clone();
    this.drawGround();
    if (!this.touched) this.resetCamera();
  }

  // From which the corners of a box are just in the picture, seen along a direction.
  private distanceToSee(size: THREE.Vector3, side: THREE.Vector3): number {
    const margin = 1.06;
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) / margin;
    const right = new THREE.Vector3().crossVectors(this.camera.up, side).normalize();
    const up = new THREE.Vector3().crossVectors(side, right);
    let distance = 1e-6;
    for (let corner = 0; corner < 8; ++corner) {
      const at = size.clone().multiplyScalar(0.5);
      if (corner & 1) at.x = -at.x;
      if (corner & 2) at.y = -at.y;
      if (corner & 4) at.z = -at.z;
      const across = Math.max(Math.abs(at.dot(up)) / tall, Math.abs(at.dot(right)) / (tall * this.camera.aspect));
      distance = Math.max(distance, at.dot(side) + across);
    }
    return distance;
  }

  resetCamera(): void {
    const centre = this.box.getCenter(new THREE.Vector3());
    const size = this.box.getSize(new THREE.Vector3());
    const radius = Math.max(size.length() / 2, 1e-6);
    // From the side on which the structure is broad, a little from above.
    const side = size.x >= size.y ? new THREE.Vector3(0.38, -1, 0.32) : new THREE.Vector3(1, -0.38, 0.32);
    this.camera.position.copy(centre).addScaledVector(side.normalize(), this.distanceToSee(size, side));
    this.camera.near = radius / 500;
    this.camera.far = radius * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.invalidate();
  }

  get size(): number {
    return this.box.getSize(new THREE.Vector3()).length();
  }

  private drawGround(): void {
    this.ground.clear();
    if (this.box.isEmpty()) return;
    const size = this.box.getSize(new THREE.Vector3());
    const extent = Math.max(size.x, size.y, 0.5 * size.z);
    const cell = Math.pow(10, Math.floor(Math.log10(Math.max(extent, 1e-9) / 2)));
    const n = 2 * Math.ceil((1.1 * extent) / cell / 2) + 2;
    const color = this.dark ? 0x4a555f : 0x9aa7b1;
    const grid = new THREE.GridHelper(n * cell, n, color, color);
    (grid.material as THREE.LineBasicMaterial).transparent = true;
    (grid.material as THREE.LineBasicMaterial).opacity = 0.55;
    (grid.material as THREE.LineBasicMaterial).depthWrite = false;
    grid.rotateX(Math.PI / 2);
    const centre = this.box.getCenter(new THREE.Vector3());
    const height = this.box.min.z - 0.01 * size.length();
    grid.position.set(Math.round(centre.x / cell) * cell, Math.round(centre.y / cell) * cell, height);
    grid.renderOrder = -2;
    this.ground.add(grid);
    for (const layer of this.layers) layer.setShadows(layer.instances < (this.software ? plainShadows : manyInstances), height);
  }

  private makeHandle(): THREE.Group {
    const group = new THREE.Group();
    const material = new THREE.MeshBasicMaterial({color: 0xd55e00, depthTest: false, transparent: true});
    const rod = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5), material);
    const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 12, 8), material);
    group.add(rod, ball);
    group.visible = false;
    group.renderOrder = 10;
    return group;
  }

  showHandle(from: THREE.Vector3 | null, to?: THREE.Vector3): void {
    this.handle.visible = from !== null;
    this.invalidate();
    if (!from || !to) return;
    const [rod, ball] = this.handle.children;
    const r = 0.004 * this.camera.position.distanceTo(from);
    const length = Math.max(from.distanceTo(to), 1e-9);
    this.handle.position.copy(from);
    rod.lookAt(to);
    rod.scale.set(0.5 * r, 0.5 * r, length);
    ball.position.copy(to).sub(from);
    ball.scale.setScalar(1.6 * r);
  }

  choose(id: number): void {
    for (const layer of this.layers) layer.uniforms.chosen.value = id;
    this.invalidate();
  }

  idOf(layer: number, part: Part): number {
    let first = 0;
    for (let k = 0; k < layer; ++k) first += this.layers[k].parts.length;
    return first + this.layers[layer].parts.indexOf(part);
  }

  // What is drawn at a place of the page: a pass of one pixel that writes ids and depths.
  pick(clientX: number, clientY: number): Hit | null {
    const rect = this.renderer.domElement.getBoundingClientRect();
    const x = clientX - rect.left;
    const y = clientY - rect.top;
    if (x < 0 || y < 0 || x >= rect.width || y >= rect.height) return null;
    this.camera.setViewOffset(rect.width, rect.height, Math.floor(x), Math.floor(y), 1, 1);
    this.ground.visible = false;
    const handle = this.handle.visible;
    this.handle.visible = false;
    const arrows = this.arrows.group.visible;
    this.arrows.group.visible = false;
    const shadows: THREE.Object3D[] = [];
    for (const layer of this.layers) {
      layer.uniforms.picking.value = 1;
      for (const child of layer.group.children)
        if (child.name === 'shadow' && child.visible) {
          child.visible = false;
          shadows.push(child);
        }
    }
    this.renderer.setRenderTarget(this.pickTarget);
    this.renderer.setClearColor(0, 0);
    this.renderer.clear();
    this.renderer.render(this.scene, this.camera);
    const pixel = new Float32Array(4);
    this.renderer.readRenderTargetPixels(this.pickTarget, 0, 0, 1, 1, pixel);
    this.renderer.setRenderTarget(null);
    this.setBackground();
    this.camera.clearViewOffset();
    this.ground.visible = true;
    this.handle.visible = handle;
    this.arrows.group.visible = arrows;
    for (const layer of this.layers) layer.uniforms.picking.value = 0;
    for (const shadow of shadows) shadow.visible = true;
    this.invalidate();
    if (pixel[3] === 0 || pixel[0] < 0) return null;
    let id = Math.round(pixel[0]);
    for (let k = 0; k < this.layers.length; ++k) {
      const parts = this.layers[k].parts;
      if (id < parts.length) {
        const ndc = new THREE.Vector3((2 * x) / rect.width - 1, 1 - (2 * y) / rect.height, 2 * pixel[1] - 1);
        return {layer: k, part: parts[id], at: ndc.unproject(this.camera)};
      }
      id -= parts.length;
    }
    return null;
  }

  // The point at the mouse in the plane through `at` that faces the camera.
  pointInPlane(clientX: number, clientY: number, at: THREE.Vector3): THREE.Vector3 {
    const rect = this.renderer.domElement.getBoundingClientRect();
    const ndc = new THREE.Vector2((2 * (clientX - rect.left)) / rect.width - 1, 1 - (2 * (clientY - rect.top)) / rect.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(ndc, this.camera);
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const out = new THREE.Vector3();
    return ray.ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, at), out) ?? at.clone();
  }

  toPage(at: THREE.Vector3): {x: number; y: number} {
    const rect = this.renderer.domElement.getBoundingClientRect();
    const p = at.clone().project(this.camera);
    return {x: rect.left + ((p.x + 1) / 2) * rect.width, y: rect.top + ((1 - p.y) / 2) * rect.height};
  }

  turn(horizontal: number, vertical: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const s = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    s.theta += horizontal;
    s.phi = Math.min(Math.PI - 0.02, Math.max(0.02, s.phi + vertical));
    const v = new THREE.Vector3().setFromSpherical(s);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(v.x, -v.z, v.y));
    this.controls.update();
    this.invalidate();
  }

  zoom(factor: number): void {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.controls.update();
    this.invalidate();
  }

  private resize(): void {
    const {clientWidth: w, clientHeight: h} = this.place;
    if (!w || !h) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2) * this.resolution * this.hurried);
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  render(now = performance.now()): void {
    this.dirty = false;
    const pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(1, this.place.clientHeight);
    for (const layer of this.layers) layer.uniforms.pixel.value = pixel;
    this.renderer.render(this.scene, this.camera);
    ++this.renders;
    this.keepSmooth(now);
  }

  // While someone pulls, a picture soon is worth more than a sharp one.
  hurry(on: boolean): void {
    const wanted = on && this.software ? 0.6 : 1;
    if (wanted === this.hurried) return;
    this.hurried = wanted;
    this.resize();
  }

  // Draws, and waits for it.
  finish(): void {
    this.render();
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  // Fewer pixels where drawing cannot keep up (software rendering).
  private keepSmooth(now: number): void {
    const took = now - this.lastRender;
    this.lastRender = now;
    this.slow = took > 70 && took < 1000 ? this.slow + 1 : 0;
    if (!this.adaptive || this.slow < 6 || this.resolution <= 0.5) return;
    this.slow = 0;
    this.resolution = Math.max(0.5, this.resolution * 0.8);
    this.resize();
  }

  picture(): Promise<Blob> {
    this.render();
    return new Promise((done, fail) =>
      this.renderer.domElement.toBlob((blob) => (blob ? done(blob) : fail(new Error('no picture'))), 'image/png'));
  }
}

// Smooth edges cost a software renderer four times the time.
function drawsInSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) throw new Error('this browser has no WebGL 2, which the 3D view needs');
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

function fits(layer: Layer, moment: Moment): boolean {
  return moment.positions.length === 3 * layer.layout.frames.length;
}
