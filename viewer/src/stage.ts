// What live view and report share: the picture, the numbers beside it, what is chosen, colours, plots of chosen numbers.
import * as THREE from 'three';
import {mapGradient} from './colors';
import {FieldInfo, Layout, Moment, pointCount} from './data';
import {byId, download, element, fileName, quantity, section} from './page';
import type {Layer} from './layer';
import {Hit, View3D} from './view3d';

export interface Reading {
  name: string;
  value: number;
  unit: string;
}

export class Stage {
  readonly view: View3D;
  readonly panel = byId('panel');
  layout: Layout = {title: '', frames: [], polylines: [], scalars: []};
  fields: FieldInfo[] = [];
  chosen: Hit | null = null;
  moment: Moment | null = null;
  // More numbers of what is chosen than the moment itself holds.
  extraReadings: Reading[] = [];
  hint = 'Click a part to read its numbers, or choose it here:';
  onChoose: ((hit: Hit | null) => void) | null = null;
  onPlot: ((name: string) => void) | null = null;
  fieldRange: (field: number) => [number, number] = () => [0, 1];

  private numbers = section('Numbers');
  private selected = section('Chosen part');
  private colours = section('Colours');
  private numberCells: HTMLElement[] = [];
  private forces = section('Contact forces');
  private arrowsChoice = element('input', {type: 'checkbox', id: 'arrows', checked: true});
  private arrowsScale = element('output', {id: 'arrows-scale', class: 'number'});
  private colourChoice = element('select', {id: 'colour', 'aria-label': 'Colour by'});
  private shownField = -1;

  constructor() {
    this.view = new View3D(byId('canvas'));
    this.panel.append(this.selected.box, this.numbers.box, this.colours.box, this.forces.box);
    this.forces.body.append(element('div', {class: 'row'}, element('label', {for: 'arrows'}, 'Show arrows'), this.arrowsChoice), element('p', {class: 'dim'}, 'The longest so far: ', this.arrowsScale, ' (half as long is a quarter)'));
    this.forces.box.hidden = true;
    this.arrowsChoice.addEventListener('change', () => this.showArrows(this.arrowsChoice.checked));
    this.colours.body.append(element('div', {class: 'row'}, element('label', {for: 'colour'}, 'Colour by'), this.colourChoice));
    this.colourChoice.addEventListener('change', () => this.colourBy(Number(this.colourChoice.value)));
    this.listen();
    this.showChosen();
  }

  addSection(title: string, open = true): HTMLElement {
    const {box, body} = section(title, open);
    this.panel.append(box);
    return body;
  }

  setLayout(layout: Layout, fields: FieldInfo[]): void {
    this.layout = layout;
    this.fields = fields;
    this.view.clear();
    this.view.addLayer(layout);
    this.view.arrows.largest.value = 0;
    this.forces.box.hidden = true;
    this.choose(null);
    const rows = layout.scalars.map(({name, unit}) => {
      const cell = element('td', {class: 'number', 'data-scalar': name}, '–');
      this.numberCells.push(cell);
      const button = element('button', {class: 'name', type: 'button', title: `Plot ${name}`}, name);
      button.addEventListener('click', () => this.onPlot?.(name));
      return element('tr', {'data-unit': unit}, element('td', {}, button), cell);
    });
    this.numberCells = rows.map((row) => row.lastElementChild as HTMLElement);
    this.numbers.body.replaceChildren(
      layout.scalars.length ? element('table', {}, element('tbody', {}, ...rows)) : element('p', {class: 'dim'}, 'The scene asks for no numbers.'));
    this.colourChoice.replaceChildren(
      element('option', {value: '-1'}, 'as in the scene'),
      ...fields.map((f, k) => element('option', {value: String(k)}, f.unit ? `${f.name} [${f.unit}]` : f.name)));
    this.colours.box.hidden = fields.length === 0;
    this.shownField = -1;
    this.legend();
  }

  show(moment: Moment, textsAtOnce = false): void {
    this.moment = moment;
    this.view.setMoment(moment);
    if (this.shownField >= 0) {
      const [low, high] = this.fieldRange(this.shownField);
      if (low !== this.shownRange[0] || high !== this.shownRange[1]) this.colourBy(this.shownField);
    }
    // People read ten numbers a second at most, and changing text costs more than drawing: four where there is no GPU.
    const now = performance.now();
    const pause = this.view.software ? 250 : 120;
    clearTimeout(this.textTimer);
    if (textsAtOnce || now - this.textTime > pause) this.showTexts();
    else this.textTimer = window.setTimeout(() => this.showTexts(), pause);
  }

