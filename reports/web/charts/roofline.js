// Operations per second against operations per byte, under the roofs of the GPU.
import { axis, describePoint, legend, number, plain, theme, toolbox, tooltip, us, zoom } from './base.js';

const hasModel = (s) => s.flops > 0 && s.bytes > 0;
const intensity = (s) => s.flops / s.bytes;
const gflops = (s, timeUs) => s.flops / timeUs / 1e3;

// Kernels on tensor cores compute beyond the FP32 units' roof, which is none of theirs: DRAM's goes on as far as the axis.
function roofs(gpu, hasOtherUnits, left, right, top, t) {
  if (!gpu?.bandwidth || !gpu.gflops) return [];
  const end = hasOtherUnits ? Math.min(right, top / gpu.bandwidth) : gpu.gflops / gpu.bandwidth;
  const roof = (name, from, to, color) => ({ name, type: 'line', symbol: 'none', silent: true, lineStyle: { width: 2.5 }, color, data: [from, to] }); // named in the legend: beside the line they would lie on points
  const dram = roof(`DRAM ${number(gpu.bandwidth, 4)} GB/s`, [left, left * gpu.bandwidth], [end, end * gpu.bandwidth], t.series[5]);
  return hasOtherUnits ? [dram] : [dram, roof(`FP32 ${number(gpu.gflops / 1e3, 3)} TFLOP/s`, [end, gpu.gflops], [right, gpu.gflops], t.series[3])];
}

export default function roofline(view) {
  const plot = view.plot(420);
  return (why) => {
    const t = theme();
    const { kernel, gpuKey } = view.subject;
    const all = view.shared.subjects.filter((s) => hasModel(s) && s.winner && s.gpuKey === gpuKey && s.kernel === kernel);
    const subjects = document.body.dataset.subject ? all.filter((s) => s === view.subject) : all; // a shape's page has its own alone
    const s = hasModel(view.subject) ? view.subject : subjects[0];
    if (!s) return view.drawNothing(plot, 'This subject has no model');
    const gpu = view.data.gpus[s.gpuKey];
    const rates = (o) => [o.best, o.floor].filter(Boolean).map((time) => gflops(o, time));
    const points = s.points.us.map((time, i) => (time === null || !s.points.newest[i] ? null : [intensity(s), gflops(s, time), i])).filter(Boolean);
    const ys = [...points.map(([, y]) => y), ...[s, ...subjects].flatMap(rates)];
    const hasOtherUnits = [s, ...all].flatMap(rates).some((rate) => rate > gpu?.gflops);
    view.tell(hasOtherUnits ? `${kernel} computes faster than FP32 units can: it uses others (tensor cores), whose peak is not known here.` : '');
    const xs = [...subjects, s].map(intensity);
    const ridge = gpu?.bandwidth && !hasOtherUnits ? gpu.gflops / gpu.bandwidth : Math.max(...xs);
    const left = 10 ** Math.floor(Math.log10(Math.min(...xs) / 3));
    const right = 10 ** Math.ceil(Math.log10(Math.max(ridge * 2, ...xs)));
    const bottom = 10 ** Math.floor(Math.log10(Math.min(...ys)));
    const top = 10 ** Math.ceil(Math.log10(Math.max(...ys, hasOtherUnits ? 0 : gpu?.gflops ?? 0) * 1.05));
    const dot = (o, time) => ({ value: [intensity(o), gflops(o, time)], name: o.label, time });
    const limits = roofs(gpu, hasOtherUnits, left, right, top, t);
    return view.draw(plot, {
      legend: legend(t, { data: ['variants', 'best of each subject', ...(subjects.some((o) => o.floor) || s.floor ? ['model’s floor'] : []), ...limits.map(({ name }) => name)] }), toolbox: toolbox(t), dataZoom: [zoom({ xAxisIndex: 0 }), zoom({ yAxisIndex: 0 })],
      grid: { left: 64, right: 22, top: 40, bottom: 46 },
      tooltip: tooltip(t, (d) => (d.seriesName === 'variants' ? describePoint(s, d.data[2], view.shared.kinds)
        : plain(`${d.data.name}\n${d.seriesName === 'model’s floor' ? 'floor' : 'best'}: ${us(d.data.time)}\n${number(d.data.value[1], 4)} GFLOP/s at ${number(d.data.value[0])} flop/byte`))),
      xAxis: axis(t, 'operations per byte of DRAM traffic (flop/byte)', { type: 'log', min: left, max: right }),
      yAxis: axis(t, 'GFLOP/s', { type: 'log', nameGap: 46, min: bottom, max: top, axisLabel: { formatter: (v) => number(v, 4) } }),
      series: [
        ...limits,
        { name: 'variants', type: 'scatter', symbol: 'rect', symbolSize: [16, 2], itemStyle: { color: t.faint }, color: t.series[0], data: points },
        { name: 'model’s floor', type: 'scatter', symbol: 'diamond', symbolSize: 12, itemStyle: { color: 'transparent', borderColor: t.good, borderWidth: 2 }, color: t.good,
          data: [...new Set([s, ...subjects])].filter((o) => o.floor).map((o) => dot(o, o.floor)) },
        { name: 'best of each subject', type: 'scatter', symbolSize: 11, color: t.best, z: 6, itemStyle: { borderColor: t.card, borderWidth: 1.5 }, data: subjects.map((o) => dot(o, o.best)) },
      ],
    }, view.isNarrow ? 360 : 440, s.floor && s.winner ? `The model’s floor is ${number(100 * s.floor / s.best)} per cent of the best time of ${s.label}.` : '');
  };
}
roofline.needsSubject = true;
