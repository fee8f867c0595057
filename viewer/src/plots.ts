// Curves against time, one plot for each unit and first name, drawn by uPlot.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {curveColor} from './colors';
import {digits, element} from './page';

export interface Curve {
  label: string;
  unit: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface PlotOptions {
  xLabel: string;
  yLabel?: string; // instead of the curves' unit
  onSeek?: (x: number) => void;
  logarithmic?: boolean;
  points?: boolean;
  marks?: {at: number; name: string}[]; // events
}

function axisColors(): {stroke: string; grid: {stroke: string; width: number}} {
  const style = getComputedStyle(document.documentElement);
  return {stroke: style.getPropertyValue('--dim'), grid: {stroke: style.getPropertyValue('--line'), width: 1}};
}

// Ticks as texts that differ: as many decimals as their distance needs; one power of ten where they are all small or large.
// On a logarithmic axis only some have a text, the others are null.
function tickTexts(splits: (number | null)[], distance: number, logarithmic: boolean): string[] {
  const largest = Math.max(...splits.map((x) => Math.abs(x ?? 0)));
  const places = (x: number) => Math.floor(Math.log10(x) + 1e-9);
  const is25 = Math.abs(distance / 10 ** places(distance) - 2.5) < 1e-6; // one decimal more
  const last = places(distance) - (is25 ? 1 : 0);
  return splits.map((x) => {
    if (x === null) return '';
    if (logarithmic) return digits(x, 1);
    if (Math.abs(x) < distance / 2) return '0';
    if (largest < 1e-3 || largest >= 1e6) return x.toExponential(Math.max(0, places(Math.abs(x)) - last)).replace('e+', 'e');
    return x.toFixed(Math.max(0, -last));
  });
}

// Room above and below; a curve that never changes stands in the middle.
function rangeOf(low: number, high: number): uPlot.Range.MinMax {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const room = high === 0 ? 1 : 0.1 * Math.abs(high);
    return [low - room, high + room];
  }
  const room = 0.06 * (high - low);
  return [low - room, high + room];
}

export class Plot {
  readonly box: HTMLElement;
  private chart: uPlot | null = null;
  private place: HTMLElement;
  private cursor = NaN;
  private sharedX: Float64Array = new Float64Array();

  constructor(readonly title: string, private curves: Curve[], private options: PlotOptions) {
    this.place = element('div');
    this.box = element('figure', {class: 'plot', role: 'group', 'aria-label': `Plot of ${title}`}, element('h3', {}, title), this.place);
    this.box.style.margin = '0';
  }

  // After the box stands in the page: only then is its width known.
  draw(width = Math.max(220, this.place.clientWidth || 320), height = 190): void {
    this.chart?.destroy();
    const {data, series} = this.data();
    const axis = axisColors();
    const logarithmic = this.options.logarithmic ?? false;
    const scale = logarithmic ? {distr: 3 as const} : {};
    const values = (_: uPlot, splits: number[], __: number, ___: number, distance: number) => tickTexts(splits, distance, logarithmic);
    this.chart = new uPlot({
      width, height, legend: {live: true},
      scales: {x: {time: false, ...scale}, y: logarithmic ? scale : {range: (_, low, high) => rangeOf(low, high)}},
      axes: [
        {...axis, values, label: this.options.xLabel, labelSize: 18, size: 34},
        {...axis, values, label: this.options.yLabel ?? (this.curves[0]?.unit || undefined), labelSize: 18, size: 62},
      ],
      series: [{label: this.options.xLabel}, ...series],
      hooks: {
        draw: [(u) => this.drawCursor(u)],
        ready: [(u) => u.over.addEventListener('click', () => {
          if (this.options.onSeek && u.cursor.left! >= 0) this.options.onSeek(u.posToVal(u.cursor.left!, 'x'));
        })],
      },
    }, data, this.place);
  }

  private data(): {data: uPlot.AlignedData; series: uPlot.Series[]} {
    const series = this.curves.map((c, k) => ({
      label: c.unit ? `${c.label} [${c.unit}]` : c.label, stroke: curveColor(k), width: 1.6, spanGaps: true,
      dash: k >= 8 ? [6, 3] : undefined, points: {show: this.options.points ?? false, size: 7},
    }));
    const same = this.curves.every((c) => c.x === this.curves[0].x);
    if (same) {
      this.sharedX = Float64Array.from(this.curves[0]?.x ?? []);
      return {data: [this.sharedX, ...this.curves.map((c) => Float64Array.from(c.y))] as unknown as uPlot.AlignedData, series};
    }
    const tables = this.curves.map((c) => [Array.from(c.x), Array.from(c.y)] as uPlot.AlignedData);
    return {data: uPlot.join(tables), series};
  }

  setCurves(curves: Curve[]): void {
    this.curves = curves;
    if (!this.chart) return;
    if (this.chart.series.length !== curves.length + 1) this.draw();
    else this.chart.setData(this.data().data);
  }

  setCursor(x: number): void {
    this.cursor = x;
    this.chart?.redraw(false);
  }

  private drawCursor(u: uPlot): void {
    for (const mark of this.options.marks ?? []) this.drawLine(u, mark.at, axisColors().stroke, [4, 4]);
    if (Number.isFinite(this.cursor)) this.drawLine(u, this.cursor, '#d55e00', []);
  }

  private drawLine(u: uPlot, at: number, color: string, dash: number[]): void {
    const x = Math.round(u.valToPos(at, 'x', true));
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    u.ctx.save();
    u.ctx.strokeStyle = color;
    u.ctx.setLineDash(dash);
    u.ctx.lineWidth = 1.5;
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }
}

// Columns that belong together: components of one probe, energies.
export function groupColumns(scalars: {name: string; unit: string}[]): {title: string; columns: number[]}[] {
  const groups = new Map<string, number[]>();
  scalars.forEach(({name, unit}, k) => {
    const parts = name.split('.');
    const isEnergy = parts[0] === 'energy';
    const stem = isEnergy ? 'energy' : parts.length > 1 && /^[xyz0-9]+$/.test(parts[parts.length - 1]) ? parts.slice(0, -1).join('.') : name;
    const key = `${stem}\n${unit}`;
    groups.set(key, [...(groups.get(key) ?? []), k]);
  });
  return [...groups].map(([key, columns]) => {
    const [stem, unit] = key.split('\n');
    return {title: unit ? `${stem} [${unit}]` : stem, columns};
  });
}
