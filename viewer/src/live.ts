// The live view: frames come over a WebSocket, commands go back. One viewer is in control, the others look.
import * as THREE from 'three';
import {decodeLiveFrame, FieldInfo, Layout, LiveFrame} from './data';
import {Controls, Parameter} from './live_controls';
import {byId, download, element, fileName, quantity, seconds} from './page';
import {groupColumns, Plot} from './plots';
import {Reading, Stage} from './stage';
import {Hit} from './view3d';

interface SceneMessage {
  type: 'scene';
  epoch: number;
  title: string;
  layout: Layout;
  fields: FieldInfo[];
  parameters: Parameter[];
  methods: {name: string; label: string; applies: boolean; reason: string}[];
  method: string;
  step: number; // [s]
  control: boolean; // false: a run that can only be watched
  strength: number; // of the handle [N/m]
  holds: boolean; // the method can be pulled at
  reducible: boolean; // its reduced model can get points
}

type Message =
  | SceneMessage
  | {type: 'role'; controls: boolean}
  | {type: 'note'; text: string}
  | {type: 'readings'; epoch: number; readings: Reading[]}
  | {type: 'saved'; name: string; text: string};

// When what happened to one move of a pull, in ms of the browser's clock. A step of the simulation was made after it came.
export interface Answer {
  moved: number; // the mouse, as the browser saw it
  sent: number;
  program: number; // a duration: from its arrival in the program to the frame
  received: number;
  applied: number; // poses are those of the frame
  drawn: number; // the picture is finished
}

const historyBytes = 96 << 20;

export class Live {
  scene: SceneMessage | null = null;
  latest: LiveFrame | null = null;
  history: LiveFrame[] = [];
  answers: Answer[] = []; // to the moves of a pull
  finishesPictures = false; // measures that too, which costs time
  frames = 0;
  scrubbed = -1; // index in the history, −1: live
  inControl = false;
  private socket: WebSocket;
  private controls: Controls;
  private fresh = false;
  private sequence = 0;
  private waiting: {sequence: number; moved: number; sent: number}[] = [];
  private received = 0; // [ms]
  private grabbed: {plane: THREE.Vector3; target: THREE.Vector3} | null = null;
  private plots = new Map<string, Plot>();
  private plotBox: HTMLElement;
  private lastPlot = 0;

