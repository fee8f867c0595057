// What can be set while a simulation runs: time, parameters, loads, method, the strength of the handle.
import {LiveFrame} from './data';
import {byId, element, quantity, seconds} from './page';
import {Stage} from './stage';

export interface Parameter {
  name: string;
  text: string; // as written
  value: number;
  unit: string;
  literal: boolean; // a number, not an expression of others
}

export interface MethodChoice {
  name: string;
  label: string;
  applies: boolean;
  reason: string;
}

type Send = (command: Record<string, unknown>) => number;

// Where a slider of a parameter may go: around its value, whole numbers in whole steps.
export function sliderRange(p: Parameter): {min: number; max: number; step: number} {
  const whole = p.unit === '' && Number.isInteger(p.value) && Math.abs(p.value) >= 1;
  if (p.value === 0) return {min: 0, max: 1, step: 0.01};
  const [a, b] = [p.value / 4, p.value * 3];
  const [min, max] = a < b ? [a, b] : [b, a];
  if (whole) return {min: Math.ceil(min), max: Math.floor(max), step: 1};
  return {min, max, step: (max - min) / 220};
}

export class Controls {
  private inputs: (HTMLInputElement | HTMLSelectElement | HTMLButtonElement)[] = [];
  private parameterBox: HTMLElement;
  private methodBox: HTMLElement;
  private play = element('button', {type: 'button', id: 'play'}, 'Pause');
  private slider = element('input', {type: 'range', id: 'scrub', min: '0', max: '0', step: '1', value: '0', 'aria-label': 'Back in time'});
  private clock = element('output', {id: 'time', class: 'number'});
  private pace = element('output', {id: 'pace', class: 'dim number'});
  private here = element('button', {type: 'button', id: 'here', disabled: true, title: 'Go on from the moment that is shown'}, 'Go on from here');
  private shownParameters = '';
  private shownTime = 0;

  constructor(stage: Stage, private send: Send, scrub: (index: number) => void) {
    this.parameterBox = stage.addSection('Parameters');
    this.methodBox = stage.addSection('Method');
    const button = (id: string, text: string, label: string, command: Record<string, unknown>) => {
      const b = element('button', {type: 'button', id, title: label}, text);
      b.addEventListener('click', () => send(command));
      this.inputs.push(b);
      return b;
    };
    this.play.addEventListener('click', () => send({do: this.play.textContent === 'Pause' ? 'pause' : 'play'}));
    this.inputs.push(this.play);
    const speed = element('select', {id: 'speed', 'aria-label': 'Speed'}, ...[0.02, 0.1, 0.25, 0.5, 1, 2, 5].map((s) => element('option', {value: String(s), selected: s === 1}, `${s}×`)));
    speed.addEventListener('change', () => send({do: 'speed', value: Number(speed.value)}));
    this.inputs.push(speed);
    this.slider.addEventListener('input', () => scrub(Number(this.slider.value)));
    this.here.addEventListener('click', () => {
      send({do: 'rewind', time: this.shownTime});
      scrub(Infinity);
    });
    byId('bar').replaceChildren(
      this.play, button('step', 'Step', 'One time step', {do: 'step'}), button('reset', 'Reset', 'Back to the start', {do: 'reset'}),
      speed, this.slider, this.clock, this.pace, this.here, stage.pictureButton(),
      button('save', 'Save scene', 'Write the present state as a scene file', {do: 'save'}));
    document.addEventListener('keydown', (e) => {
      if (e.key === 'p' && !/^(INPUT|SELECT)$/.test((e.target as HTMLElement).tagName)) document.getElementById('point')?.click();
      if (e.key !== ' ' || /^(INPUT|SELECT|BUTTON|SUMMARY)$/.test((e.target as HTMLElement).tagName)) return;
      this.play.click();
      e.preventDefault();
    });
  }

  setEnabled(on: boolean): void {
    for (const input of this.inputs) input.disabled = !on;
    for (const input of this.parameterBox.querySelectorAll('input')) input.disabled = !on;
    for (const input of this.methodBox.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLButtonElement>('input, select, button')) input.disabled = !on;
  }

  showTime(history: LiveFrame[], scrubbed: number, latest: LiveFrame): void {
    const last = history.length - 1;
    const at = scrubbed < 0 ? last : scrubbed;
    this.slider.max = String(Math.max(0, last));
    this.slider.value = String(at);
    const frame = history[at] ?? latest;
    this.shownTime = frame.time;
    this.clock.textContent = seconds(frame.time);
    this.clock.dataset.value = String(frame.time);
    this.slider.setAttribute('aria-valuetext', seconds(frame.time));
    this.play.textContent = latest.paused ? 'Play' : 'Pause';
    this.pace.textContent = latest.paused ? 'paused' : latest.failed ? 'stopped' : `${latest.pace.toFixed(2)}× real time`;
    this.here.disabled = scrubbed < 0 || this.play.disabled;
  }

