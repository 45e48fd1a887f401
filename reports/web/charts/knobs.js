// What knobs do: importances, slices, pairs, parallel coordinates.
import { CROSS, axis, colorAt, describePoint, distinct, inkOn, knobsOf, legend, number, plain, powers, short, standing, theme, times, toolbox, tooltip, us, wrap } from './base.js';

// Knobs with more than one value, those that explain most first; knobs without figures, which the winner lacks, last.
const ranked = (subject) => subject.ranked.filter((k) => subject.knobs[k].values.length > 1);
const rated = (subject) => subject.ranked.filter((k) => subject.knobs[k].overall !== null);

export function importance(view) {
  const plot = view.plot(300);
  return (why) => {
    const t = theme();
    const s = view.subject;
    const order = rated(s).slice(0, 16).reverse();
    view.draw(plot, {
      color: [t.series[0], t.series[1]], legend: legend(t), grid: { left: 8, right: 44, top: 34, bottom: 40, containLabel: true },
      tooltip: tooltip(t, ({ seriesName, value, name }) => plain(`${name}\n${seriesName}: ${number(value)} %`)),
      xAxis: axis(t, 'per cent', { type: 'value', min: 0 }),
      yAxis: axis(t, '', { type: 'category', data: distinct(order.map((k) => s.knobs[k].name), 28).map(plain), axisLabel: { color: t.text, interval: 0 } }),
      series: [['sets the best tenth apart', 'nearBest', 1], ['explains variance', 'overall', 0]].map(([name, key, color]) => ({
        name, type: 'bar', barMaxWidth: 9, barGap: '10%', itemStyle: { color: t.series[color], borderRadius: [0, 3, 3, 0] }, data: order.map((k) => 100 * (s.knobs[k][key] ?? 0)),
      })),
    }, 90 + 26 * Math.max(order.length, 2), order.length ? `Weightiest: ${s.knobs[order.at(-1)].name}.` : '');
  };
}
importance.needsSubject = true;

// Values that a knob has where it is active; the mark of inactivity is always the last, so these are also places on an axis.
const active = (knob) => knob.values.map((_, level) => level).filter((level) => knob.values[level] !== '–');

const labelsOf = (knob) => distinct(active(knob).map((level) => knob.values[level]), 14).map(plain);

// ---- slices: one small panel for each knob; what is slower than MOST × its lower edge is drawn at the upper one ----

const MOST = 8;

function panel(s, k, place, t) {
  const knob = s.knobs[k];
  const p = s.points;
  const levels = active(knob);
  const boxes = levels.map((level) => knob.boxes[level]);
  const least = Math.min(...boxes.filter((box) => box[0] !== null).map((box) => box[0]));
  const low = 2 ** Math.floor(Math.log2(least) + 1e-9);
  const top = Math.min(MOST * low, 2 ** Math.ceil(Math.log2(Math.max(...boxes.map((box) => box[4] ?? 1))) + 1e-9));
  const points = [];
  for (let i = 0; i < p.us.length; i++) {
    const level = levels.indexOf(p.levels[k][i]);
    if (p.us[i] === null || !p.newest[i] || level < 0) continue;
    const jitter = ((i * 7919) % 997) / 997 - 0.5; // the same at each drawing
    points.push([level + 0.5 * jitter, Math.min(p.us[i] / s.fastest, top), i]);
  }
  const common = { gridIndex: place.index };
  const names = distinct(levels.map((level) => knob.values[level]), 14).map(plain);
  return {
    title: { text: plain(short(knob.name, 22)), left: place.left, top: place.top - 24, textStyle: { color: t.text, fontSize: 12.5, fontWeight: 600 } },
    grid: { left: place.left, top: place.top, width: place.width, height: place.height },
    xAxis: [
      axis(t, '', { ...common, type: 'category', data: names, splitLine: { show: false }, axisLabel: { hideOverlap: false, ...standing(names, place.width) } }),
      { ...common, type: 'value', show: false, min: -0.5, max: levels.length - 0.5 },
    ],
    yAxis: axis(t, '', { ...common, type: 'log', logBase: 2, min: low, max: Math.max(top, 2 * low), axisLabel: { formatter: (v) => `${v >= MOST * low ? '≥ ' : ''}${Number(v.toPrecision(3))}` } }),
    series: [
      { type: 'scatter', xAxisIndex: 2 * place.index + 1, yAxisIndex: place.index, symbolSize: points.length > 1500 ? 2.5 : 3.5, itemStyle: { color: t.faint }, data: points, cursor: 'default' },
      { type: 'boxplot', xAxisIndex: 2 * place.index, yAxisIndex: place.index, boxWidth: [8, 30], silent: true, z: 3, itemStyle: { color: 'transparent', borderColor: t.text, borderWidth: 1.3 },
        data: boxes.map((box) => (box[0] === null ? ['-', '-', '-', '-', '-'] : box.slice(0, 5).map((v) => Math.min(v, top)))) },
    ],
  };
}

