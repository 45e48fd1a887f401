// What all charts share: the parts of ECharts that are bundled, colours of both themes, axes, tooltips, and the view of one figure. Tooltips are rich text: no HTML is made of strings.
import * as echarts from 'echarts/core';
import { BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import { AriaComponent, BrushComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, ParallelComponent, TitleComponent, ToolboxComponent, TooltipComponent, VisualMapComponent } from 'echarts/components';
import { LabelLayout } from 'echarts/features';
import { CanvasRenderer } from 'echarts/renderers';

echarts.use([BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart, AriaComponent, BrushComponent, DataZoomComponent, GridComponent, LegendComponent,
  MarkAreaComponent, MarkLineComponent, ParallelComponent, TitleComponent, ToolboxComponent, TooltipComponent, VisualMapComponent, LabelLayout, CanvasRenderer]);

export { echarts };

// ---- theme ----

const palettes = {
  light: {
    text: '#1b2129', muted: '#56606c', line: '#dfe3e8', axis: '#9aa4b0', card: '#ffffff', raised: '#ffffff',
    series: ['#1d5fd1', '#c2571a', '#1f8a5b', '#8a3fc7', '#b3254f', '#0f8399', '#8a6d0b', '#5a6472'],
    good: '#1f8a5b', bad: '#c22a4a', best: '#c2571a', faint: 'rgba(29,95,209,.32)',
    scale: ['#0b3c8c', '#1d6fd1', '#5aa5e6', '#a9d3f2', '#e3eef6'], // fast … slow
  },
  dark: {
    text: '#e4e8ed', muted: '#a3adb9', line: '#2d343d', axis: '#6b7683', card: '#181d23', raised: '#242b33',
    series: ['#7fb2ff', '#f0a35e', '#5fd0a0', '#c79bff', '#ff8fae', '#5fd3e8', '#e0c558', '#a3adb9'],
    good: '#5fd0a0', bad: '#ff8fae', best: '#ffb469', faint: 'rgba(127,178,255,.32)',
    scale: ['#d8ecff', '#86bdf7', '#3f83d6', '#234f8c', '#1f2c3f'],
  },
};

export function theme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = !matchMedia('print').matches && (chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
  return palettes[isDark ? 'dark' : 'light'];
}

// Black or white, whichever reads better on a colour of a scale: one of them has a contrast of 4.58 at least.
export function inkOn(color) {
  const [r, g, b] = echarts.color.parse(color).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}

export function colorAt(scale, part) {
  const at = Math.min(Math.max(part, 0), 1) * (scale.length - 1);
  const index = Math.min(Math.floor(at), scale.length - 2);
  return echarts.color.lerp(at - index, [scale[index], scale[index + 1]]);
}

// ---- numbers and texts ----

export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return Math.abs(value) >= 10 ** digits ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(digits)));
}
/** Kinds of outcomes of variants that no GPU ran: a constraint excludes them, the recording lacks them, their compiler was killed. */
export const isUnrun = (kind) => ['excluded', 'not_recorded', 'compiler_killed'].includes(kind);
export const us = (value) => `${number(value, 4)} µs`;
export const times = (value) => `${number(value, 4)} ×`;
// Rich text reads {name|text}: a brace of a database's text must not.
export const plain = (text) => String(text).replace(/[{}]/g, (brace) => (brace === '{' ? '(' : ')'));
export const short = (text, most = 28) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// How long a start all of some texts share.
function sharedStart(texts) {
  let n = 0;
  while (n < texts[0].length && texts.every((text) => text[n] === texts[0][n])) n++;
  return n;
}

// For each label how many of `labels` look like it.
function alike(labels) {
  const count = new Map();
  for (const label of labels) count.set(label, (count.get(label) ?? 0) + 1);
  return (label) => count.get(label);
}