  private textTime = 0;
  private textTimer = 0;
  private shownRange = [0, 1];
  private showTexts(): void {
    this.textTime = performance.now();
    this.showNumbers();
    this.showChosen();
    const {value} = this.view.arrows.largest;
    this.forces.box.hidden = value === 0;
    if (value > 0) this.arrowsScale.textContent = quantity(value, 'N', 3);
    this.onTexts?.();
  }
  onTexts: (() => void) | null = null;

  private showNumbers(): void {
    const scalars = this.moment!.scalars;
    this.layout.scalars.forEach(({unit}, k) => {
      const cell = this.numberCells[k];
      cell.textContent = quantity(scalars[k], unit);
      cell.dataset.value = String(scalars[k]);
    });
  }

  // Colours
  colourBy(field: number): void {
    this.shownField = field;
    this.colourChoice.value = String(field);
    const [low, high] = field >= 0 ? this.fieldRange(field) : [0, 1];
    this.shownRange = [low, high];
    this.view.layers[0].setField(field >= 0 ? this.fields[field] : null, field, low, high);
    this.view.invalidate();
    this.legend(low, high);
  }

  // Forces between things that touch
  showArrows(on: boolean): void {
    this.arrowsChoice.checked = on;
    this.view.arrows.group.visible = on;
    this.view.invalidate();
  }

  private legend(low = 0, high = 1): void {
    const box = byId('legend');
    box.hidden = this.shownField < 0;
    if (box.hidden) return;
    const field = this.fields[this.shownField];
    const bar = element('div', {class: 'bar'});
    bar.style.background = mapGradient();
    const ends = element('div', {class: 'ends'}, element('span', {}, quantity(low, field.unit, 3)), element('span', {}, quantity(high, field.unit, 3)));
    box.replaceChildren(element('div', {}, field.name), bar, ends);
  }

  // Choosing
  choose(hit: Hit | null): void {
    this.chosen = hit;
    this.extraReadings = [];
    this.view.choose(hit ? this.view.idOf(hit.layer, hit.part) : -1);
    this.showChosen();
    this.onChoose?.(hit);
  }

  // The part of that name, for those who do not use a mouse.
  chooseByName(name: string): boolean {
    for (let k = 0; k < this.view.layers.length; ++k) {
      const part = this.view.layers[k].parts.find((p) => p.name === name);
      if (!part) continue;
      this.choose({layer: k, part, at: this.placeOf({layer: k, part, at: new THREE.Vector3()})});
      return true;
    }
    return false;
  }

  placeOf(hit: Hit): THREE.Vector3 {
    const moment = this.view.layers[hit.layer].drawn;
    if (!moment) return new THREE.Vector3();
    if (hit.part.kind === 'frame') return new THREE.Vector3().fromArray(moment.positions, 3 * hit.part.index);
    return new THREE.Vector3().fromArray(moment.points, 3 * hit.part.index);
  }

  private readings(): Reading[] {
    const {chosen, moment} = this;
    if (!chosen || !moment) return [];
    const {part} = chosen;
    const drawn = this.view.layers[chosen.layer].drawn ?? moment;
    const out: Reading[] = [];
    const axes = ['x', 'y', 'z'];
    const place = this.placeOf(chosen);
    place.toArray().forEach((value, k) => out.push({name: axes[k], value, unit: 'm'}));
    if (part.kind === 'frame') {
      const [w, x, y, z] = drawn.rotations.subarray(4 * part.index, 4 * part.index + 4);
      const angle = 2 * Math.atan2(Math.hypot(x, y, z), w);
      out.push({name: 'turned by', value: (angle * 180) / Math.PI, unit: 'deg'});
    } else {
      let length = 0;
      let first = 0;
      for (let k = 0; k < part.polyline; ++k) first += this.layout.polylines[k]?.points ?? 0;
      const n = this.layout.polylines[part.polyline]?.points ?? 0;
      for (let k = first; k + 1 < first + n; ++k) {
        const p = drawn.points;
        length += Math.hypot(p[3 * k + 3] - p[3 * k], p[3 * k + 4] - p[3 * k + 1], p[3 * k + 5] - p[3 * k + 2]);
      }
      out.push({name: 'length', value: length, unit: 'm'});
    }
    this.fields.forEach((field, k) => {
      const index = field.on === 'frames' ? (part.kind === 'frame' ? part.index : -1) : part.kind === 'frame' ? -1 : field.on === 'polylines' ? part.polyline : part.index;
      const value = index >= 0 ? moment.fields[k]?.[index] : NaN;
      if (Number.isFinite(value)) out.push({name: field.name, value, unit: field.unit});
    });
    this.layout.scalars.forEach(({name, unit}, k) => {
      if (name.startsWith(`${part.name}.`)) out.push({name: name.slice(part.name.length + 1), value: moment.scalars[k], unit});
    });
    return out.concat(this.extraReadings);
  }