export function slices(view) {
  const plot = view.plot(400);
  let most = '12';
  const render = (why) => {
    const t = theme();
    const s = view.subject;
    const order = ranked(s).filter((k) => active(s.knobs[k]).length > 1).slice(0, most === 'all' ? undefined : Number(most));
    const columns = Math.max(1, Math.min(order.length, Math.floor(view.width / 250)));
    const cell = view.width / columns;
    const rowHeight = 208;
    const parts = order.map((k, n) => panel(s, k, {
      index: n, left: 36 + (n % columns) * cell, top: 30 + Math.floor(n / columns) * rowHeight, width: cell - 52, height: rowHeight - 84,
    }, t));
    view.draw(plot, {
      tooltip: tooltip(t, ({ data }) => describePoint(s, data[2], view.shared.kinds)),
      title: parts.map((part) => part.title), grid: parts.map((part) => part.grid), xAxis: parts.flatMap((part) => part.xAxis), yAxis: parts.map((part) => part.yAxis), series: parts.flatMap((part) => part.series),
    }, 10 + rowHeight * Math.max(1, Math.ceil(order.length / columns)), `${order.length} knobs.`);
  };
  view.select('Knobs', [['6', 'weightiest 6'], ['12', 'weightiest 12'], ['all', 'all']], most, (value) => { most = value; render('mode'); });
  return render;
}
slices.needsSubject = true;

// ---- every variant's time over one knob ----

// Where points of one value lie beside each other: the same at each drawing.
const beside = (i) => ((i * 0.618034) % 1) * 0.6 - 0.3;

function timesOver(view, k, t) {
  const s = view.subject;
  const p = s.points;
  const { kinds } = view.shared;
  const levels = active(s.knobs[k]);
  const top = Math.max(1.05 * s.fastest, Math.min(s.fastest * MOST, Math.max(...p.us.filter((v, i) => v !== null && p.newest[i]))));
  const groups = { timed: [], 'stopped early': [], [`over ${MOST} × the fastest`]: [], failed: [] };
  const [ok, censored, beyond, failed] = Object.keys(groups);
  for (let i = 0; i < p.us.length; i++) {
    const at = levels.indexOf(p.levels[k][i]);
    const kind = kinds[p.kind[i]];
    if (at < 0 || !p.newest[i] || (p.us[i] === null && !view.shared.failures.includes(kind))) continue;
    const name = p.us[i] === null ? failed : kind === 'censored' ? censored : p.us[i] > top ? beyond : ok;
    groups[name].push([at + beside(i), p.us[i] === null ? top * 1.3 : Math.min(p.us[i], top), i]);
  }
  const labels = labelsOf(s.knobs[k]);
  const winner = s.winner.split(';').map((part) => part.split('=')).find(([name]) => name === s.knobs[k].name)?.[1];
  const marks = { [ok]: ['circle', t.series[0], 4.5], [censored]: ['emptyCircle', t.series[6], 6], [beyond]: ['triangle', t.series[0], 6],
    [failed]: [CROSS, t.bad, 8] };
  const names = Object.keys(groups).filter((name) => groups[name].length);
  const label = standing(labels, view.width - 80);
  const name = label.rotate ? '' : plain(s.knobs[k].name); // there is no room for it below tilted ones, and the choice above tells it
  return {
    legend: legend(t, { data: [...names, ...(winner === undefined ? [] : ['the winner'])] }), grid: { left: 30, right: 18, top: 40, bottom: 40, containLabel: true },
    tooltip: tooltip(t, ({ data, seriesName }) => (data[2] === undefined ? plain(seriesName) : describePoint(s, data[2], kinds))),
    xAxis: [{ ...axis(t, name), type: 'category', data: labels, axisLabel: { color: t.text, hideOverlap: false, ...label } },
      { type: 'value', show: false, min: -0.5, max: levels.length - 0.5 }],
    yAxis: axis(t, 'time (µs)', { type: 'log', logBase: 2, nameGap: 20 + 7 * number(top * 1.5).length, min: s.fastest * 0.94, max: top * 1.5, axisLabel: { formatter: powers(s.fastest * 0.94, top * 1.5, 260) } }),
    series: [...names.map((name) => ({ name, type: 'scatter', xAxisIndex: 1, symbol: marks[name][0], symbolSize: marks[name][2], color: marks[name][1], itemStyle: { opacity: 0.75 }, data: groups[name] })),
      ...(winner === undefined ? [] : [{ name: 'the winner', type: 'scatter', xAxisIndex: 1, symbol: 'diamond', symbolSize: 13, color: t.best, z: 6, data: [[levels.findIndex((level) => s.knobs[k].values[level] === winner), s.best]] }])],
  };
}