  show(parameters: Parameter[], methods: MethodChoice[], method: string, control: boolean, strength: number, reducible: boolean): void {
    const key = parameters.map((p) => p.name).join();
    if (key !== this.shownParameters) this.makeParameters(parameters, control, strength);
    this.shownParameters = key;
    for (const p of parameters) this.showValue(p);
    this.makeMethods(methods, method, reducible && control);
  }

  private makeParameters(parameters: Parameter[], control: boolean, strength: number): void {
    this.parameterBox.replaceChildren();
    for (const p of parameters.filter((q) => q.literal)) this.parameterBox.append(this.row(p));
    if (!parameters.some((p) => p.literal)) this.parameterBox.append(element('p', {class: 'dim'}, 'The scene has no parameters.'));
    if (!control) return;
    this.parameterBox.append(this.plainSlider('loads', 'All loads and weight', 0, 3, 0.01, 1, (x) => `${x.toFixed(2)}×`, (x) => this.send({do: 'loads', value: x})));
    const log = Math.log10(strength);
    this.parameterBox.append(this.plainSlider('strength', 'Strength of the pull', log - 2, log + 3, 0.05, log, (x) => quantity(10 ** x, 'N', 3) + '/m', (x) => this.send({do: 'strength', value: 10 ** x})));
  }

  private row(p: Parameter): HTMLElement {
    const {min, max, step} = sliderRange(p);
    const id = `parameter-${p.name}`;
    const input = element('input', {type: 'range', id, min: String(min), max: String(max), step: String(step), 'data-parameter': p.name, 'data-unit': p.unit});
    input.setAttribute('value', String(p.value));
    let timer = 0;
    input.addEventListener('input', () => {
      this.showValue({...p, value: Number(input.value)});
      clearTimeout(timer);
      timer = window.setTimeout(() => this.send({do: 'set', name: p.name, value: `${Number(input.value)}${p.unit ? ` ${p.unit}` : ''}`}), 60);
    });
    return element('div', {class: 'row'}, element('label', {for: id}, p.name), element('output', {for: id, class: 'number'}), input);
  }

  private showValue(p: Parameter): void {
    const input = document.getElementById(`parameter-${p.name}`) as HTMLInputElement | null;
    if (!input) return;
    if (document.activeElement !== input) input.value = String(p.value);
    const text = quantity(p.value, p.unit, 4);
    (input.previousElementSibling as HTMLElement).textContent = text;
    input.setAttribute('aria-valuetext', text);
  }

  private plainSlider(id: string, label: string, min: number, max: number, step: number, value: number, text: (x: number) => string, set: (x: number) => void): HTMLElement {
    const input = element('input', {type: 'range', id, min: String(min), max: String(max), step: String(step)});
    input.value = String(value);
    const out = element('output', {for: id, class: 'number'}, text(value));
    input.addEventListener('input', () => {
      out.textContent = text(Number(input.value));
      input.setAttribute('aria-valuetext', text(Number(input.value)));
      set(Number(input.value));
    });
    return element('div', {class: 'row'}, element('label', {for: id}, label), out, input);
  }

  private makeMethods(methods: MethodChoice[], method: string, reducible: boolean): void {
    const select = element('select', {id: 'method', 'aria-label': 'Method'}, ...methods.map((m) =>
      element('option', {value: m.name, selected: m.name === method, disabled: !m.applies, title: m.reason}, m.applies ? m.label : `${m.label} (does not apply)`)));
    select.addEventListener('change', () => this.send({do: 'method', name: select.value}));
    const refused = methods.filter((m) => !m.applies).map((m) => element('p', {class: 'dim'}, `${m.label}: ${m.reason}`));
    this.methodBox.replaceChildren(element('div', {class: 'row'}, element('label', {for: 'method'}, 'Method'), select), ...refused);
    if (!reducible) return;
    const point = element('button', {type: 'button', id: 'point', title: 'A linearisation point of the reduced model where the whole mechanism rests under its loads and your pull (p)'}, 'Add point');
    point.addEventListener('click', () => this.send({do: 'point'}));
    this.methodBox.append(element('div', {class: 'row'}, point));
  }
}
