// A shape's page, section by section: what was measured is there, what was not leaves no empty place. Usage: node shape.mjs FOLDER WEB_FOLDER CHROMIUM NAME=REPORT.html…
// `live` was tuned with the real search on a fake GPU: arms, rounds, energies, failures; `one` is a recording with a model and errors; `failing` another tool's, with neither.
import assert from 'node:assert/strict';
import path from 'node:path';
import { harness, toAllShapes } from './harness.mjs';
import { contrast, chartFaults, layout } from './looks.mjs';

const [folder, ...words] = process.argv.slice(2);
const { files, open, look, test, quiet, run } = await harness(words);

const drawn = (page) => page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.checkVisibility()));
// What is wrong with the charts once nothing moves any more: a fault that is gone after a few frames was a chart on its way to another size or place.
async function lastingFaults(page) {
  let faults = await page.evaluate(chartFaults);
  for (let frame = 0; faults.length && frame < 400; frame++) { // on a busy machine a page of 600 shapes takes its time
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 50)); }));
    faults = await page.evaluate(chartFaults);
  }
  return faults;
}
async function lookAtPage(page, width) {
  assert.deepEqual(await page.evaluate(layout), []);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await page.evaluate(contrast), [], colorScheme);
    await page.screenshot({ path: path.join(folder, `live-${width}-${colorScheme}.png`), fullPage: true });
  }
}
// The page of the first shape, all its charts drawn.
async function openShape(name, options = {}) {
  const view = await open(name, { hash: '#s=0', ...options });
  await view.page.waitForFunction(() => document.body.dataset.subject === '0');
  await drawn(view.page);
  return view;
}
const lookAtShape = (name) => look(`${name}, its first shape`, () => openShape(name));
const modes = (page, chart) => page.locator(`figure[data-chart=${chart}] select option`).evaluateAll((options) => options.map(({ value }) => value));
const show = (page, chart, mode) => page.locator(`figure[data-chart=${chart}] select`).selectOption(mode);
// Names and sizes of the series of a chart.
const series = (page, chart) => page.evaluate((name) => window.report.views.find((v) => v.figure.dataset.chart === name).plots[0].chart.getOption().series.map((s) => ({ name: s.name, size: s.data.length })), chart);
const subject = (page) => page.evaluate(() => { const { shared, state } = window.report.views[0]; const { points, steps, arms } = shared.subjects[state.subject]; return { total: points.e.length, steps, arms }; });
const sections = (page) => page.locator('main section:visible').evaluateAll((all) => all.map(({ id }) => id));

if (files.live) {
  test('convergence: the best so far over evaluations and over seconds, and what each arm gave', async () => {
    const view = await lookAtShape('live');
    assert.deepEqual(await modes(view.page, 'convergence'), ['evaluations', 'time', 'arms', 'all', 'distribution']);
    const { total, steps, arms } = await subject(view.page);
    for (const [mode, at] of [['evaluations', 0], ['time', 1]]) {
      await show(view.page, 'convergence', mode);
      const drawn = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'convergence').plots[0].chart.getOption().series.at(-1));
      assert.equal(drawn.name, 'best so far');
      assert.deepEqual(drawn.data, steps.map((step) => [step[at], step[2]]));
    }
    await show(view.page, 'convergence', 'arms');
    const parts = (await series(view.page, 'convergence')).filter(({ name }) => name !== 'best so far');
    assert.deepEqual(parts.map(({ name }) => name).sort(), [...arms].sort());
    assert.equal(parts.reduce((sum, { size }) => sum + size, 0), total, 'each evaluation is drawn with its arm, failures too');
    const rows = await view.page.locator('#table-arms tbody tr:visible').evaluateAll((all) => all.map(({ cells }) => [cells[1].textContent, Number(cells[2].textContent)]));
    assert.deepEqual(rows.map(([name]) => name).sort(), [...arms].sort());
    assert.equal(rows.reduce((sum, [, count]) => sum + count, 0), total);
    for (const name of ['default', 'first sample', 'Gaussian process', 'forest']) assert.ok(arms.includes(name), name);
    quiet(view);
  });

  test('the final: intervals with its rounds, round by round, energies', async () => {
    const view = await lookAtShape('live');
    assert.deepEqual(await modes(view.page, 'ties'), ['intervals', 'rounds', 'energy']);
    const finalists = await view.page.locator('#table-ties tbody tr:visible').count();
    const parts = await series(view.page, 'ties');
    const rounds = parts.find(({ name }) => name === 'rounds').size;
    assert.ok(finalists > 1 && rounds >= 3 * finalists && rounds % finalists === 0, `${rounds} dots of ${finalists} finalists`);
    assert.equal(parts.filter(({ name }) => name !== 'rounds').reduce((sum, { size }) => sum + size, 0), finalists);
    await show(view.page, 'ties', 'rounds');
    assert.deepEqual((await series(view.page, 'ties')).map(({ size }) => size), Array(finalists).fill(rounds / finalists));
    await show(view.page, 'ties', 'energy');
    assert.equal((await series(view.page, 'ties')).reduce((sum, { size }) => sum + size, 0), finalists);
    const heads = await view.page.locator('#table-ties thead th').allTextContents();
    assert.ok(heads.includes('Energy (mJ)') && heads.includes('Rounds (µs)'), heads.join());
    assert.match(await view.page.locator('#best details.more[open] dl').textContent(), /Energy \(mJ\)[\d.]+.*Power \(W\)\d+/);
    quiet(view);
  });

  test('failures with their reasons; all variants over a knob, failed ones and ones stopped early marked', async () => {
    const view = await lookAtShape('live');
    assert.match(await view.page.locator('#table-texts').textContent(), /CUDA_ERROR_ILLEGAL_ADDRESS/);
    const names = (await series(view.page, 'values')).map(({ name }) => name).join();
    assert.match(names, /failed/);
    assert.match(names, /stopped early/);
    const { given, drawn } = await view.page.evaluate(() => { // as slow as they were: each is marked as stopped early
      const { shared, subject, plots } = window.report.views.find((v) => v.figure.dataset.chart === 'values');
      const { kind, newest, us } = subject.points;
      return { given: kind.filter((k, i) => shared.kinds[k] === 'censored' && newest[i] && us[i] !== null).length, drawn: plots[0].chart.getOption().series.find((s) => s.name === 'stopped early').data.length };
    });
    assert.equal(drawn, given);
  });

}