export function values(view) {
  let chosen = 0;
  const select = view.select('Knob', [], '', (value) => { chosen = Number(value); render('mode'); });
  const plot = view.plot(360);
  function render(why) {
    const t = theme();
    const s = view.subject;
    const order = ranked(s).filter((k) => s.points.levels[k].length);
    if (why === 'first' || why === 'subject') {
      [chosen] = order;
      view.fill(select, order.map((k) => [k, s.knobs[k].name]), chosen);
    }
    if (!order.length) return view.drawNothing(plot, 'No knob has two values');
    return view.draw(plot, timesOver(view, chosen, t), view.isNarrow ? 320 : 380, `Over ${s.knobs[chosen].name}.`);
  }
  return render;
}
values.needsSubject = true;

// ---- pairs ----

// The fastest of each pair of values. All rows made those that come with the page; where all points do too, these are enough.
function pairCells(s, a, b) {
  const found = s.pairs.find(([x, y]) => (x === a && y === b) || (x === b && y === a));
  const width = s.knobs[b].values.length;
  if (found) {
    const [first, second, cells] = found;
    const per = s.knobs[second].values.length;
    return cells.map((value, n) => (first === a ? [n % per, Math.floor(n / per), value] : [Math.floor(n / per), n % per, value])).filter(([, , value]) => value !== null);
  }
  const { levels, us, newest } = s.points;
  const least = new Map();
  for (let i = 0; i < us.length; i++) {
    if (us[i] === null || !newest[i] || !levels[a].length || !levels[b].length) continue;
    const at = levels[a][i] * width + levels[b][i];
    least.set(at, Math.min(least.get(at) ?? Infinity, us[i] / s.fastest));
  }
  return [...least].map(([at, value]) => [at % width, Math.floor(at / width), value]);
}

// Pairs of which every variant that was run failed, as far as the page knows.
function failedPairs(view, a, b, timed) {
  const { levels, kind, us, newest } = view.subject.points;
  const { kinds, failures } = view.shared;
  const found = new Map();
  for (let i = 0; i < us.length && levels[a].length && levels[b].length; i++) {
    const at = [levels[b][i], levels[a][i]];
    if (us[i] === null && newest[i] && failures.includes(kinds[kind[i]]) && !timed.has(String(at))) found.set(String(at), [...at, null]);
  }
  return [...found.values()];
}

