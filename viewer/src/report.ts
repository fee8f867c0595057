// A report: the replay of what was recorded, its curves and tables, and what was run.
import {Recording, StoredRecording} from './data';
import {byId, element, quantity, seconds, section, table} from './page';
import {Curve, groupColumns, Plot} from './plots';
import {Stage} from './stage';

interface Table {
  title: string;
  head: string[];
  rows: (string | number)[][];
  note?: string;
}

interface StoredPlot {
  title: string;
  x: string;
  y: string;
  logarithmic?: boolean;
  points?: boolean;
  curves: {label: string; x: number[]; y: number[]}[];
}

interface StoredLayer {
  name: string;
  color: number[];
  opacity: number;
  recording: StoredRecording;
}

export interface ReportData {
  kind: 'run' | 'static' | 'compare';
  title: string;
  subtitle: string;
  axis: {name: string; unit: string}; // what the slider moves along: time, or the share of the load
  recording: StoredRecording;
  ghost?: boolean; // the first moment stays visible behind
  colour?: string; // field to colour by at first
  layers?: StoredLayer[];
  marks?: {at: number; name: string}[]; // events of a run
  warnings: string[];
  tables: Table[];
  plots: StoredPlot[];
  sources: {path: string; text: string}[];
}

class Replay {
  readonly recording: Recording;
  readonly layers: {recording: Recording; index: number}[] = [];
  t: number;
  playing = false;
  speed = 1;
  plots: Plot[] = [];
  private last = 0;
  private slider = element('input', {type: 'range', id: 'scrub', min: '0', step: 'any', 'aria-label': 'Time'});
  private clock = element('output', {id: 'time', class: 'number'});
  private button = element('button', {type: 'button', id: 'play'}, 'Play');

  constructor(private stage: Stage, private data: ReportData) {
    this.recording = new Recording(data.recording);
    this.t = this.recording.start;
    stage.setLayout(this.recording.layout, this.recording.fields);
    stage.fieldRange = (field) => this.range(field);
    this.addLayers();
    this.buildBar();
    stage.view.onRender = () => this.tick();
  }

  private get perSecond(): number {
    return this.data.axis.unit === 's' ? 1 : this.recording.duration / 3; // a load comes on in three seconds
  }

  private addLayers(): void {
    const {view} = this.stage;
    if (this.data.ghost) {
      const rest = view.addLayer(this.recording.layout);
      rest.setMoment(this.recording.at(this.recording.start));
      rest.setLook(0.25, [0.5, 0.55, 0.6]);
    }
    for (const stored of this.data.layers ?? []) {
      const recording = new Recording(stored.recording);
      const layer = view.addLayer(recording.layout);
      layer.setLook(stored.opacity, stored.color);
      this.layers.push({recording, index: view.layers.length - 1});
    }
    const shown = [0, 0.25, 0.5, 0.75, 1].map((s) => this.recording.at(this.recording.start + s * this.recording.duration));
    if (this.recording.motionFrames > 0) view.frame(shown);
    for (const places of this.recording.touches)
      for (let k = 3; k < places.length; k += 6) view.arrows.largest.value = Math.max(view.arrows.largest.value, Math.hypot(...places.subarray(k, k + 3)));
  }

  // From the least to the largest value of the whole recording.
  private ranges = new Map<number, [number, number]>();
  private range(field: number): [number, number] {
    const known = this.ranges.get(field);
    if (known) return known;
    let [low, high] = [Infinity, -Infinity];
    for (const t of this.recording.frameTimes)
      for (const x of this.recording.at(t).fields[field])
        if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    const range: [number, number] = low <= high ? [low, high > low ? high : low + 1] : [0, 1];
    this.ranges.set(field, range);
    return range;
  }

  private buildBar(): void {
    const {recording} = this;
    this.slider.min = String(recording.start);
    this.slider.max = String(recording.start + recording.duration);
    if (this.data.axis.unit !== 's') this.slider.setAttribute('aria-label', this.data.axis.name);
    this.slider.addEventListener('input', () => this.seek(Number(this.slider.value)));
    if (this.data.marks) this.slider.setAttribute('list', 'marks');
    this.button.addEventListener('click', () => this.toggle());
    const speed = element('select', {id: 'speed', 'aria-label': 'Speed'}, ...[0.1, 0.25, 0.5, 1, 2, 4].map((s) => element('option', {value: String(s), selected: s === 1}, `${s}×`)));
    speed.addEventListener('change', () => (this.speed = Number(speed.value)));
    const step = (n: number) => {
      this.playing = false;
      const times = recording.times;
      this.seek(times[Math.max(0, Math.min(times.length - 1, recording.indexAt(this.t) + n))]);
    };
    const back = element('button', {type: 'button', id: 'back', 'aria-label': 'One frame back'}, '◂');
    const next = element('button', {type: 'button', id: 'next', 'aria-label': 'One frame on'}, '▸');
    back.addEventListener('click', () => step(-1));
    next.addEventListener('click', () => step(1));
    const marks = this.data.marks ? [element('datalist', {id: 'marks'}, ...this.data.marks.map((m) => element('option', {value: String(m.at), label: m.name})))] : [];
    const time = recording.duration > 0 ? [this.button, back, next, this.slider, ...marks, this.clock, speed] : []; // of one moment there is nothing to play
    byId('bar').replaceChildren(...time, this.stage.pictureButton());
    document.addEventListener('keydown', (e) => {
      if (e.key !== ' ' || /^(INPUT|SELECT|BUTTON|SUMMARY)$/.test((e.target as HTMLElement).tagName)) return;
      this.toggle();
      e.preventDefault();
    });
  }