// Labels of one chart, cut to `most` letters: parts that all share are left out, and what is too long loses its middle. Where two would then look alike, they may take
// `limit`: what stands around their first difference, and a number where even that does not tell them apart.
export function distinct(labels, most = 44, limit = 2 * most) {
  const split = labels.map((label) => label.split(' · '));
  const isShared = (n) => labels.length > 1 && split.every((parts) => parts.length === split[0].length && parts[n] === split[0][n]);
  const own = split.map((parts) => parts.filter((_, n) => !isShared(n)).join(' · ') || parts.join(' · '));
  const halves = own.map((label) => (label.length > most ? `${label.slice(0, Math.ceil(most / 2))}…${label.slice(-Math.floor(most / 2) + 1)}` : label));
  const likeHalf = alike(halves);
  const around = own.map((label, n) => {
    if (likeHalf(halves[n]) === 1) return halves[n];
    if (label.length <= limit) return label;
    const rivals = own.filter((_, k) => halves[k] === halves[n]);
    const from = Math.max(0, Math.min(sharedStart(rivals) - Math.floor(limit / 2), label.length - limit + 1));
    return `${from ? '…' : ''}${label.slice(from, from + limit - 2)}${from + limit - 2 < label.length ? '…' : ''}`;
  });
  const likeCut = alike(around);
  return around.map((label, n) => (likeCut(label) > 1 ? `${label.slice(0, limit - 4)} #${n + 1}` : label));
}

// The knobs of point i of a subject as lines of text, those in the winner's way left out when `winner` is given.
export function knobsOf(subject, i) {
  return subject.knobs.map((knob, k) => (subject.points.levels[k].length ? knob.values[subject.points.levels[k][i]] : '–'))
    .map((value, k) => (value === '–' ? '' : `${subject.knobs[k].name}=${value}`)).filter(Boolean);
}

export function wrap(parts, width = 64) {
  const lines = [''];
  for (const part of parts) {
    if (lines.at(-1).length + part.length > width && lines.at(-1)) lines.push('');
    lines[lines.length - 1] += (lines.at(-1) ? '  ' : '') + part;
  }
  return lines.join('\n');
}

export function describePoint(subject, i, kinds) {
  const p = subject.points;
  const kind = kinds[p.kind[i]];
  const head = p.us[i] === null ? kind : `${us(p.us[i])}${p.half[i] === null ? '' : ` ± ${number(p.half[i], 2)}`}  (${times(p.us[i] / subject.fastest)})${kind === 'ok' ? '' : `  ${kind}`}`;
  return plain(`${head}\nevaluation ${p.e[i]}${subject.arms.length && subject.arms[p.arm[i]] ? `, proposed by: ${subject.arms[p.arm[i]]}` : ''}\n${wrap(knobsOf(subject, i))}`);
}

// ---- options ----

export function tooltip(t, formatter, extra = {}) {
  return { renderMode: 'richText', confine: true, backgroundColor: t.raised, borderColor: t.axis, textStyle: { color: t.text, fontSize: 12, lineHeight: 17 }, formatter, ...extra };
}

export function axis(t, name, extra = {}) {
  const { axisLabel, ...rest } = extra;
  return {
    name, nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: t.muted, fontSize: 12 },
    axisLine: { onZero: false, lineStyle: { color: t.axis } }, axisTick: { lineStyle: { color: t.axis } }, splitLine: { lineStyle: { color: t.line } },
    axisLabel: { color: t.muted, fontSize: 11, hideOverlap: true, ...axisLabel }, minorTick: { show: false }, ...rest,
  };
}

// How labels of categories stand below `width` pixels so that none lies on the next: level, tilted, upright; where even that is too narrow, every other one and so on.
export function standing(labels, width) {
  const step = width / labels.length;
  if (Math.max(...labels.map(({ length }) => length)) * 7 + 8 <= step) return { rotate: 0, interval: 0 };
  return step >= 24 ? { rotate: 32, interval: 0 } : { rotate: 90, interval: Math.ceil(15 / step) - 1 };
}

