// Everything with intervals: near-ties, drift, cold against warm, differences.
import { axis, distinct, legend, number, plain, theme, times, toolbox, tooltip, us, zoom } from './base.js';

// A point with a whisker along x. Values: [low, y, high, middle, …].
function whiskers(color) {
  return (params, api) => {
    const y = api.value(1);
    const [x0, cy] = api.coord([api.value(0), y]);
    const [x1] = api.coord([api.value(2), y]);
    const [x] = api.coord([api.value(3), y]);
    const fill = typeof color === 'function' ? color(params.dataIndex) : color;
    const rule = (shape) => ({ type: 'line', shape, style: { stroke: fill, lineWidth: 2 } });
    return { type: 'group', children: [
      rule({ x1: x0, y1: cy, x2: x1, y2: cy }), rule({ x1: x0, y1: cy - 5, x2: x0, y2: cy + 5 }), rule({ x1, y1: cy - 5, x2: x1, y2: cy + 5 }),
      { type: 'circle', shape: { cx: x, cy, r: 5 }, style: { fill } },
    ] };
  };
}

const parse = (variant) => new Map(variant.split(';').map((pair) => pair.split('=')));

// What sets a variant apart from another, so that a row's name is short.
function difference(variant, from) {
  const a = parse(variant);
  const b = parse(from);
  const names = [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name));
  return names.length ? names.map((name) => `${name}=${a.get(name) ?? '–'}`).join(' ') : 'winner';
}

// Finalists round by round: what moves all of them is the machine, what stays between them are the variants.
function byRound(view, t, rows, names) {
  return {
    color: t.series, legend: legend(t), toolbox: toolbox(t), grid: { left: 62, right: 18, top: 36, bottom: 44 },
    tooltip: tooltip(t, ({ data, seriesName }) => plain(`${seriesName}\nround ${data[0]}: ${us(data[1])}`)),
    xAxis: axis(t, 'round', { type: 'value', minInterval: 1, min: 1, max: Math.max(2, ...rows.map((row) => row[5].length)) }), yAxis: axis(t, 'time (µs)', { type: 'value', scale: true, nameGap: 46 }),
    series: rows.map((row, n) => ({ name: names[n], type: 'line', symbolSize: 6, lineStyle: { width: row[3] === 2 ? 3 : 1.5 }, color: row[3] === 2 ? t.best : t.series[n % t.series.length], data: row[5].map((time, round) => [round + 1, time]) })),
  };
}

export function ties(view) {
  let mode = 'intervals';
  const render = (why) => {
    const t = theme();
    const rows = view.data.subjects[view.subject.label] ?? [];
    const hasRounds = rows.some((row) => row[5].length);
    const hasEnergy = rows.some((row) => row[6] !== null);
    const modes = [['intervals', 'times, with intervals'], ...(hasRounds ? [['rounds', 'round by round']] : []), ...(hasEnergy ? [['energy', 'energy of one run']] : [])];
    if (!modes.some(([name]) => name === mode)) mode = 'intervals';
    view.fill(select, modes, mode);
    if (!rows.length) return view.drawNothing(plot, 'Nothing came near the best of this subject');
    const winner = rows.find((row) => row[3] === 2) ?? rows[0];
    const colors = [t.axis, t.series[0], t.best];
    const labels = distinct(rows.map((row) => difference(row[4], winner[4])), view.isNarrow ? 24 : 44).map(plain);
    if (mode === 'rounds') return view.draw(plot, byRound(view, t, rows.filter((row) => row[5].length), labels.filter((_, n) => rows[n][5].length)), view.isNarrow ? 320 : 380, `${rows.length} finalists in ${Math.max(...rows.map((row) => row[5].length))} rounds.`);
    const names = [...labels].reverse();
    const isEnergy = mode === 'energy';
    const rounds = isEnergy ? [] : rows.flatMap((row, n) => row[5].map((time, round) => ({ value: [time, rows.length - 1 - n], round: round + 1 })));
    const data = rows.map((row, n) => (isEnergy ? [row[6] - row[7], rows.length - 1 - n, row[6] + row[7], row[6], row[3], n] : [row[1], rows.length - 1 - n, row[2], row[0], row[3], n])).filter((d) => Number.isFinite(d[3]) && (!isEnergy || rows[d[5]][6] !== null));
    const groups = [[2, 'winner'], [1, 'tied with the fastest'], [0, 'not tied']];
    return view.draw(plot, {
      legend: legend(t, { data: groups.filter(([state]) => data.some((d) => d[4] === state)).map(([, name]) => name).concat(rounds.length ? ['rounds'] : []) }), grid: { left: 8, right: 20, top: 34, bottom: 44, containLabel: true },
      tooltip: tooltip(t, ({ data: d }) => { if (d.round) return plain(`round ${d.round}: ${us(d.value[0])}`); const row = rows[d[5]]; return plain(`${us(row[0])}  (${number(row[1], 5)} … ${number(row[2], 5)})${row[6] === null ? '' : `, ${number(row[6], 4)} ± ${number(row[7], 2)} mJ`}\n${row[4].replaceAll(';', '\n')}`); }),
      xAxis: axis(t, isEnergy ? 'energy of one run (mJ)' : 'time (µs)', { type: 'value', scale: true }),
      yAxis: axis(t, '', { type: 'category', data: names, axisLabel: { color: t.text, interval: 0 } }),
      series: [
        { name: 'rounds', type: 'scatter', symbolSize: 4, color: t.axis, data: rounds },
        ...groups.map(([state, name]) => ({ name, type: 'custom', color: colors[state], renderItem: whiskers(colors[state]), encode: { x: [0, 2, 3], y: 1 }, data: data.filter((d) => d[4] === state) })),
      ],
    }, 92 + 26 * rows.length, `${rows.filter((row) => row[3] > 0).length} variants are not told apart.`);
  };
  const select = view.select('Show', [['intervals', 'intervals']], mode, (value) => { mode = value; render('mode'); });
  const plot = view.plot(260);
  return render;
}
ties.needsSubject = true;