// Tables of numbers of which a column is cut.
const cutTables = (page) => page.locator('.t:visible').evaluateAll((all) => all.filter((box) => !box.querySelector('td.v, td.c') && box.scrollWidth > box.clientWidth + 1 && box.querySelectorAll('th:not(.n)').length < 4)
  .map((box) => `${box.querySelector('caption').textContent}: ${box.scrollWidth} in ${box.clientWidth}`));

// Of each legend its chart, whether it breaks into lines (plain), and how many of its names are beyond the edge.
const legends = (page) => page.evaluate(() => window.report.views.filter(({ isLive }) => isLive).flatMap(({ figure, plots }) => plots.map(({ chart }) => {
  const [words] = chart.getOption().legend ?? [];
  const room = chart.getWidth();
  return words && { chart: figure.dataset.chart, type: words.type, items: chart.getZr().storage.getDisplayList().filter((shape) => shape.type === 'tspan' || shape.type === 'text')
    .filter((shape) => (words.data ?? chart.getOption().series.map(({ name }) => name)).includes(shape.style.text)).filter((shape) => { const box = shape.getBoundingRect().clone(); box.applyTransform(shape.transform ?? [1, 0, 0, 1, 0, 0]); return box.x + box.width > room; }).length };
})).filter(Boolean));

// No text of a chart sticks out, is hard to read, or lies on another, a line or a point.
for (const name of Object.keys(files)) {
  for (const width of [390, 768, 1280, 2560]) {
    test(`a shape's page and its charts: ${name}, ${width} pixels`, async () => {
      const view = await openShape(name, { width });
      if (width === 1280 && name !== 'msda') assert.deepEqual(await cutTables(view.page), []);
      if (width === 390) {
        const found = await legends(view.page);
        assert.ok(found.length > 2);
        for (const { chart, type, items } of found.filter((legend) => legend.chart !== 'drift')) assert.deepEqual([type, items], ['plain', 0], `the legend of ${chart} breaks into lines, with all its names`);
      }
      for (const colorScheme of ['dark', 'light']) {
        await view.page.emulateMedia({ colorScheme });
        await drawn(view.page);
        assert.deepEqual(await lastingFaults(view.page), [], `of a shape, ${colorScheme}`);
      }
      if (name === 'live') await lookAtPage(view.page, width);
      await toAllShapes(view.page);
      await drawn(view.page);
      assert.deepEqual(await lastingFaults(view.page), [], 'of all shapes');
      await view.close();
    });
  }
}

