// Bars and matrices over subjects and sessions.
import { axis, colorAt, distinct, inkOn, inLines, isUnrun, legend, number, plain, standing, theme, times, tooltip } from './base.js';

const names = (view, labels) => distinct(labels, view.isNarrow ? 26 : 48).map(plain);
const MOST = 24;

// The bars that say most, by what `weight` makes of a row, and how many there are in all. More would be too thin to read; tables hold them.
function first(view, rows, weight, most) {
  const sorted = rows.length > MOST ? [...rows].sort((a, b) => weight(b) - weight(a)).slice(0, MOST) : rows;
  const note = rows.length > MOST ? `Drawn are the ${MOST} of all ${rows.length} with ${most}; filtering a table changes no chart.` : `${rows.length} in all.`;
  if (rows.length > MOST) view.tell(note);
  return [sorted, note];
}

// Each bar's number, behind it. A chart that has these needs no grid.
const valueLabel = (t, unit) => ({ show: true, position: 'right', color: t.muted, fontSize: 11, formatter: ({ value }) => (Number.isFinite(value) ? `${number(value)} ${unit}` : '') });
const noGrid = { splitLine: { show: false } };

// What charts of bars have in common, and the height of the picture, in which each bar has room for its label's lines.
function barOption(view, t, labels, each, extra) {
  const [shown, lines] = inLines(names(view, labels), view.isNarrow ? 150 : 340);
  const option = {
    grid: { left: 8, right: 56, top: 36, bottom: 46, containLabel: true },
    yAxis: axis(t, '', { type: 'category', inverse: true, data: shown, axisLabel: { color: t.text, interval: 0, hideOverlap: false, lineHeight: 13 } }),
    ...extra,
  };
  return [option, 100 + Math.max(each, 13 * lines + 4) * Math.max(labels.length, 1)];
}

export function summary(view) {
  const plot = view.plot(220);
  return (why) => {
    const t = theme();
    const [rows, note] = first(view, view.data.rows, ([, byDefault, byBaseline]) => byDefault ?? byBaseline ?? 0, 'the slowest default');
    const kinds = [['default', 1, t.series[0]], ['baseline', 2, t.series[1]], ['model’s floor', 3, t.good]].filter(([, column]) => rows.some((row) => row[column] !== null));
    // A number that would lie on the best's line stands behind it.
    const labelLayout = ({ labelRect: { x, width } }) => {
      const best = plot.chart.convertToPixel({ xAxisIndex: 0 }, 1);
      return x < best + 3 && x + width > best - 3 ? { dx: best + 6 - x } : {};
    };
    view.draw(plot, ...barOption(view, t, rows.map(([label]) => label), kinds.length > 2 ? 50 : 40, {
      legend: legend(t), xAxis: axis(t, 'time, × the best', { type: 'value', min: 0, ...noGrid }),
      tooltip: tooltip(t, ({ dataIndex, seriesName, value }) => plain(`${rows[dataIndex][0]}\nthe ${seriesName} takes ${times(value)} as long as the best`)),
      series: kinds.map(([name, column, color], n) => ({
        name, type: 'bar', z: 6, barMaxWidth: 13, color, itemStyle: { borderRadius: [0, 3, 3, 0] }, label: valueLabel(t, '×'), labelLayout, data: rows.map((row) => row[column]),
        markLine: n ? undefined : { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: t.text, type: 'dashed', width: 1.5 }, data: [{ xAxis: 1 }] },
      })),
    }), note);
  };
}

export function failures(view) {
  const plot = view.plot(220);
  const { kinds } = view.shared;
  return (why) => {
    const t = theme();
    const isFailure = new Set(view.shared.failures);
    const [rows, note] = first(view, view.data.rows, ([, counts]) => counts.reduce((sum, count, k) => sum + (isFailure.has(kinds[k]) ? count : 0), 0), 'most failures');
    const used = kinds.map((kind, k) => [kind, k]).filter(([, k]) => rows.some(([, counts]) => counts[k]));
    const warm = [t.bad, t.series[1], t.series[3], t.series[6], t.series[4], t.series[5]];
    let next = 0;
    view.draw(plot, ...barOption(view, t, rows.map(([label]) => label), 30, {
      legend: legend(t), xAxis: axis(t, 'evaluations, or not run', { type: 'value', min: 0 }),
      tooltip: tooltip(t, ({ dataIndex, seriesName, value }) => plain(`${rows[dataIndex][0]}\n${seriesName}: ${value}`)),
      series: used.map(([kind, k]) => ({
        name: kind, type: 'bar', stack: 'all', barMaxWidth: 18, color: kind === 'ok' ? t.good : kind === 'censored' ? t.axis : isUnrun(kind) ? t.muted : warm[next++ % warm.length], data: rows.map(([, counts]) => counts[k]),
      })),
    }), note);
  };
}

const PARTS = [['best member', 1], ['default', 2]];

