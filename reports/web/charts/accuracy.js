// Error against time, coloured by a knob, with the front that nothing beats.
import { axis, describePoint, legend, plain, short, theme, toolbox, tooltip, us, zoom } from './base.js';

// What is slower is drawn at the right edge: a few very slow variants must not flatten the rest.
const SCALE = 8;

export default function accuracy(view) {
  let knob = -1;
  const select = view.select('Colour by', [], '', (value) => { knob = Number(value); render('mode'); });
  const plot = view.plot(380);

  function render(why) {
    const t = theme();
    const s = view.subject;
    const p = s.points;
    const useful = s.knobs.map((_, k) => k).filter((k) => s.knobs[k].values.length > 1 && s.knobs[k].values.length <= t.series.length);
    if (why === 'first' || why === 'subject') {
      knob = useful.find((k) => s.knobs[k].name === 'ALGO') ?? useful[0] ?? -1;
      view.fill(select, useful.map((k) => [k, s.knobs[k].name]), knob);
      select.parentElement.hidden = !useful.length;
    }
    const ok = view.shared.kinds.indexOf('ok');
    const points = p.us.map((time, i) => [time === null ? null : Math.min(time, s.fastest * SCALE), p.error[i], i]).filter(([time, error, i]) => time !== null && error > 0 && p.newest[i] && p.kind[i] === ok);
    if (!points.length) return view.drawNothing(plot, 'No variant of this subject has an error above zero');
    const front = [];
    for (const point of [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])) if (!front.length || point[1] < front.at(-1)[1]) front.push(point);
    const groups = knob < 0 ? [['variants', points]] : s.knobs[knob].values.map((v, level) => [`${s.knobs[knob].name}=${v}`, points.filter(([, , i]) => p.levels[knob][i] === level)]);
    const range = (values) => [Math.min(...values), Math.max(...values)];
    const [low, high] = range(points.map(([, e]) => e));
    return view.draw(plot, {
      color: t.series, legend: legend(t, { data: groups.filter(([, g]) => g.length).map(([name]) => plain(short(name, 30))) }), toolbox: toolbox(t), dataZoom: [zoom({ xAxisIndex: 0 }), zoom({ yAxisIndex: 0 })], grid: { left: 70, right: 20, top: 40, bottom: 46 },
      tooltip: tooltip(t, ({ data, seriesName }) => (seriesName === 'front' ? '' : plain(`error ${data[1].toExponential(2)}\n`) + describePoint(s, data[2], view.shared.kinds))),
      xAxis: axis(t, `time (µs)${points.some(([time]) => time >= s.fastest * SCALE) ? `; ▷ slower than ${SCALE} × the fastest` : ''}`, { type: 'log', min: ({ min }) => min * 0.97, max: ({ max }) => max * 1.03, axisLabel: { formatter: (v) => String(Number(v.toPrecision(3))) } }),
      yAxis: axis(t, 'error, norm-wise', { type: 'log', nameGap: 52, min: low * 0.9, max: high * 1.1, axisLabel: { formatter: (v) => v.toExponential(1) } }),
      series: [
        { name: 'front', type: 'line', step: 'start', showSymbol: false, silent: true, lineStyle: { color: t.muted, width: 1.5, type: 'dotted' }, data: front.map((point) => point.slice(0, 2)) },
        ...groups.map(([name, data], n) => ({ name: plain(short(name, 30)), type: 'scatter', symbol: (d) => (d[0] >= s.fastest * SCALE ? 'triangle' : 'circle'), symbolRotate: -90, symbolSize: 6, itemStyle: { opacity: 0.75 }, color: t.series[n % t.series.length], data })),
      ],
    }, view.isNarrow ? 340 : 400, `${front.length} variants are on the front; the fastest takes ${us(points.reduce((a, b) => (a[0] < b[0] ? a : b))[0])}.`);
  }
  return render;
}
accuracy.needsSubject = true;