export function pairs(view) {
  let chosen = [];
  const selects = ['Rows', 'Columns'].map((text, n) => view.select(text, [], '', (value) => { chosen[n] = Number(value); render('mode'); }));
  const plot = view.plot(380);

  function cells(s) {
    const [a, b] = chosen;
    const place = (k) => new Map(active(s.knobs[k]).map((level, n) => [level, n]));
    const [rows, columns] = [place(a), place(b)];
    const timed = pairCells(s, a, b);
    return [...timed, ...failedPairs(view, a, b, new Set(timed.map(([x, y]) => String([x, y]))))].filter(([x, y]) => columns.has(x) && rows.has(y)).map(([x, y, value]) => [columns.get(x), rows.get(y), value]);
  }

  function render(why) {
    const t = theme();
    const s = view.subject;
    const order = ranked(s);
    if (why === 'first' || why === 'subject') {
      [...chosen] = order; // the two that matter most
      selects.forEach((select, n) => view.fill(select, order.map((k) => [k, s.knobs[k].name]), chosen[n]));
    }
    const [a, b] = chosen;
    if (b === undefined) return view.drawNothing(plot, 'There are no two knobs to cross');
    const data = a === b ? [] : cells(s);
    const slowdowns = data.map(([, , v]) => v).filter((v) => v !== null);
    const fastest = Math.min(...slowdowns);
    const slowest = Math.max(1.02 * fastest, ...slowdowns);
    const part = (v) => Math.log(v / fastest) / Math.log(slowest / fastest);
    const hasRoom = data.length <= 150 && (view.width - 130) / active(s.knobs[b]).length >= 34; // for a number in each cell
    return view.draw(plot, {
      grid: { left: 8, right: 16, top: 10, bottom: 52, containLabel: true },
      tooltip: tooltip(t, ({ data: d }) => plain(`${s.knobs[b].name}=${s.knobs[b].values[d.value[0]]}  ${s.knobs[a].name}=${s.knobs[a].values[d.value[1]]}\n${d.failed ? 'all failed' : `fastest: ${us(d.value[2] * s.fastest)}  (${times(d.value[2])})`}`)),
      xAxis: axis(t, plain(view.isNarrow ? s.knobs[b].name : `${s.knobs[a].name} (rows) × ${s.knobs[b].name} (columns), slowdown`), { type: 'category', data: labelsOf(s.knobs[b]), splitLine: { show: false }, axisLabel: { color: t.text } }),
      yAxis: axis(t, '', { type: 'category', data: labelsOf(s.knobs[a]), splitLine: { show: false }, axisLabel: { color: t.text } }),
      series: [{
        type: 'heatmap', emphasis: { itemStyle: { borderColor: t.text, borderWidth: 1.5 } },
        data: data.map(([x, y, slowdown]) => {
          const failed = slowdown === null;
          const color = failed ? t.bad : colorAt(t.scale, part(slowdown));
          return { value: [x, y, slowdown ?? 0], failed, itemStyle: { color, borderColor: t.card, borderWidth: 2, borderRadius: 4 }, label: { show: failed || hasRoom, color: inkOn(color), fontSize: 11, formatter: failed ? '×' : number(slowdown, slowdown < 10 ? 3 : 2) } };
        }),
      }],
    }, Math.min(560, 110 + 34 * s.knobs[a].values.length), a === b ? 'Two different knobs are needed.' : `Darker blue is faster in the light theme, lighter in the dark one.${data.length > slowdowns.length ? ' ×: all failed.' : ''}`);
  }
  return render;
}
pairs.needsSubject = true;

// ---- parallel coordinates ----

