// History: each evaluation and the best so far; all subjects side by side; the distribution of times.
import { CROSS, axis, describePoint, legend, plain, powers, theme, times, toolbox, tooltip, us, zoom } from './base.js';

const hasSeconds = (s) => s.points.t.length > 0; // an import's rows have none: no search's clock was running
const SCALE = 8;
const OFF = `over ${SCALE} × the fastest`;

function ofSubject(view, byTime, t) {
  const s = view.subject;
  const p = s.points;
  const x = byTime ? p.t : p.e;
  const ok = view.shared.kinds.indexOf('ok');
  // A few very slow variants must not flatten the rest: they are drawn at the upper edge, and named.
  const slowest = Math.min(Math.max(...p.us.filter((v) => v !== null)), s.fastest * SCALE);
  const timed = [];
  const failed = [];
  const beyond = [];
  for (let i = 0; i < x.length; i++) {
    const group = p.us[i] === null ? failed : p.us[i] > slowest ? beyond : timed;
    group.push([x[i], group === timed ? p.us[i] : slowest * (group === failed ? 1.2 : 1.07), i]);
  }
  const last = s.steps.length ? s.steps.at(-1)[byTime ? 1 : 0] : 0;
  const fastest = s.steps.length ? s.steps.at(-1)[2] : null;
  const own = s.winner && Math.abs(s.best / fastest - 1) > 0.01 ? s.best : null; // by the final, where that told another time than the search
  const marks = [['winner, by the final', own, t.best], ['default', s.default, t.text], ['baseline', s.baseline, t.series[3]], ['model’s floor', s.floor, t.good]].filter(([, v]) => v !== null && v <= slowest)
    .map(([name, value, color]) => ({ name: `${name} ${us(value)}`, type: 'line', symbol: 'none', silent: true, lineStyle: { type: 'dashed', width: 1.5 }, color, data: [[0, value], [Math.max(last, 1), value]] })); // named in the legend: beside the line they would lie on points
  const low = 0.94 * Math.min(...[...timed, ...marks.flatMap(({ data }) => data), ...s.steps.map(([, , best]) => [0, best])].map(([, v]) => v));
  const high = slowest * 1.28;
  return {
    legend: legend(t, { data: ['best so far', 'evaluations', ...(beyond.length ? [OFF] : []), ...(failed.length ? ['failed'] : []), ...marks.map(({ name }) => name)] }), toolbox: toolbox(t), dataZoom: [zoom({ xAxisIndex: 0 })],
    grid: { left: 58, right: 18, top: 36, bottom: 44 },
    tooltip: tooltip(t, ({ data, seriesName }) => (seriesName === 'best so far' ? plain(`best so far: ${us(data[1])}`) : describePoint(s, data[2], view.shared.kinds))),
    xAxis: axis(t, byTime ? 'seconds of tuning' : 'evaluation', { type: 'value', min: 0, max: Math.max(last, 1) }),
    yAxis: axis(t, 'time (µs)', { type: 'log', nameGap: 42, min: low, max: high, axisLabel: { formatter: powers(low, high, 240, 10, (v) => String(Number(v.toPrecision(3)))) } }),
    series: [
      { name: 'evaluations', type: 'scatter', symbolSize: 5, large: timed.length > 3000, itemStyle: { color: (d) => (p.kind[d.data[2]] === ok ? t.faint : t.axis) }, color: t.series[0], data: timed },
      { name: OFF, type: 'scatter', symbol: 'triangle', symbolSize: 6, color: t.series[0], itemStyle: { opacity: 0.7 }, data: beyond },
      { name: 'failed', type: 'scatter', symbol: CROSS, symbolSize: 7, color: t.bad, data: failed },
      ...marks,
      { name: 'best so far', type: 'line', step: 'end', showSymbol: s.steps.length < 60, symbolSize: 6, lineStyle: { width: 2.5 }, color: t.best, z: 5, data: s.steps.map(([e, seconds, best]) => [byTime ? seconds : e, best]) },
    ],
  };
}