// All shapes in one picture: what part of them is answered within which slowdown.
function portfolioCurves(view, t, rows) {
  return {
    color: [t.series[0], t.series[1]], legend: legend(t), grid: { left: 58, right: 18, top: 36, bottom: 44 },
    tooltip: tooltip(t, ({ data, seriesName }) => plain(`${seriesName}: ${times(data[1])}\n${data[2]}`)),
    xAxis: axis(t, 'tuned shapes, the best served first (%)', { type: 'value', min: 0, max: 100 }),
    yAxis: axis(t, 'time, × the shape’s own winner', { type: 'log', logBase: 2, min: 1, nameGap: 42, axisLabel: { formatter: (v) => `${Number(v.toPrecision(3))}` } }),
    series: PARTS.map(([name, column]) => {
      const sorted = rows.filter((row) => row[column] !== null).sort((a, b) => a[column] - b[column]);
      return { name, type: 'line', step: 'start', showSymbol: sorted.length <= 60, lineStyle: { width: 2.5 }, data: sorted.map((row, n) => [(100 * (n + 1)) / sorted.length, row[column], row[0]]) };
    }),
  };
}

export function lookup(view) {
  let mode = 'all';
  const render = (why) => {
    const t = theme();
    if (mode === 'all') view.tell('');
    if (mode === 'all') return view.draw(plot, portfolioCurves(view, t, view.data.rows), view.isNarrow ? 300 : 360, `${view.data.rows.length} shapes.`);
    const [rows, note] = first(view, view.data.rows, ([, byMember]) => byMember ?? 0, 'the slowest answers');
    return view.draw(plot, ...barOption(view, t, rows.map(([label]) => label), 40, {
      legend: legend(t), xAxis: axis(t, 'slowdown to the best (×)', { type: 'value', min: 1, ...noGrid }),
      tooltip: tooltip(t, ({ dataIndex, seriesName, value }) => plain(`${rows[dataIndex][0]}\n${seriesName}: ${times(value)}`)),
      series: PARTS.map(([name, column], n) => ({
        name, type: 'bar', barMaxWidth: 12, color: t.series[n], label: valueLabel(t, '×'), data: rows.map((row) => row[column]),
      })),
    }), note);
  };
  view.select('Show', [['all', 'all shapes'], ['worst', 'shape by shape, the worst first']], mode, (value) => { mode = value; render('mode'); });
  const plot = view.plot(360);
  return render;
}

export function time(view) {
  const plot = view.plot(220);
  return (why) => {
    const t = theme();
    const [rows, note] = first(view, view.data.rows, ([, wall]) => wall, 'the longest times');
    const parts = [['validating', 2], ['timing', 3], ['loading and the rest on the GPU', 4], ['searching', 5], ['database', 6]].filter(([, column]) => rows.some((row) => row[column] > 0));
    view.draw(plot, ...barOption(view, t, rows.map(([id]) => `session ${id}`), 44, {
      legend: legend(t), xAxis: axis(t, 'seconds', { type: 'value', min: 0, ...noGrid }),
      tooltip: tooltip(t, ({ dataIndex, seriesName, value }) => `session ${rows[dataIndex][0]}\n${seriesName}: ${number(value)} s`),
      series: [
        { name: 'wall', type: 'bar', barMaxWidth: 10, color: t.axis, label: valueLabel(t, 's'), data: rows.map((row) => row[1]) },
        ...parts.map(([name, column], n) => ({ name, type: 'bar', stack: 'parts', barMaxWidth: 14, color: t.series[n], data: rows.map((row) => row[column]) })),
      ],
    }), note);
  };
}

export function portability(view) {
  const plot = view.plot(360);
  return (why) => {
    const t = theme();
    const { labels, cells } = view.data;
    const slowest = Math.max(1.2, ...cells.map(([, , v]) => v ?? 1));
    const shown = distinct(labels, ...(view.isNarrow ? [16, 24] : [32, 36])).map(plain);
    const room = view.width - 30 - 6.5 * Math.max(...shown.map(({ length }) => length)); // beside the names of the rows
    view.draw(plot, {
      grid: { left: 8, right: 16, top: 8, bottom: 34, containLabel: true },
      tooltip: tooltip(t, ({ data }) => plain(`winner of ${labels[data.value[1]]}\non ${labels[data.value[0]]}: ${data.value[2] === null || data.failed ? 'failed or stopped early' : times(data.value[2])}`)),
      xAxis: axis(t, '', { type: 'category', data: shown, splitLine: { show: false }, axisLabel: { color: t.text, hideOverlap: false, ...standing(shown, room) } }),
      yAxis: axis(t, '', { type: 'category', inverse: true, data: shown, splitLine: { show: false }, axisLabel: { color: t.text, interval: 0, hideOverlap: false } }),
      series: [{
        type: 'heatmap',
        data: cells.map(([of, on, value]) => {
          const color = value === null ? t.bad : colorAt(t.scale, Math.log(value) / Math.log(slowest));
          return { value: [on, of, value ?? 0], failed: value === null, itemStyle: { color, borderColor: t.card, borderWidth: room / labels.length < 8 ? 0 : 2, borderRadius: 4 }, label: { show: room / labels.length >= 34, color: inkOn(color), fontSize: 11, formatter: value === null ? '×' : number(value) } };
        }),
      }],
    }, Math.min(1400, 150 + 30 * labels.length), `${cells.length} of ${labels.length ** 2} cells are measured.`);
  };
}