test('numbers of the summary stand beside the best\'s line, which they would lie on', async () => {
  const view = await open('one', { width: 390 });
  await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.dataset.chart === 'summary'));
  const { best, floor } = await view.page.evaluate(() => {
    const { chart } = window.report.views.find((v) => v.figure.dataset.chart === 'summary').plots[0];
    const [, , , part] = window.report.views.find((v) => v.figure.dataset.chart === 'summary').data.rows[0];
    const shape = chart.getZr().storage.getDisplayList().find(({ type, style }) => type === 'tspan' && style.text === `${Number(part.toPrecision(3))} ×`);
    return { best: chart.convertToPixel({ xAxisIndex: 0 }, 1), floor: shape.transformCoordToGlobal(shape.getBoundingRect().x, 0)[0] };
  });
  assert.ok(floor > best + 3 && floor < best + 12, `the line at ${best}, the floor's number at ${floor}`);
  await view.close();
});

test('roofline and front are there with their data', async () => {
  const view = await lookAtShape('one');
  const shown = await sections(view.page);
  for (const id of ['convergence', 'knobs', 'roofline', 'accuracy', 'noise']) assert.ok(shown.includes(id), id);
  const roof = await series(view.page, 'roofline');
  assert.ok(roof.some(({ name, size }) => /^DRAM \d/.test(name) && size) && roof.some(({ name, size }) => /^FP32 \d/.test(name) && size) && roof.find(({ name }) => name === 'variants').size > 10);
  assert.ok((await series(view.page, 'accuracy')).find(({ name }) => name === 'front').size > 0);
  for (const chart of ['importance', 'pairs', 'values', 'ablation']) assert.ok(await view.page.locator(`figure[data-chart=${chart}]`).isVisible(), chart);
});

// Kernels on tensor cores compute beyond the FP32 units' roof: it is none of theirs, and every point is within the axes.
test('all points of a roofline are within its axes, and those of one kernel alone', async () => {
  const view = await open('msda');
  const places = await view.page.evaluate(() => ['gemm', 'msda'].map((kernel) => window.report.views[0].shared.subjects.find((s) => s.kernel === kernel && s.flops && s.winner).place));
  for (const [n, place] of places.entries()) {
    await view.page.goto(`${view.page.url().split('#')[0]}#s=${place}`);
    await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.dataset.chart === 'roofline'));
    const { outside, roofs } = await view.page.evaluate(() => {
      const { series, xAxis: [x], yAxis: [y] } = window.report.views.find((v) => v.figure.dataset.chart === 'roofline').plots[0].chart.getOption();
      const at = (d) => d.value ?? d;
      return {
        outside: series.filter(({ type }) => type === 'scatter').flatMap(({ data }) => data.map(at)).filter(([a, b]) => a < x.min || a > x.max || b < y.min || b > y.max),
        roofs: series.filter(({ type }) => type === 'line').map(({ name }) => name.split(' ')[0]),
      };
    });
    assert.deepEqual(outside, []);
    assert.deepEqual(roofs, n ? ['DRAM', 'FP32'] : ['DRAM']);
  }
  await toAllShapes(view.page);
  await view.page.locator('#subject').selectOption(await view.page.evaluate(() => String(window.report.views[0].shared.subjects.findIndex((s) => s.kernel === 'gemm'))));
  await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => ['roofline', 'convergence'].includes(figure.dataset.chart)));
  const labels = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'roofline').plots[0].chart.getOption().series.find(({ name }) => name === 'best of each subject').data.map(({ name }) => name));
  assert.ok(labels.length > 1 && labels.every((label) => label.startsWith('gemm')), labels.slice(0, 3).join());
  quiet(view);
  await view.close();
});

test('imported rows are drawn over evaluations alone: no search had a clock', async () => {
  for (const name of ['failing', 'msda']) {
    const view = await lookAtShape(name);
    assert.ok(!(await modes(view.page, 'convergence')).includes('time'), name);
    assert.ok(!(await view.page.locator('#table-convergence th').allTextContents()).some((head) => head.startsWith('Seconds')), name);
  }
});

test('a table that goes on beyond its box has a shade there', async () => {
  const view = await open('one', { width: 390 });
  const plain = await view.page.locator('.t').evaluateAll((all) => all.filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).backgroundAttachment.split(', ').join() !== 'local,local,scroll,scroll').length);
  assert.equal(plain, 0);
  await view.close();
});

