// Around the winner: what another value of one knob alone costs.
import { CROSS, axis, distinct, legend, plain, theme, times, tooltip, us } from './base.js';

const MOST = 24;
const SCALE = 8; // where bars end, × the winner: one very slow variant must not flatten the rest

export default function ablation(view) {
  const plot = view.plot(260);
  return (why) => {
    const t = theme();
    const s = view.subject;
    const all = s.neighbours.filter(([k]) => s.knobs[k].values.length); // of a knob with very many values the page has no names
    const kindOf = ([, , , kind]) => view.shared.kinds[kind];
    const isTimed = (row) => row[2] !== null && kindOf(row) !== 'censored';
    const timed = all.filter(isTimed).sort(([, , a], [, , b]) => b - a);
    const others = all.filter((row) => !isTimed(row)).sort(([, , a], [, , b]) => b - a); // no time, no length: marks, below the bars
    const rows = [...timed, ...others].slice(0, MOST);
    if (!rows.length) return view.drawNothing(plot, 'No variant that differs from the winner in one knob was measured');
    const slower = ([, , time]) => 100 * (time / s.best - 1);
    const percent = (row) => `${(Math.abs(slower(row)) < 0.05 ? 0 : slower(row)).toFixed(1)} %`;
    const most = 100 * (SCALE - 1);
    view.tell([...(all.length > MOST ? [`Drawn are ${rows.length} of ${all.length}, those that cost most first.`] : []), ...(timed.some((row) => slower(row) > most) ? [`Bars end at ${SCALE} × the winner.`] : [])].join(' '));
    const label = (text) => ({ show: true, position: 'right', color: t.muted, fontSize: 11, formatter: ({ value }) => (Array.isArray(value) ? text(rows[value[1]]) : '') });
    const marks = (name, symbol, color, has, text) => ({ name, type: 'scatter', xAxisIndex: 1, symbol, symbolSize: 9, itemStyle: { opacity: 1 }, color, label: label(text), data: rows.flatMap((row, n) => (!isTimed(row) && has(row) ? [[0, n]] : [])) });
    const series = [
      { name: 'timed', type: 'bar', barMaxWidth: 14, color: t.series[0], label: label(percent), encode: { x: 0, y: 1 }, data: rows.flatMap((row, n) => (isTimed(row) ? [[Math.min(slower(row), most), n]] : [])) },
      marks('stopped early', 'emptyCircle', t.series[6], ([, , time]) => time !== null, (row) => `stopped at ${percent(row)}`), marks('failed', CROSS, t.bad, ([, , time]) => time === null, kindOf),
    ].filter(({ data }) => data.length);
    return view.draw(plot, {
      legend: legend(t), grid: { left: 8, right: 64, top: 36, bottom: 46, containLabel: true },
      tooltip: tooltip(t, ({ value }) => { const row = rows[value[1]]; const [, , time] = row; return plain(`${time === null ? '' : `${us(time)}  (${times(time / s.best)})  `}${isTimed(row) ? '' : kindOf(row)}`); }),
      xAxis: [axis(t, 'slower than the winner (%)', { type: 'value' }), { type: 'value', show: false, min: 0, max: 1 }], // marks stand at the left edge
      yAxis: axis(t, '', { type: 'category', inverse: true, data: distinct(rows.map(([k, level]) => `${s.knobs[k].name}=${s.knobs[k].values[level]}`), view.isNarrow ? 24 : 40).map(plain), axisLabel: { color: t.text, interval: 0, hideOverlap: false } }),
      series,
    }, 110 + 24 * rows.length, `${rows.length} neighbours.`);
  };
}
ablation.needsSubject = true;
