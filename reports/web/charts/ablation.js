// Around the winner: what another value of one knob alone costs.
import { axis, distinct, legend, plain, theme, times, tooltip, us } from './base.js';

const MOST = 24;

// [knob, level, point] of the variants that differ from the winner in exactly that knob. Null where not all knobs can be compared.
function neighbours(s) {
  const winner = new Map(s.winner.split(';').map((part) => part.split('=')));
  const varied = s.knobs.map((_, k) => k).filter((k) => s.knobs[k].values.length !== 1);
  if (!s.winner || varied.some((k) => !s.points.levels[k].length)) return null;
  const own = varied.map((k) => s.knobs[k].values.indexOf(winner.get(s.knobs[k].name) ?? '–'));
  const found = [];
  for (let i = 0; i < s.points.us.length; i++) {
    const differ = varied.filter((k, n) => s.points.levels[k][i] !== own[n]);
    if (s.points.newest[i] && differ.length === 1) found.push([differ[0], s.points.levels[differ[0]][i], i]);
  }
  return found;
}

export default function ablation(view) {
  const plot = view.plot(260);
  return (why) => {
    const t = theme();
    const s = view.subject;
    const p = s.points;
    const { kinds, failures } = view.shared;
    const all = (neighbours(s) ?? []).filter(([, , i]) => p.us[i] !== null || failures.includes(kinds[p.kind[i]]));
    all.sort(([, , a], [, , b]) => (p.us[b] ?? Infinity) - (p.us[a] ?? Infinity));
    const rows = all.slice(0, MOST);
    view.tell(all.length > MOST ? `Drawn are the ${MOST} of ${all.length} that cost most.` : '');
    if (!rows.length) return view.drawNothing(plot, 'No variant that differs from the winner in one knob was measured');
    const slower = (i) => 100 * (p.us[i] / s.best - 1);
    const worst = Math.max(2, ...rows.filter(([, , i]) => p.us[i] !== null).map(([, , i]) => slower(i)));
    const data = (wanted) => rows.map(([, , i]) => ((p.us[i] === null) === wanted ? (wanted ? worst : slower(i)) : '-'));
    const bar = (name, color, wanted, formatter) => ({ name, type: 'bar', stack: 'one', barMaxWidth: 14, color, data: data(wanted), label: { show: true, position: wanted ? 'inside' : 'right', color: wanted ? t.card : t.muted, fontSize: 11, formatter } });
    return view.draw(plot, {
      legend: legend(t), grid: { left: 8, right: 56, top: 36, bottom: 46, containLabel: true },
      tooltip: tooltip(t, ({ dataIndex }) => { const i = rows[dataIndex][2]; return plain(p.us[i] === null ? kinds[p.kind[i]] : `${us(p.us[i])}  (${times(p.us[i] / s.best)})`); }),
      xAxis: axis(t, 'slower than the best (%)', { type: 'value' }),
      yAxis: axis(t, '', { type: 'category', inverse: true, data: distinct(rows.map(([k, level]) => `${s.knobs[k].name}=${s.knobs[k].values[level]}`), view.isNarrow ? 24 : 40).map(plain), axisLabel: { color: t.text, interval: 0, hideOverlap: false } }),
      series: [bar('timed', t.series[0], false, ({ value }) => (Number.isFinite(value) ? `${(Math.abs(value) < 0.05 ? 0 : value).toFixed(1)} %` : '')),
        ...(rows.some(([, , i]) => p.us[i] === null) ? [bar('failed', t.bad, true, ({ dataIndex }) => kinds[p.kind[rows[dataIndex][2]]])] : [])],
    }, 110 + 24 * rows.length, `${rows.length} neighbours.`);
  };
}
ablation.needsSubject = true;