  toggle(): void {
    if (!this.playing && this.t >= this.recording.start + this.recording.duration - 1e-9) this.t = this.recording.start;
    this.playing = !this.playing;
    this.last = performance.now();
    this.button.textContent = this.playing ? 'Pause' : 'Play';
  }

  seek(t: number): void {
    const {recording} = this;
    this.t = Math.min(recording.start + recording.duration, Math.max(recording.start, t));
    if (recording.motionFrames > 0) this.stage.show(recording.at(this.t), !this.playing);
    for (const layer of this.layers) this.stage.view.setMoment(layer.recording.at(this.t), layer.index);
    this.slider.value = String(this.t);
    const text = this.data.axis.unit === 's' ? seconds(this.t) : quantity(this.t, this.data.axis.unit, 4);
    this.clock.textContent = text;
    this.slider.setAttribute('aria-valuetext', text);
    for (const plot of this.plots) plot.setCursor(this.t);
  }

  private tick(): void {
    if (!this.playing) return;
    const now = performance.now();
    const t = this.t + ((now - this.last) / 1000) * this.speed * this.perSecond;
    this.last = now;
    this.seek(t);
    if (t >= this.recording.start + this.recording.duration) this.toggle();
  }
}

function probePlots(replay: Replay, data: ReportData): Plot[] {
  const {recording} = replay;
  const axis = data.axis.unit ? `${data.axis.name} [${data.axis.unit}]` : data.axis.name;
  return spreadOut(groupColumns(recording.layout.scalars), recording).map(({title, columns}) => {
    const curves: Curve[] = columns.map((k) => ({
      label: recording.layout.scalars[k].name, unit: recording.layout.scalars[k].unit, x: recording.times, y: recording.scalars[k],
    }));
    return new Plot(title, curves, {xLabel: axis, onSeek: (t) => replay.seek(t), marks: data.marks});
  });
}

// A curve whose changes would not show beside the others of its group gets a plot of its own.
function spreadOut(groups: {title: string; columns: number[]}[], recording: Recording): {title: string; columns: number[]}[] {
  const range = (k: number): [number, number] => {
    let [low, high] = [Infinity, -Infinity];
    for (const x of recording.scalars[k]) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    return [low, high];
  };
  return groups.flatMap(({title, columns}) => {
    const ranges = columns.map(range);
    const all = Math.max(...ranges.map((r) => r[1])) - Math.min(...ranges.map((r) => r[0]));
    const size = Math.max(...ranges.flat().map(Math.abs)); // what changes by less than a millionth of it is rounding
    const hidden = columns.filter((_, c) => ranges[c][1] - ranges[c][0] > 1e-6 * size && ranges[c][1] - ranges[c][0] < 0.04 * all);
    const rest = columns.filter((k) => !hidden.includes(k));
    const alone = (k: number) => {
      const {name, unit} = recording.layout.scalars[k];
      return {title: unit ? `${name} [${unit}]` : name, columns: [k]};
    };
    const together = rest.length === 1 ? [alone(rest[0])] : rest.length ? [{title, columns: rest}] : [];
    return [...together, ...hidden.map(alone)];
  });
}

function storedPlot(p: StoredPlot): Plot {
  const unit = /\[(.*)\]/.exec(p.y)?.[1] ?? '';
  const curves = p.curves.map((c) => ({label: c.label, unit, x: c.x, y: c.y}));
  return new Plot(p.title, curves, {xLabel: p.x, yLabel: p.y, logarithmic: p.logarithmic, points: p.points});
}

export function showReport(stage: Stage, data: ReportData): void {
  document.body.classList.add('report');
  document.title = `${data.title} – limber`;
  byId('title').textContent = data.title;
  byId('subtitle').textContent = data.subtitle;
  const replay = new Replay(stage, data);

  const report = byId('report');
  if (data.warnings.length)
    report.append(element('h2', {}, 'Warnings'), element('ul', {class: 'warn', id: 'warnings'}, ...data.warnings.map((w) => element('li', {}, w))));
  const own = data.plots.map(storedPlot);
  replay.plots = probePlots(replay, data);
  const all = [...own, ...replay.plots];
  if (all.length) report.append(element('h2', {}, 'Curves'), element('div', {class: 'plots'}, ...all.map((p) => p.box)));
  for (const t of data.tables) {
    report.append(element('h2', {}, t.title));
    if (t.note) report.append(element('p', {class: 'dim'}, t.note));
    const made = table(t.head, t.rows);
    report.append(element('div', {class: t.rows.length > 14 ? 'scroll' : 'wide', tabindex: '0'}, made));
  }
  if (data.layers?.length) {
    const body = stage.addSection('Methods');
    body.append(...data.layers.map((l) => {
      const swatch = element('span', {class: 'swatch'});
      swatch.style.background = `rgb(${l.color.map((c) => Math.round(255 * c)).join(',')})`;
      return element('div', {}, swatch, l.name);
    }));
  }
  for (const source of data.sources) {
    const {box, body} = section(`Scene: ${source.path}`, false);
    body.append(element('pre', {tabindex: '0'}, source.text));
    report.append(box);
  }
  for (const plot of all) plot.draw();
  stage.onPlot = (name) => all.find((p) => p.box.textContent?.includes(name))?.box.scrollIntoView({block: 'center'});
  const field = recordingField(replay, data.colour);
  replay.seek(replay.recording.start);
  if (field >= 0) stage.colourBy(field);
  if (data.kind !== 'run') replay.seek(replay.recording.start + replay.recording.duration);
  const wanted = /t=([0-9.]+)/.exec(location.hash);
  if (wanted) replay.seek(Number(wanted[1]));
  Object.assign(window, {limber: {stage, replay, data, plots: all}});
}

function recordingField(replay: Replay, name: string | undefined): number {
  return name ? replay.recording.fields.findIndex((f) => f.name === name) : -1;
}