export function drift(view) {
  const plot = view.plot(320);
  return (why) => {
    const t = theme();
    const lines = new Map();
    for (const [label, session, ms, change, mhz] of view.data.rows) {
      const key = `${label} · session ${session}`;
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push([ms, change, mhz]);
    }
    const first = Math.min(...view.data.rows.map((row) => row[2]));
    const minutes = (ms) => (ms - first) / 6e4;
    const names = [...lines.keys()];
    const series = (n, name, column, at) => ({ name: plain(name), type: 'line', xAxisIndex: at, yAxisIndex: at, symbolSize: 5, lineStyle: { width: 1.8 }, color: t.series[n % t.series.length], data: lines.get(name).map((row) => [minutes(row[0]), row[column]]) });
    const grid = { left: 62, right: 18 };
    view.draw(plot, {
      legend: legend(t, { data: names.map(plain) }), toolbox: toolbox(t), axisPointer: { link: [{ xAxisIndex: 'all' }] },
      grid: [{ ...grid, top: 36, height: 130 }, { ...grid, top: 200, height: 80 }],
      tooltip: tooltip(t, ({ seriesName, data, seriesIndex }) => plain(`${seriesName}\n${seriesIndex < names.length ? `${number(data[1])} % to its first time` : `SM clock ${number(data[1], 4)} MHz`}`)),
      xAxis: [axis(t, '', { gridIndex: 0, type: 'value', axisLabel: { show: false } }), axis(t, 'minutes', { gridIndex: 1, type: 'value' })],
      yAxis: [axis(t, 'change (%)', { gridIndex: 0, type: 'value', nameGap: 44 }), axis(t, 'MHz', { gridIndex: 1, type: 'value', scale: true, nameGap: 44, splitNumber: 2 })],
      series: [...names.map((name, n) => series(n, name, 1, 0)), ...names.map((name, n) => series(n, name, 2, 1))],
    }, 325);
  };
}

export function cold_warm(view) {
  const plot = view.plot(340);
  return (why) => {
    const t = theme();
    const { points } = view.data;
    const all = points.flatMap(([, cold, warm]) => [cold, warm]);
    const range = [Math.min(...all) * 0.95, Math.max(...all) * 1.05];
    const labels = [...new Set(points.map(([s]) => s))];
    const scale = { type: 'log', min: range[0], max: range[1], axisLabel: { formatter: (v) => String(Number(v.toPrecision(3))) } };
    view.draw(plot, {
      color: t.series, toolbox: toolbox(t), grid: { left: 62, right: 18, top: 24, bottom: 46 }, dataZoom: [zoom({ xAxisIndex: 0 })],
      tooltip: tooltip(t, ({ data }) => `cold ${us(data[0])}\nwarm ${us(data[1])}\n${times(data[0] / data[1])}`),
      xAxis: axis(t, 'cold (µs)', scale), yAxis: axis(t, 'warm (µs)', { ...scale, nameGap: 46 }),
      series: [{ type: 'line', symbol: 'none', silent: true, lineStyle: { color: t.axis, type: 'dashed' }, data: [[range[0], range[0]], [range[1], range[1]]] },
        ...labels.map((label, n) => ({ type: 'scatter', symbolSize: 5, color: t.series[n % t.series.length], data: points.filter(([s]) => s === label).map(([, cold, warm]) => [cold, warm]) }))],
    }, 360);
  };
}

export function diff(view) {
  const plot = view.plot(300);
  return (why) => {
    const t = theme();
    const rows = [...view.data.rows].reverse();
    const colors = { SAME: t.axis, FAST: t.good, SLOW: t.bad, AMBG: t.series[6] };
    const band = view.data.threshold;
    const data = rows.map(([, change, low, high, verdict], n) => [low ?? change, n, high ?? change, change, verdict]);
    view.draw(plot, {
      legend: legend(t, { data: Object.keys(colors) }), grid: { left: 8, right: 24, top: 36, bottom: 46, containLabel: true },
      tooltip: tooltip(t, ({ data: d }) => plain(`${rows[d[1]][0]}\n${d[4]}: ${number(d[3])} %  (${number(d[0])} … ${number(d[2])})`)),
      xAxis: axis(t, view.isNarrow ? 'change from A to B (%)' : 'change from A to B (%), negative is faster', { type: 'value', min: ({ min }) => Math.min(min * 1.1, -2 * band), max: ({ max }) => Math.max(max * 1.1, 2 * band), axisLabel: { formatter: (v) => number(v) } }),
      yAxis: axis(t, '', { type: 'category', data: distinct(rows.map(([label]) => label), view.isNarrow ? 26 : 48).map(plain), axisLabel: { color: t.text, interval: 0 } }),
      series: Object.entries(colors).map(([verdict, color], n) => ({
        name: verdict, type: 'custom', color, renderItem: whiskers(color), encode: { x: [0, 2, 3], y: 1 }, data: data.filter((d) => d[4] === verdict),
        markArea: n ? undefined : { silent: true, itemStyle: { color: t.faint, opacity: 0.35 }, data: [[{ xAxis: -band }, { xAxis: band }]] },
      })),
    }, Math.min(1200, 110 + 28 * Math.max(rows.length, 2)), `${rows.length} subjects.`);
  };
}