// Who proposed which point, failures (crosses at the upper edge) too, and the best so far.
function byArm(view, t) {
  const option = ofSubject(view, false, t);
  const p = view.subject.points;
  const colors = [...t.series, t.good, t.bad];
  const symbols = ['circle', 'rect', 'triangle', 'diamond'];
  const [timed, beyond, failed] = option.series.map(({ data }) => data);
  const names = view.subject.arms.map((name) => plain(name || 'not known'));
  const arms = names.map((name, arm) => ({
    name, type: 'scatter', symbolSize: 7, symbol: symbols[Math.floor(arm / colors.length) % symbols.length], color: colors[arm % colors.length], itemStyle: { opacity: 0.85 },
    data: [...timed, ...beyond, ...failed].filter(([, , i]) => p.arm[i] === arm).map((value) => (p.us[value[2]] === null ? { value, symbol: CROSS } : value)),
  })).filter(({ data }) => data.length);
  return { ...option, legend: legend(t, { data: ['best so far', ...arms.map(({ name }) => name)] }), tooltip: tooltip(t, ({ data, value, seriesName }) => (seriesName === 'best so far' ? plain(`best so far: ${us(data[1])}`) : describePoint(view.subject, value[2], view.shared.kinds))), series: [...arms, option.series.at(-1)] };
}

// Subjects of other kernels have nothing to do with this one.
const ofKernel = (view) => view.shared.subjects.filter(({ kernel }) => kernel === view.subject.kernel);

function ofAll(view, t) {
  const subjects = ofKernel(view).filter((s) => s.steps.length);
  return {
    color: t.series, legend: legend(t), toolbox: toolbox(t), dataZoom: [zoom({ xAxisIndex: 0 })], grid: { left: 58, right: 18, top: 36, bottom: 44 },
    tooltip: tooltip(t, ({ data, seriesName }) => plain(`${seriesName}\n${times(data[1])} the fastest after ${data[0]} evaluations`)),
    xAxis: axis(t, 'evaluation', { type: 'value', min: 0 }),
    yAxis: axis(t, 'best so far, × the fastest of all', { type: 'log', logBase: 2, nameGap: 42, min: 1, axisLabel: { formatter: (v) => `${Number(v.toPrecision(3))}` } }),
    series: subjects.map((s) => ({ name: plain(s.label), type: 'line', step: 'end', symbolSize: 5, lineStyle: { width: 2 }, data: s.steps.map(([e, , best]) => [e, best / s.steps.at(-1)[2]]) })),
  };
}

function distribution(view, t) {
  const subjects = ofKernel(view).filter((s) => s.quantiles.length);
  return {
    color: t.series, legend: legend(t), toolbox: toolbox(t), dataZoom: [zoom({ xAxisIndex: 0 })], grid: { left: 58, right: 18, top: 36, bottom: 44 },
    tooltip: tooltip(t, ({ data, seriesName }) => plain(`${seriesName}\n${data[1]} % of the variants are within ${times(data[0])}`)),
    xAxis: axis(t, 'slowdown to the fastest (×)', { type: 'log', logBase: 2, min: 1, axisLabel: { formatter: (v) => `${Number(v.toPrecision(3))}` } }),
    yAxis: axis(t, 'variants (%)', { type: 'value', min: 0, max: 100, nameGap: 36 }),
    series: subjects.map((s) => ({ name: plain(s.label), type: 'line', showSymbol: false, lineStyle: { width: 2 }, data: s.quantiles.map((q, k) => [q, k]) })),
  };
}

export default function convergence(view) {
  let mode = 'evaluations';
  const render = (why) => {
    const t = theme();
    if (why === 'first' || why === 'subject') offer();
    const option = mode === 'all' ? ofAll(view, t) : mode === 'arms' ? byArm(view, t) : mode === 'distribution' ? distribution(view, t) : ofSubject(view, mode === 'time', t);
    view.draw(plot, option, view.isNarrow ? 340 : 400, view.subject.winner ? `Best of ${view.subject.label}: ${us(view.subject.best)}.` : '');
  };
  const select = view.select('Show', [], mode, (value) => { mode = value; render('mode'); });
  const modes = [['evaluations', 'by evaluation'], ['time', 'by seconds'], ['arms', 'by arm of the strategy'], ['all', 'all subjects of the kernel'], ['distribution', 'distribution of times']];
  const offer = () => { // rows of older files do not say who proposed them, and those of imports have no clock
    const lacks = { arms: !view.subject.arms.length, time: !hasSeconds(view.subject) };
    if (lacks[mode]) mode = 'evaluations';
    view.fill(select, modes.filter(([name]) => !lacks[name]), mode);
  };
  const plot = view.plot(400);
  return render;
}
convergence.needsSubject = true;