export function parallel(view) {
  let most = '10';
  const share = document.createElement('input');
  Object.assign(share, { type: 'range', min: 1, max: 100, value: 100 });
  const plot = view.plot(380);
  const output = view.output();
  let order = [];
  let rows = [];

  // What all selected intervals leave. Lines of others are drawn faint by ECharts.
  function tell() {
    const s = view.subject;
    const series = plot.chart.getModel().getSeriesByIndex(0);
    const active = plot.chart.getModel().getComponent('parallel')?.coordinateSystem?.hasAxisBrushed() ? series.getRawIndicesByActiveState('active') : rows.map((_, n) => n);
    const picked = active.map((n) => rows[n].index).sort((a, b) => s.points.us[a] - s.points.us[b]);
    view.selected = picked.length;
    output.textContent = picked.length
      ? `${picked.length} of ${rows.length} variants selected; the fastest takes ${us(s.points.us[picked[0]])} (${times(s.points.us[picked[0]] / s.fastest)}): ${wrap(knobsOf(s, picked[0]), 1e9)}`
      : `None of ${rows.length} variants is selected`;
  }

  function render(why) {
    const t = theme();
    const s = view.subject;
    order = ranked(s).slice(0, most === 'all' ? undefined : Number(most));
    const limit = s.quantiles.length ? s.quantiles[Number(share.value)] * (1 + 1e-3) : Infinity;
    rows = [];
    for (let i = 0; i < s.points.us.length; i++) {
      const slowdown = s.points.us[i] === null ? null : s.points.us[i] / s.fastest;
      if (slowdown !== null && s.points.newest[i] && slowdown <= limit) rows.push({ index: i, value: [...order.map((k) => s.points.levels[k][i]), slowdown] });
    }
    rows.sort((a, b) => b.value.at(-1) - a.value.at(-1)); // the fastest on top
    const slowest = Math.max(1.02, ...rows.map(({ value }) => value.at(-1)));
    const step = (view.width - 120) / Math.max(order.length, 1);
    const isVertical = view.isNarrow || step < 70; // values of one axis would lie on the next
    const isStaggered = !isVertical && step < 120; // then names stand in two lines, every other one lower
    const axes = order.map((k, dim) => ({
      dim, name: plain(short(s.knobs[k].name, isVertical ? 14 : 16)), type: 'category', data: distinct(s.knobs[k].values, isVertical ? 14 : Math.floor(step / 7)).map(plain),
      ...(isVertical ? {} : { nameGap: isStaggered && dim % 2 ? 31 : 16, nameTruncate: { maxWidth: 2 * step } }),
    }));
    axes.push({ dim: order.length, name: '× fastest', type: 'log', logBase: 2, min: 1, max: slowest, inverse: true, axisLabel: { formatter: (v) => `${Number(v.toPrecision(3))}` } });
    view.draw(plot, {
      parallel: {
        layout: isVertical ? 'vertical' : 'horizontal', left: isVertical ? 20 : 60, right: isVertical ? 30 : 60, top: 52, bottom: isStaggered ? 48 : 32,
        axisExpandable: false,
        parallelAxisDefault: {
          nameLocation: isVertical ? 'middle' : 'start', nameGap: isVertical ? -14 : 16, nameTextStyle: { color: t.text, fontSize: 11.5, fontWeight: 600, textBorderColor: t.card, textBorderWidth: 3 }, nameRotate: 0,
          axisLine: { lineStyle: { color: t.axis } }, axisTick: { lineStyle: { color: t.axis } }, axisLabel: { color: t.text, fontSize: 10.5, textBorderColor: t.card, textBorderWidth: 3, hideOverlap: true },
          areaSelectStyle: { width: 18, borderColor: t.best, color: t.best, opacity: 0.28 },
        },
      },
      parallelAxis: axes,
      series: [{
        type: 'parallel', smooth: 0.15, inactiveOpacity: 0.03, activeOpacity: 0.8, progressive: 500,
        lineStyle: { width: rows.length > 1000 ? 0.8 : 1.2, opacity: rows.length > 1000 ? 0.35 : 0.6 },
        data: rows.map(({ value }) => ({ value, lineStyle: { color: colorAt(t.scale.slice(0, 4), Math.log(value.at(-1)) / Math.log(slowest)) } })),
      }],
    }, isVertical ? 120 + 58 * axes.length : 380);
    tell();
  }

  plot.chart.on('axisareaselected', tell);
  view.select('Knobs', [['6', 'weightiest 6'], ['10', 'weightiest 10'], ['all', 'all']], most, (value) => { most = value; render('mode'); });
  share.addEventListener('input', () => { render('mode'); });
  view.control(share, 'Fastest part');
  return render;
}
parallel.needsSubject = true;