// Labels of a logarithmic axis `length` pixels long: one of its ends that is no power of its base has a label only where the power beside it leaves room.
export function powers(low, high, length, base = 2, write = number) {
  const log = (v) => Math.log(v) / Math.log(base);
  const room = (18 * log(high / low)) / length;
  return (v) => {
    const off = Math.abs(log(v) - Math.round(log(v)));
    return off > 1e-9 && off < room ? '' : write(v);
  };
}

/** How charts mark what failed. */
export const CROSS = 'path://M1,0 L5,4 L9,0 L10,1 L6,5 L10,9 L9,10 L5,6 L1,10 L0,9 L4,5 L0,1 Z';

export const legend = (t, extra = {}) => ({ type: 'scroll', top: 0, left: 0, textStyle: { color: t.text, fontSize: 12 }, pageTextStyle: { color: t.muted }, pageIconColor: t.muted, inactiveColor: t.axis, itemWidth: 16, itemHeight: 10, ...extra });

// Zooming with the wheel would steal the page's scrolling: only with Ctrl, and by the box of the toolbox.
export const zoom = (extra = {}) => ({ type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false, ...extra });

export function toolbox(t) {
  return {
    right: 0, top: -4, itemSize: 13, iconStyle: { borderColor: t.muted }, emphasis: { iconStyle: { borderColor: t.text, textFill: t.text, textBackgroundColor: t.card } },
    feature: { dataZoom: { filterMode: 'none', title: { zoom: 'Zoom', back: 'Back' }, brushStyle: { color: t.faint } }, restore: { title: 'Reset' }, saveAsImage: { title: 'PNG', backgroundColor: t.card, pixelRatio: 2 } },
  };
}

// Sizes are meant for the usual text; on very wide screens the page's text grows, and charts with it.
const SIZES = new Set(['fontSize', 'lineHeight', 'nameGap', 'itemWidth', 'itemHeight']);
const EDGES = new Set(['left', 'right', 'top', 'bottom']);
function grow(value, factor, parent) {
  if (Array.isArray(value)) return value.length > 200 ? value : value.map((item) => grow(item, factor, parent));
  if (!value || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key,
    typeof item === 'number' && (SIZES.has(key) || (parent === 'grid' && EDGES.has(key))) ? item * factor : key === 'data' ? item : grow(item, factor, key)]));
}

// A pen that measures text as charts draw it.
function penOf(size) {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  return pen;
}