  constructor(private stage: Stage) {
    const token = new URLSearchParams(location.search).get('token') ?? '';
    this.controls = new Controls(stage, (command) => this.send(command), (index) => this.scrub(index));
    this.plotBox = stage.addSection('Curves');
    stage.hint = 'Drag a part to pull at it, click it to read its numbers, or choose it here:';
    this.socket = new WebSocket(`ws://${location.host}/live?token=${encodeURIComponent(token)}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.addEventListener('message', (e) => (typeof e.data === 'string' ? this.receive(JSON.parse(e.data)) : this.frame(e.data)));
    this.socket.addEventListener('close', () => {
      stage.note('The simulation has ended or the connection is lost.');
      this.controls.setEnabled(false);
    });
    stage.view.onRender = () => this.draw();
    stage.onTexts = () => this.showTexts();
    stage.onPlot = (name) => this.togglePlot(name);
    stage.onChoose = (hit) => this.send({do: 'read', name: hit ? hit.part.name : ''});
    this.listen();
  }

  send(command: Record<string, unknown>): number {
    const sequence = ++this.sequence;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({...command, seq: sequence}));
    return sequence;
  }

  private receive(message: Message): void {
    if (message.type === 'scene') this.start(message);
    if (message.type === 'role') {
      this.inControl = message.controls;
      this.controls.setEnabled(message.controls && (this.scene?.control ?? false));
      byId('subtitle').dataset.role = message.controls ? 'controls' : 'watches';
    }
    if (message.type === 'note') this.stage.note(message.text);
    if (message.type === 'readings' && message.epoch === this.scene?.epoch) this.stage.extraReadings = message.readings;
    if (message.type === 'saved') {
      download(message.name, new Blob([message.text], {type: 'application/yaml'}));
      this.saved = message.text;
    }
  }
  saved = '';

  private start(scene: SceneMessage): void {
    const known = this.scene !== null;
    const sameLayout = known && JSON.stringify(scene.layout) === JSON.stringify(this.scene!.layout);
    this.scene = scene;
    document.title = `${scene.title} – limber`;
    byId('title').textContent = scene.title;
    const parts = this.stage;
    if (!sameLayout) {
      parts.setLayout(scene.layout, scene.fields);
      this.framed = false;
      this.resetHistory();
      this.makePlots();
    }
    parts.fieldRange = (field) => this.range(field);
    this.controls.show(scene.parameters, scene.methods, scene.method, scene.control, scene.strength, scene.reducible);
    this.controls.setEnabled(this.inControl && scene.control);
    const method = scene.methods.find((m) => m.name === scene.method)?.label ?? scene.method;
    byId('subtitle').textContent = scene.control ? `live, ${method}` : `watching a run, ${method}`;
  }
  private framed = false;
  private followed = 0; // [ms] when the camera last looked whether all is in the picture

  private resetHistory(): void {
    this.history = [];
    this.scrubbed = -1;
    this.latest = null;
    this.ranges.clear();
  }

  private frame(data: ArrayBuffer): void {
    if (!this.scene) return;
    const frame = decodeLiveFrame(data, this.scene.layout, this.scene.fields, this.scene.epoch);
    if (!frame) return;
    ++this.frames;
    // After a reset or a step back in time what came later is gone.
    while (this.history.length && this.history[this.history.length - 1].time >= frame.time) this.history.pop();
    this.history.push(frame);
    const most = Math.max(100, Math.min(6000, Math.floor(historyBytes / data.byteLength)));
    if (this.history.length > most) {
      this.history.shift();
      if (this.scrubbed > 0) --this.scrubbed;
    }
    this.latest = frame;
    if (this.framed && !frame.held) this.stage.view.see(frame);
    this.fresh = true;
    this.received = performance.now();
  }

  private draw(): void {
    if (!this.fresh || !this.latest) return;
    this.fresh = false;
    const frame = this.latest;
    if (!this.framed) {
      this.stage.view.frame([frame]);
      this.framed = true;
      if (!this.ready) setTimeout(() => this.sayReady(), 0);
    }
    if (this.scrubbed < 0) {
      this.stage.show(frame);
      const now = performance.now();
      if (now - this.followed > 400 && !frame.held) {
        this.followed = now;
        this.stage.view.follow();
      }
    }
    if (this.scrubbed >= 0) this.controls.showTime(this.history, this.scrubbed, frame);
    this.showHandle(frame);
    if (this.waiting.length && frame.felt >= this.waiting[0].sequence) this.measure(frame);
  }

  // The simulation waits for the first page that shows its start.
  private ready = false;
  private sayReady(): void {
    this.ready = true;
    this.stage.view.finish();
    this.send({do: 'ready'});
  }

  // If the picture is asked for, it is finished before the clock is read.
  private measure(frame: LiveFrame): void {
    const applied = performance.now();
    if (this.finishesPictures) this.stage.view.finish();
    const drawn = this.finishesPictures ? performance.now() : NaN;
    while (this.waiting.length && frame.felt >= this.waiting[0].sequence) {
      const {moved, sent} = this.waiting.shift()!;
      this.answers.push({moved, sent, program: 1000 * frame.answer, received: this.received, applied, drawn});
    }
    if (this.answers.length > 1000) this.answers.splice(0, 500);
  }

  private showHandle(frame: LiveFrame): void {
    if (!frame.held) {
      if (!this.grabbed) this.stage.view.showHandle(null);
      return;
    }
    const from = new THREE.Vector3().fromArray(frame.point);
    this.stage.view.showHandle(from, this.grabbed ? this.grabbed.target : from);
  }

  private showTexts(): void {
    const frame = this.latest;
    if (!frame) return;
    this.controls.showTime(this.history, this.scrubbed, frame);
    if (performance.now() - this.lastPlot > 300) this.drawPlots();
    const box = byId('force');
    box.hidden = !frame.held;
    if (!frame.held) return;
    const force = Math.hypot(...frame.force);
    box.textContent = `pulls with ${quantity(force, 'N', 3)}  (${frame.force.map((f) => quantity(f, 'N', 3)).join(', ')})`;
    box.dataset.value = String(force);
  }

  scrub(index: number): void {
    const last = this.history.length - 1;
    this.scrubbed = index >= last ? -1 : Math.max(0, index);
    const frame = this.history[this.scrubbed < 0 ? last : this.scrubbed];
    if (frame) {
      this.stage.show(frame, true);
      this.controls.showTime(this.history, this.scrubbed, this.latest ?? frame);
    }
  }

  get shown(): LiveFrame | null {
    return this.scrubbed >= 0 ? this.history[this.scrubbed] : this.latest;
  }

  // From the least to the largest value seen so far.
  private ranges = new Map<number, [number, number]>();
  private range(field: number): [number, number] {
    let [low, high] = this.ranges.get(field) ?? [Infinity, -Infinity];
    for (const x of this.shown?.fields[field] ?? []) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    if (low > high) return [0, 1];
    this.ranges.set(field, [low, high]);
    return [low, high > low ? high : low + 1];
  }

  // Curves of the numbers: the first group at once, others when their names are clicked.
  private makePlots(): void {
    this.plots.clear();
    this.plotBox.replaceChildren(element('p', {class: 'dim'}, 'Click a number’s name to plot it, again to remove it.'));
    const first = groupColumns(this.scene!.layout.scalars)[0];
    if (first) this.togglePlot(this.scene!.layout.scalars[first.columns[0]].name);
  }

  private togglePlot(name: string): void {
    const group = groupColumns(this.scene!.layout.scalars).find((g) => g.columns.some((k) => this.scene!.layout.scalars[k].name.endsWith(name)));
    if (!group) return;
    const known = this.plots.get(group.title);
    if (known) {
      known.box.remove();
      this.plots.delete(group.title);
      return;
    }
    const plot = new Plot(group.title, this.curves(group.columns), {xLabel: 'time [s]'});
    this.plots.set(group.title, plot);
    this.plotBox.append(plot.box);
    plot.draw(undefined, 150);
  }

  private curves(columns: number[]): {label: string; unit: string; x: number[]; y: number[]}[] {
    const end = this.latest?.time ?? 0;
    const shown = this.history.filter((f) => f.time >= end - 10);
    const stride = Math.max(1, Math.floor(shown.length / 400));
    const used = shown.filter((_, k) => k % stride === 0);
    const x = used.map((f) => f.time);
    return columns.map((k) => ({...this.scene!.layout.scalars[k], label: this.scene!.layout.scalars[k].name, x, y: used.map((f) => f.scalars[k])}));
  }

  private drawPlots(): void {
    this.lastPlot = performance.now();
    const groups = groupColumns(this.scene!.layout.scalars);
    for (const [title, plot] of this.plots) plot.setCurves(this.curves(groups.find((g) => g.title === title)!.columns));
    for (const plot of this.plots.values()) plot.setCursor(this.scrubbed >= 0 ? this.history[this.scrubbed].time : NaN);
  }

  // Pulling: a drag that begins on a part that can move.
  private listen(): void {
    const canvas = byId('canvas');
    let start: {x: number; y: number; hit: Hit} | null = null;
    canvas.addEventListener('pointerdown', (e) => {
      if (e.button !== 0 || !this.canPull()) return;
      const hit = this.stage.view.pick(e.clientX, e.clientY);
      if (!hit || !this.movable(hit)) return;
      if (e.altKey && hit.part.kind !== 'frame') {
        e.stopPropagation();
        this.send({do: 'cut', index: this.nearestPoint(hit)});
        return;
      }
      start = {x: e.clientX, y: e.clientY, hit};
      this.stage.view.controls.enabled = false;
      canvas.setPointerCapture(e.pointerId);
    }, {capture: true});
    const move = (e: PointerEvent) => {
      if (!start) return;
      if (!this.grabbed && Math.hypot(e.clientX - start.x, e.clientY - start.y) < 4) return;
      if (!this.grabbed) this.grab(start.hit);
      this.pull(this.stage.view.pointInPlane(e.clientX, e.clientY, this.grabbed!.plane), e.timeStamp);
    };
    // Moves as they come where the browser tells of them: `pointermove` waits for the next picture.
    const kind = 'onpointerrawupdate' in canvas ? 'pointerrawupdate' : 'pointermove';
    canvas.addEventListener(kind, (e) => move(e as PointerEvent), {capture: true});
    const end = () => {
      if (!start) return;
      start = null;
      this.stage.view.controls.enabled = true;
      if (this.grabbed) this.release();
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
  }

  private canPull(): boolean {
    return this.inControl && this.scrubbed < 0 && (this.scene?.control ?? false) && (this.scene?.holds ?? false);
  }

  private movable(hit: Hit): boolean {
    return hit.layer === 0 && !(hit.part.kind === 'frame' && this.scene!.layout.frames[hit.part.index].fixed);
  }

  // Of a line's piece that was hit.
  private nearestPoint(hit: Hit): number {
    const {index} = hit.part;
    const [a, b] = [0, 1].map((k) => new THREE.Vector3().fromArray(this.latest!.points, 3 * (index + k)));
    return hit.at.distanceTo(b) < hit.at.distanceTo(a) ? index + 1 : index;
  }

  grab(hit: Hit): void {
    const moment = this.latest!;
    const {part} = hit;
    const at = hit.at.clone();
    let p = [0, 0, 0];
    let index = part.index;
    if (part.kind === 'frame') {
      const [w, x, y, z] = moment.rotations.subarray(4 * index, 4 * index + 4);
      const origin = new THREE.Vector3().fromArray(moment.positions, 3 * index);
      p = at.clone().sub(origin).applyQuaternion(new THREE.Quaternion(x, y, z, w).invert()).toArray();
    } else {
      index = this.nearestPoint(hit);
    }
    this.grabbed = {plane: at, target: at.clone()};
    this.stage.view.hurry(true);
    this.send({do: 'grab', on: part.kind === 'frame' ? 'frame' : 'point', index, p, target: at.toArray()});
    this.stage.choose(hit);
  }

  pull(target: THREE.Vector3, moved: number): void {
    if (!this.grabbed) return;
    this.grabbed.target.copy(target);
    const sent = performance.now();
    this.waiting.push({sequence: this.send({do: 'drag', target: target.toArray()}), moved, sent});
  }

  release(): void {
    this.grabbed = null;
    this.waiting = [];
    this.send({do: 'release'});
    this.stage.view.showHandle(null);
    this.stage.view.hurry(false);
  }

  get name(): string {
    return fileName(this.scene?.title ?? '');
  }
}

export function showLive(stage: Stage): void {
  byId('subtitle').textContent = 'connecting …';
  Object.assign(window, {limber: {stage, live: new Live(stage), seconds}});
}
