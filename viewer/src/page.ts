// Small helpers for the page: elements, numbers with units, downloads, light and dark.

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Record<string, unknown> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name in e && typeof value !== 'string') (e as unknown as Record<string, unknown>)[name] = value;
    else if (name.startsWith('on') && typeof value === 'function') e.addEventListener(name.slice(2), value as EventListener);
    else e.setAttribute(name, value === true ? '' : String(value));
  }
  e.append(...children);
  return e;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

// The digits that count, with a power of ten only where zeros would have to be counted: 50000, 0.0025, 3.9e-5.
export function digits(value: number, count = 6): string {
  const rounded = Number(value.toPrecision(count));
  const size = Math.abs(rounded);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? rounded.toExponential().replace('e+', 'e') : String(rounded);
}

// Six digits, with the unit scaled where that reads better: 25 MN, 1.2 mm. Rounding errors (3e-12 m) keep their power of ten.
const prefixes: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
const scalable = new Set(['N', 'Pa', 'J', 'm', 's', 'W', 'Hz', 'N m']);
export function quantity(value: number, unit: string, count = 6): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return unit ? `0 ${unit}` : '0';
  const found = scalable.has(unit) ? prefixes.find(([factor]) => Math.abs(value) >= factor * 0.9995) : undefined;
  if (!found) return `${digits(value, count)}${unit ? ` ${unit}` : ''}`;
  return `${digits(value / found[0], count)} ${found[1]}${unit}`;
}

export function seconds(t: number): string {
  return `${t.toFixed(3)} s`;
}

export function section(title: string, open = true): {box: HTMLDetailsElement; body: HTMLDivElement} {
  const body = element('div');
  const box = element('details', {open}, element('summary', {}, title), body);
  return {box, body};
}

export function table(head: string[], rows: (string | number)[][], caption?: string): HTMLTableElement {
  const numeric = (k: number) => rows.length > 0 && rows.every((row) => typeof row[k] === 'number');
  const t = element('table');
  if (caption) t.append(element('caption', {}, caption));
  const align = head.map((_, k) => (numeric(k) ? 'number' : ''));
  t.append(element('thead', {}, element('tr', {}, ...head.map((h, k) => element('th', {scope: 'col', class: align[k]}, h)))));
  const body = element('tbody');
  for (const row of rows)
    body.append(element('tr', {}, ...row.map((cell, k) =>
      element('td', {class: align[k]}, typeof cell === 'number' ? digits(cell) : cell))));
  t.append(body);
  return t;
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = element('a', {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function isDark(): boolean {
  return document.documentElement.dataset.theme === 'dark';
}

export function startTheme(changed: (dark: boolean) => void): void {
  const wanted = new URLSearchParams(location.search).get('theme') ?? new URLSearchParams(location.hash.slice(1)).get('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const set = (dark: boolean) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    changed(dark);
  };
  set(wanted ? wanted === 'dark' : system.matches);
  system.addEventListener('change', () => set(system.matches));
  byId('theme').addEventListener('click', () => set(!isDark()));
}

export function fileName(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'limber';
}