// Texts of axes (11 pixels) broken so that each line fits into `room`, at spaces where there are any, and how many lines the longest has. A chart's own breaking does not tell how many lines it makes.
export function inLines(texts, room) {
  const pen = penOf(11);
  const widthOf = (text) => pen.measureText(text).width;
  const fitting = (text) => Math.max(1, Math.floor((text.length * room) / widthOf(text)) - 1); // letters of a word that is too long
  const pieces = (word) => (widthOf(word) > room ? [word.slice(0, fitting(word)), ...pieces(word.slice(fitting(word)))] : [word]);
  const broken = texts.map((text) => text.split(' ').flatMap(pieces).reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`;
    return widthOf(longer) > room ? [...lines, word] : [...lines.slice(0, -1), longer.trimStart()];
  }, ['']).filter(Boolean));
  return [broken.map((lines) => lines.join('\n')), Math.max(1, ...broken.map(({ length }) => length))];
}

// A legend breaks into lines where it can, so that none of its names is cut; what stands in more than MOST_LINES is turned page by page.
const MOST_LINES = 4;
const LINE = 20;
function wrapLegend(option, width) {
  const { legend: words, grid } = option;
  if (!words || !grid || Array.isArray(grid)) return 0;
  const names = words.data ?? option.series.map(({ name }) => name);
  const pen = penOf(12);
  const room = width - (words.right ?? 0);
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const own = words.itemWidth + 15 + pen.measureText(name).width;
    if (used && used + own > room) [lines, used] = [lines + 1, 0];
    used += own;
  }
  if (lines > MOST_LINES) return 0;
  option.legend = { ...words, type: 'plain' };
  option.grid = { ...grid, top: grid.top + (lines - 1) * LINE };
  return (lines - 1) * LINE;
}

// ---- a figure ----

let lastId = 0;

export class View {
  constructor(figure, data, shared, state) {
    Object.assign(this, { figure, data, shared, state, plots: [], bar: null, isLive: false });
    this.label = figure.querySelector('figcaption').textContent;
  }

  get subject() { return this.shared.subjects[this.state.subject]; }

  get width() { return this.figure.clientWidth || 600; }

  get isNarrow() { return this.width < 560; }

  control(element, text) {
    if (!this.bar) {
      this.bar = document.createElement('div');
      this.bar.className = 'bar';
      this.figure.querySelector('figcaption').after(this.bar);
    }
    const label = document.createElement('label');
    element.id ||= `control-${++lastId}`;
    label.htmlFor = element.id;
    label.append(text, element);
    this.bar.append(label);
    return element;
  }

  // options: [[value, text]]
  select(text, options, value, onChange) {
    const select = document.createElement('select');
    this.fill(select, options, value);
    select.addEventListener('change', () => onChange(select.value));
    return this.control(select, text);
  }

  fill(select, options, value) {
    select.replaceChildren(...options.map(([key, name]) => {
      const option = document.createElement('option');
      option.value = key;
      option.textContent = name;
      return option;
    }));
    select.value = String(value);
  }

  output() {
    const output = document.createElement('output');
    this.figure.append(output);
    return output;
  }

  // A line below the plots: what is not drawn.
  tell(text) {
    this.note ??= this.output();
    this.note.textContent = text;
  }

  plot(height) {
    const box = document.createElement('div');
    box.className = 'plot';
    box.style.height = `${height}px`;
    box.setAttribute('role', 'img');
    this.figure.append(box);
    const plot = { box, chart: echarts.init(box, null, { renderer: 'canvas' }) };
    this.plots.push(plot);
    return plot;
  }

  // On paper a browser shows the topmost of a chart's canvases alone (heat maps have several): one canvas with all of them lies over them meanwhile.
  flatten() {
    for (const { box, chart } of this.plots) {
      if (box.querySelectorAll('canvas').length < 2) continue;
      const flat = chart.renderToCanvas({ pixelRatio: 2 });
      flat.className = 'flat';
      box.append(flat);
    }
  }

  unflatten() {
    for (const flat of this.figure.querySelectorAll('.flat')) flat.remove();
  }

  // In the place of a chart, why there is none.
  drawNothing(plot, text) {
    this.draw(plot, { title: { left: 0, text, textStyle: { color: theme().muted, fontSize: 13, lineHeight: 17, width: this.width - 10, overflow: 'break' } } }, 60);
  }

  // Draws anew; `note` completes what a screen reader is told.
  draw(plot, option, height, note = '') {
    const factor = Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 15);
    if (this.isNarrow || matchMedia('print').matches) delete option.toolbox;
    else if (option.toolbox && option.legend) option.legend.right = 120;
    height += wrapLegend(option, this.width / factor);
    const scaled = factor > 1 && !Array.isArray(option.grid) ? grow(option, factor) : option;
    height *= scaled === option ? 1 : factor;
    if (height && plot.box.style.height !== `${Math.round(height)}px`) plot.box.style.height = `${Math.round(height)}px`;
    plot.box.setAttribute('aria-label', `${this.label}. ${note} The tables of this section hold the figures.`);
    plot.chart.resize();
    plot.chart.setOption({ animation: false, textStyle: { fontFamily: 'system-ui, "DejaVu Sans", sans-serif' }, aria: { enabled: false }, ...scaled }, true);
  }
}