  private namesShown: Layer | null | undefined = undefined; // the layer whose names the field offers; undefined: no field
  showChosen(): void {
    if (!this.chosen) {
      const layer = this.view.layers[0] ?? null;
      if (this.namesShown === layer) return; // someone may be typing
      this.namesShown = layer;
      this.selected.body.replaceChildren(element('p', {class: 'dim'}, this.hint), this.nameField());
      return;
    }
    this.namesShown = undefined;
    const rows = this.readings().map((r) => {
      const name = element('button', {class: 'name', type: 'button', title: `Plot ${r.name}`}, r.name);
      name.addEventListener('click', () => this.onPlot?.(r.name));
      return element('tr', {}, element('td', {}, name), element('td', {class: 'number', 'data-reading': r.name, 'data-value': String(r.value)}, quantity(r.value, r.unit)));
    });
    const existing = this.selected.body.querySelector('tbody');
    if (existing && existing.parentElement!.dataset.part === this.chosen.part.name && existing.rows.length === rows.length) {
      rows.forEach((row, k) => {
        const [from, to] = [row.lastElementChild as HTMLElement, existing.rows[k].lastElementChild as HTMLElement];
        to.textContent = from.textContent;
        to.dataset.value = from.dataset.value;
      });
      return;
    }
    const clear = element('button', {type: 'button'}, 'Choose none');
    clear.addEventListener('click', () => this.choose(null));
    this.selected.body.replaceChildren(
      element('p', {id: 'chosen'}, element('strong', {}, this.chosen.part.name)),
      element('table', {'data-part': this.chosen.part.name}, element('tbody', {}, ...rows)), clear);
  }

  private nameField(): HTMLElement {
    const names = [...new Set(this.view.layers[0]?.parts.map((p) => p.name) ?? [])].slice(0, 2000);
    const list = element('datalist', {id: 'parts'}, ...names.map((n) => element('option', {value: n})));
    const input = element('input', {type: 'text', list: 'parts', 'aria-label': 'Name of a part', placeholder: 'name of a part'});
    input.setAttribute('list', 'parts');
    input.addEventListener('change', () => this.chooseByName(input.value));
    return element('div', {}, input, list);
  }

  // A click that is no drag chooses; keys turn and zoom.
  private listen(): void {
    const canvas = byId('canvas');
    let down = {x: 0, y: 0};
    canvas.addEventListener('pointerdown', (e) => (down = {x: e.clientX, y: e.clientY}));
    canvas.addEventListener('pointerup', (e) => {
      if (e.button === 0 && Math.hypot(e.clientX - down.x, e.clientY - down.y) < 4) this.choose(this.view.pick(e.clientX, e.clientY));
    });
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.view.turn(-0.08, 0), ArrowRight: () => this.view.turn(0.08, 0),
      ArrowUp: () => this.view.turn(0, -0.08), ArrowDown: () => this.view.turn(0, 0.08),
      '+': () => this.view.zoom(0.88), '-': () => this.view.zoom(1 / 0.88), '0': () => this.view.resetCamera(),
      Escape: () => this.choose(null),
    };
    canvas.addEventListener('keydown', (e) => {
      if (!keys[e.key]) return;
      keys[e.key]();
      e.preventDefault();
    });
  }

  pictureButton(): HTMLElement {
    const button = element('button', {type: 'button', id: 'picture'}, 'Save picture');
    button.addEventListener('click', async () => download(`${fileName(this.layout.title)}.png`, await this.view.picture()));
    return button;
  }

  note(text: string): void {
    const box = byId('note');
    box.hidden = !text;
    box.textContent = text;
  }

  get pointCount(): number {
    return pointCount(this.layout);
  }
}