test('the heat map opens on the two knobs that explain most within the winner\'s algorithm', async () => {
  for (const name of ['one', 'failing']) {
    const view = await lookAtShape(name);
    const { opened, expected, lacking } = await view.page.evaluate(() => {
      const { figure, subject: s } = window.report.views.find((v) => v.figure.dataset.chart === 'pairs');
      const own = new Set(s.winner.split(';').map((part) => part.split('=')[0]));
      const weight = (k) => s.knobs[k].overall ?? -1;
      const opened = [...figure.querySelectorAll('select')].map(({ value }) => Number(value));
      return { opened, expected: s.knobs.map((_, k) => k).filter((k) => s.knobs[k].values.length > 1).sort((a, b) => weight(b) - weight(a)).slice(0, 2), lacking: opened.filter((k) => !own.has(s.knobs[k].name)) };
    });
    assert.deepEqual(opened, expected, name);
    assert.deepEqual(lacking, [], 'knobs that the winner lacks');
  }
});

test('the summary\'s chart has the table\'s ratios, rounded once', async () => {
  const view = await open('one');
  const charted = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'summary').data.rows[0].slice(1, 3));
  const shown = await view.page.locator('#best td[data-h^="× as fast as"]').allTextContents();
  assert.deepEqual(charted.map((ratio) => ratio.toFixed(2)), shown);
  assert.ok(charted.every((ratio) => ratio !== Number(ratio.toPrecision(4))), `${charted}: rounded before they are shown`);
  await view.close();
});

test('what was not measured leaves no empty place', async () => {
  const view = await lookAtShape('failing');
  const shown = await sections(view.page);
  for (const id of ['roofline', 'accuracy']) assert.ok(!shown.includes(id), id);
  assert.equal(await view.page.locator('nav a:visible').filter({ hasText: /Roofline|Accuracy/ }).count(), 0);
  assert.ok(!(await modes(view.page, 'convergence')).includes('arms'), 'nobody knows who proposed');
  assert.equal(await view.page.locator('#table-arms').count(), 0);
  assert.ok((await modes(view.page, 'ties')).every((mode) => mode === 'intervals'));
  assert.doesNotMatch(await view.page.locator('#best').textContent(), /Energy/);
  const empty = await view.page.locator('select:visible').evaluateAll((all) => all.filter(({ options }) => !options.length).map(({ outerHTML }) => outerHTML));
  assert.deepEqual(empty, []);
});

test('each shape with failures has their reasons', async () => {
  const view = await look('msda');
  const { failed, told } = await view.page.evaluate(() => {
    const { shared } = window.report.views[0];
    return { failed: shared.subjects.filter((s) => s.points.kind.some((kind) => shared.failures.includes(shared.kinds[kind]))).map((s) => String(s.place)),
      told: [...document.querySelectorAll('#table-texts td[data-s]')].map((cell) => cell.dataset.s) };
  });
  assert.ok(failed.length >= 20, `only ${failed.length} shapes with failures`);
  assert.deepEqual(failed.filter((place) => !told.includes(place)), []);
});

test('every winner is on the first screen, and has charts of its own', async () => {
  const view = await look('msda');
  assert.doesNotMatch(await view.page.locator('#best').textContent(), /not listed/);
  const { winners, charted } = await view.page.evaluate(() => ({ winners: [...document.querySelectorAll('#best td[data-s]')].map((cell) => Number(cell.dataset.s)),
    charted: window.report.views[0].shared.subjects.map(({ place }) => place) }));
  assert.ok(winners.length > 400, `only ${winners.length} winners: not what this is for`);
  assert.deepEqual(winners.filter((place) => !charted.includes(place)), []);
  assert.deepEqual(charted, [...charted].sort((a, b) => a - b), 'in the order of the tables');
});

test('nothing keeps the place of a chart that is not there yet, once it is', async () => {
  const view = await lookAtShape('failing');
  const kept = await view.page.locator('figure[data-drawn]').evaluateAll((all) => all.filter(({ style }) => style.minHeight).map(({ dataset }) => dataset.chart));
  assert.deepEqual(kept, []);
});

if (files.live) {
  test('around the winner, what failed or was stopped early is a mark without a length, behind all that have times', async () => {
    const view = await lookAtShape('live');
    const parts = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'ablation').plots[0].chart.getOption().series.map(({ name, type, data }) => ({ name, type, data })));
    assert.deepEqual(parts.map(({ name, type }) => [name, type]), [['timed', 'bar'], ['stopped early', 'scatter'], ['failed', 'scatter']]);
    const [timed, ...marks] = parts.map(({ data }) => data);
    const last = Math.max(...timed.map(([, row]) => row));
    for (const [at, row] of marks.flat()) assert.ok(at === 0 && row > last, `a mark at ${at} in row ${row}`);
    assert.ok(timed.every(([length]) => length <= 700), 'no bar flattens the rest');
    const failed = await view.page.locator('#table-ablation tbody tr').evaluateAll((rows) => rows.filter(({ cells }) => !cells[4].textContent).length);
    assert.equal(parts[2].data.length, failed);
  });

  test('pairs of values that failed are marked in the heat map', async () => {
    const view = await lookAtShape('live');
    const { failed, blank } = await view.page.evaluate(() => {
      const pairs = window.report.views.find((v) => v.figure.dataset.chart === 'pairs');
      const [rows, columns] = [...pairs.figure.querySelectorAll('select')].map((select) => Number(select.value));
      const { levels, kind, us, newest } = pairs.subject.points;
      const { kinds, failures } = pairs.shared;
      const timed = new Set(us.map((time, i) => (time === null ? '' : `${levels[columns][i]},${levels[rows][i]}`)));
      const all = us.map((time, i) => (time === null && newest[i] && failures.includes(kinds[kind[i]]) ? `${levels[columns][i]},${levels[rows][i]}` : '')).filter((at) => at && !timed.has(at));
      const marked = pairs.plots[0].chart.getOption().series[0].data.filter((d) => d.failed && d.label.formatter === '×');
      return { failed: new Set(all).size, blank: new Set(all).size - marked.length };
    });
    assert.ok(failed > 0, 'no pair failed: not what this is for');
    assert.equal(blank, 0);
  });
}

// A shape that is not the charts' first choice, its row and its neighbours.
const another = (page) => page.evaluate(() => {
  const { shared, state } = window.report.views[0];
  return shared.subjects.find((s, i) => i !== state.subject && s.winner && s.points.e.length > 3 && shared.subjects.some((o) => o !== s && o.gpuKey === s.gpuKey && o.winner && o.flops)).place;
});
const charted = (page) => page.evaluate(() => { const { shared, state } = window.report.views[0]; return { place: shared.subjects[state.subject].place, picked: shared.subjects[Number(document.getElementById('subject').value)].place, shown: document.body.dataset.subject }; });

test('a page opened on a shape, whichever it is, has that shape\'s charts', async () => {
  const first = await open('msda');
  const place = await another(first.page);
  await first.close();
  const view = await open('msda', { hash: `#s=${place}` });
  assert.deepEqual(await charted(view.page), { place, picked: place, shown: String(place) });
  await view.page.reload();
  assert.deepEqual(await charted(view.page), { place, picked: place, shown: String(place) });
  quiet(view);
  await view.close();
});

test('Back and Forward show what was there: all shapes, a shape, its sections', async () => {
  const view = await open('msda');
  const { page } = view;
  const place = await another(page);
  const rows = () => page.locator('#best td[data-s]:visible').count();
  const all = await rows();
  const shows = (wanted) => page.waitForFunction((id) => (document.body.dataset.subject ?? null) === id, wanted === null ? null : String(wanted));
  await page.locator(`#best td[data-s="${place}"] a`).click();
  await shows(place);
  await page.locator('nav a[href="#convergence"]').click();
  await page.waitForFunction(() => location.hash === '#convergence');
  await shows(place);
  await page.locator('#back').click();
  await shows(null);
  assert.equal(await rows(), all);
  await page.goBack();
  await shows(place);
  assert.equal(await rows(), 1);
  assert.ok(page.url().endsWith('#convergence'));
  await page.goBack();
  await page.goBack();
  await shows(null);
  assert.equal(await rows(), all, 'a page without an address has all shapes');
  await page.goForward();
  await shows(place);
  assert.equal((await charted(page)).place, place);
  quiet(view);
  await view.close();
});

test('nothing on a shape\'s page counts all shapes', async () => {
  const first = await open('msda');
  const place = await another(first.page);
  await first.close();
  const view = await open('msda', { hash: `#s=${place}` });
  await drawn(view.page);
  const counts = await view.page.locator('.group > p:visible, caption small:visible').allTextContents();
  assert.deepEqual(counts, []);
  if ((await sections(view.page)).includes('roofline')) assert.ok((await series(view.page, 'roofline')).find(({ name }) => name === 'best of each subject').size <= 1);
  await view.close();
});

test('its name is in the title, and not in each row', async () => {
  const view = await openShape('msda');
  const name = await view.page.locator('#best td[data-s]:visible').first().textContent();
  assert.ok((await view.page.title()).startsWith(`${name} · `), await view.page.title());
  assert.equal(await view.page.locator('#convergence th:visible').filter({ hasText: 'Subject' }).count(), 0);
  await toAllShapes(view.page);
  assert.equal(await view.page.title(), 'msda-tune report');
  assert.ok(await view.page.locator('#convergence th:visible').filter({ hasText: 'Subject' }).count() > 0);
  await view.close();
});

await run();
