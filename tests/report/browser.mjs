// Opens reports in headless Chromium and looks at them: what is drawn, sorted, brushed, said, asked of the network. Usage: node browser.mjs FOLDER WEB_FOLDER CHROMIUM NAME=REPORT.html…
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { contrastOf } from './contrast.mjs';
import path from 'node:path';
import { harness } from './harness.mjs';
import { contrast, chartFaults, layout } from './looks.mjs';

const [folder, ...words] = process.argv.slice(2);
const { open, test, quiet, run, files, patience } = await harness(words);
const drawAll = (page) => page.evaluate(() => window.report.drawAll('test'));

// Colours of each figure's canvases: a blank one has one.
const coloursOf = (page) => page.evaluate(() => [...document.querySelectorAll('figure[data-chart]')].map((figure) => {
  let most = 0;
  for (const canvas of figure.querySelectorAll('canvas')) {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    most = Math.max(most, colours.size);
  }
  return { name: figure.dataset.chart, hidden: figure.hidden, colours: most };
}));

for (const [colorScheme, width] of [['light', 360], ['dark', 1440], ['light', 3840]]) {
  test(`every chart is drawn: ${colorScheme}, ${width} pixels wide`, async () => {
    const view = await open('tuned', { width, colorScheme });
    await drawAll(view.page);
    const figures = await coloursOf(view.page);
    assert.ok(figures.length >= 10, `only ${figures.length} figures`);
    for (const figure of figures) assert.ok(!figure.hidden && figure.colours > 3, JSON.stringify(figure));
    const wide = await view.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page is ${wide} pixels wide`);
    quiet(view);
    await view.close();
  });
}

test('charts come into being when they come into view, and follow the subject', async () => {
  const view = await open('tuned');
  const drawn = () => view.page.evaluate(() => document.querySelectorAll('figure[data-drawn]').length);
  await view.page.waitForSelector('figure[data-drawn]');
  const before = await drawn();
  assert.ok(before > 0 && before < 6, `${before} drawn at once`);
  await view.page.locator('#time').scrollIntoViewIfNeeded();
  await view.page.waitForFunction((n) => document.querySelectorAll('figure[data-drawn]').length > n, before);
  const label = view.page.locator('figure[data-chart=convergence] .plot');
  await view.page.locator('#convergence').scrollIntoViewIfNeeded();
  await view.page.waitForSelector('figure[data-chart=convergence][data-drawn]');
  const first = await label.getAttribute('aria-label');
  await view.page.selectOption('#subject', '1');
  assert.notEqual(await label.getAttribute('aria-label'), first);
  for (const mode of ['all', 'distribution']) await view.page.locator('figure[data-chart=convergence] select').selectOption(mode); // a replay has no seconds of its own
  quiet(view);
  await view.close();
});

test('tables sort by number and by text, empty cells last, by mouse and keyboard', async () => {
  const view = await open('tuned');
  const table = view.page.locator('#table-values');
  const column = (n) => table.locator('tbody tr').evaluateAll((rows, at) => rows.map((row) => row.cells[at].textContent), n);
  const heads = await table.locator('thead th').allTextContents();
  const at = heads.indexOf('Median ×');
  const head = table.locator('thead th').nth(at);
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  const numbers = (texts) => texts.filter((text) => text !== '').map(Number);
  const up = await column(at);
  assert.deepEqual(numbers(up), numbers(up).sort((a, b) => a - b));
  assert.ok(up.findLastIndex((text) => text !== '') < (up.indexOf('') < 0 ? Infinity : up.indexOf('')), 'empty cells are not last');
  await head.locator('button').focus();
  await view.page.keyboard.press('Enter');
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  const down = numbers(await column(at));
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  const knob = heads.indexOf('Knob');
  await table.locator('thead th').nth(knob).locator('button').click();
  const names = await column(knob);
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })));
  await table.locator('input[type=search]').fill(names[0]);
  const shown = await table.locator('tbody tr:visible').count();
  assert.ok(shown > 0 && shown < names.length, `${shown} of ${names.length} rows pass the filter`);
  quiet(view);
  await view.close();
});

test('brushing an axis picks variants, and the slider the fastest part', async () => {
  const view = await open('tuned');
  const figure = view.page.locator('figure[data-chart=parallel]');
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('output').waitFor();
  await view.page.waitForSelector('figure[data-chart=parallel][data-drawn]');
  const all = await figure.locator('output').textContent();
  const total = Number(all.match(/of (\d+) variants/)[1]);
  const line = await view.page.evaluate(() => {
    const { figure: element, plots } = window.report.views.find((v) => v.figure.dataset.chart === 'parallel');
    const system = plots[0].chart.getModel().getComponent('parallel').coordinateSystem;
    const dimension = system.dimensions.at(-1);
    const { position, axisExpandWindow } = { ...system.getAxisLayout(dimension) };
    const [low, high] = system.getAxis(dimension).getExtent();
    const box = element.querySelector('.plot').getBoundingClientRect();
    return { x: box.x + position[0], top: box.y + position[1] - Math.max(low, high), bottom: box.y + position[1] - Math.min(low, high), unused: axisExpandWindow };
  });
  const height = line.bottom - line.top;
  await view.page.mouse.move(line.x, line.top + 1);
  await view.page.mouse.down();
  for (let step = 1; step <= 5; step++) await view.page.mouse.move(line.x, line.top + (0.08 * step * height) / 5);
  await view.page.mouse.up();
  await view.page.waitForFunction((most) => { // the plot follows the brush when it comes to it
    const picked = document.querySelector('figure[data-chart=parallel] output').textContent.match(/^(\d+) of/);
    return picked && Number(picked[1]) > 0 && Number(picked[1]) < most;
  }, total);
  await figure.locator('input[type=range]').fill('10');
  const part = Number((await figure.locator('output').textContent()).match(/of (\d+) variants/)[1]);
  assert.ok(part > 0 && part <= 0.2 * total, `${part} of ${total} are the fastest tenth`);
  quiet(view);
  await view.close();
});

test('everything has a name: controls, plots, tables, sections', async () => {
  const view = await open('tuned');
  await drawAll(view.page);
  const nameless = await view.page.evaluate(() => {
    const bad = [];
    for (const control of document.querySelectorAll('select, input')) if (!control.labels?.[0]?.textContent.trim() && !control.getAttribute('aria-label')) bad.push(control.outerHTML.slice(0, 80));
    for (const button of document.querySelectorAll('button')) if (!button.textContent.trim()) bad.push(button.outerHTML);
    for (const plot of document.querySelectorAll('.plot')) if (plot.getAttribute('role') !== 'img' || plot.getAttribute('aria-label').length < 20) bad.push('plot');
    for (const table of document.querySelectorAll('table')) if (!table.caption?.textContent || [...table.tHead.rows[0].cells].some((th) => th.scope !== 'col')) bad.push(table.id);
    for (const section of document.querySelectorAll('section')) if (section.getAttribute('aria-label') !== section.querySelector('h2').textContent) bad.push(section.id);
    for (const region of document.querySelectorAll('.t')) if (region.tabIndex !== 0 || !region.getAttribute('aria-label')) bad.push('region');
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push(`id ${id} twice`);
    if (document.documentElement.lang !== 'en' || !document.title) bad.push('document');
    return bad;
  });
  assert.deepEqual(nameless, []);
  await view.page.keyboard.press('Tab');
  assert.equal(await view.page.evaluate(() => document.activeElement.className), 'skip');
  await view.close();
});

// WCAG: 4.5 for text (layout.mjs asks that of everything on three pages), 3 for what charts are drawn with.
for (const colorScheme of ['light', 'dark']) {
  test(`contrast of charts: ${colorScheme}`, async () => {
    const view = await open('tuned', { colorScheme });
    const { card, text, muted, series, good, bad, best } = await view.page.evaluate(() => window.report.theme());
    const poor = [];
    for (const color of [text, muted]) if (await contrastOf(view.page, color, card) < 4.5) poor.push(color);
    for (const color of [...series, good, bad, best]) if (await contrastOf(view.page, color, card) < 3) poor.push(color);
    assert.deepEqual(poor, []);
    await view.close();
  });
}

test('the theme can be chosen and is kept', async () => {
  const view = await open('tuned', { colorScheme: 'light' });
  const page = () => view.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await page();
  await view.page.click('#theme');
  await view.page.click('#theme');
  assert.equal(await view.page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.notEqual(await page(), light);
  await view.page.reload();
  assert.notEqual(await page(), light);
  quiet(view);
  await view.close();
});

test('without scripts the tables are all there', async () => {
  const view = await open('tuned', { javaScriptEnabled: false });
  assert.ok(await view.page.locator('main table').count() >= 12);
  for (const id of ['best', 'convergence', 'values', 'roofline', 'ties', 'outcomes', 'portability', 'time', 'tuned']) assert.ok(await view.page.locator(`#table-${id}`).isVisible(), id);
  assert.equal(await view.page.locator('figure:visible').count(), 0);
  assert.ok(await view.page.locator('.hint').isVisible());
  await view.close();
});

test('printed: light, without controls, tables in full', async () => {
  const view = await open('tuned', { colorScheme: 'dark' });
  await view.page.setViewportSize({ width: 1032, height: 700 }); // what A4 across leaves between its margins
  await view.page.emulateMedia({ media: 'print' });
  await view.page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.equal(await view.page.locator('nav').isVisible(), false);
  const clipped = await view.page.evaluate(() => [...document.querySelectorAll('.t.long')].filter((t) => t.scrollHeight > t.clientHeight + 2).length);
  assert.equal(clipped, 0);
  const cut = await view.page.evaluate(() => [...document.querySelectorAll('.t')].filter((t) => t.scrollWidth > t.clientWidth + 2).map((t) => t.textContent.trim().slice(0, 40)));
  assert.deepEqual(cut, []);
  const layered = await view.page.evaluate(() => [...document.querySelectorAll('.plot')].filter((p) => p.querySelectorAll('canvas:not(.flat)').length > 1).map((p) => p.querySelectorAll('.flat').length));
  assert.ok(layered.length > 0 && layered.every((n) => n === 1), 'charts of several canvases are printed as one');
  assert.ok((await coloursOf(view.page)).every(({ colours }) => colours > 3));
  const pdf = await view.page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 20000);
  quiet(view);
  await view.close();
});

test('failures are drawn and told', async () => {
  const view = await open('failing');
  await drawAll(view.page);
  assert.match(await view.page.locator('#table-texts').textContent(), /CUDA_ERROR_ILLEGAL_ADDRESS/);
  assert.match(await view.page.locator('#table-failing_knobs').textContent(), /BLOCK/);
  assert.ok((await coloursOf(view.page)).every(({ hidden, colours }) => hidden || colours > 3));
  quiet(view);
  await view.close();
});

test('hostile texts are shown as text', async () => {
  const view = await open('hostile');
  await drawAll(view.page);
  const found = await view.page.evaluate(() => ({
    scripts: document.querySelectorAll('script').length, foreign: document.querySelectorAll('main img, main svg, main iframe, main b, main a:not([href^="#s="]), [onerror], [onload]').length, hit: typeof window.hit,
    text: document.querySelector('main').textContent.includes('<script>window.hit=1</script>'), data: document.getElementById('data').textContent.includes('<'),
  }));
  assert.deepEqual(found, { scripts: 3, foreign: 0, hit: 'undefined', text: true, data: false });
  quiet(view);
  // The policy holds even if something got in.
  await view.page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hit = 2';
    document.body.append(script);
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:9/x.png';
    document.body.append(image);
  });
  assert.equal(await view.page.evaluate(() => typeof window.hit), 'undefined');
  const isRefused = () => view.seen.complaints.some((text) => text.includes('Content Security Policy'));
  for (const end = Date.now() + patience; !isRefused() && Date.now() < end;) await view.page.waitForTimeout(20);
  assert.ok(isRefused());
  assert.deepEqual(view.seen.requests.filter((url) => !url.startsWith('http://127.0.0.1:9')), []);
  await view.close();
});

test('the comparison shows verdicts', async () => {
  const view = await open('diff');
  await drawAll(view.page);
  assert.match(await view.page.locator('#table-diff').textContent(), /SAME|FAST|SLOW|AMBG/);
  assert.ok((await coloursOf(view.page))[0].colours > 3);
  quiet(view);
  await view.close();
});

for (const width of [390, 768, 1280, 2560]) {
  test(`the comparison's first screen: ${width} pixels`, async () => {
    const view = await open('compared', { width, height: 900 });
    assert.deepEqual(await view.page.evaluate(layout), []);
    const { top, tallest, hidden, last } = await view.page.evaluate(() => {
      const box = document.querySelector('#rows .group .t');
      const rows = [...box.querySelectorAll('tbody tr')];
      return { top: rows[0].getBoundingClientRect().bottom, tallest: Math.max(...rows.map((row) => row.offsetHeight)), hidden: box.scrollWidth - box.clientWidth, last: document.querySelectorAll('#rows .group')[1]?.open };
    });
    if (width >= 768) assert.ok(top <= 900, `the first row ends at ${top}`);
    assert.ok(tallest <= (width < 960 ? 130 : 70), `a row of ${tallest} pixels`);
    assert.ok(hidden <= 1, `${hidden} pixels of the table are hidden`);
    assert.equal(last, false, 'what one side lacks is folded');
    await drawAll(view.page);
    assert.deepEqual(await view.page.evaluate(chartFaults), []);
    for (const colorScheme of ['light', 'dark']) {
      await view.page.emulateMedia({ colorScheme });
      assert.deepEqual(await view.page.evaluate(contrast), [], colorScheme);
      await view.page.screenshot({ path: path.join(folder, `diff-${width}-${colorScheme}.png`) });
    }
    quiet(view);
    await view.close();
  });
}

// What the page costs its own thread: on a busy machine it opens later, and costs the same.
test('100,000 rows: below 10 MB, opens in 2.5 s of one processor, says what was summed up', async () => {
  assert.ok(statSync(files.large).size < 10e6, `${statSync(files.large).size} bytes`);
  const view = await open('large', { countsThreadTime: true });
  await view.page.waitForSelector('figure[data-drawn]');
  await view.page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); }));
  const seconds = await view.threadTime();
  console.log(`  opened in ${seconds.toFixed(2)} s of its thread's time`);
  assert.match(await view.page.locator('#summary').textContent(), /Charts draw \d+ of 100000 evaluations/);
  await drawAll(view.page);
  assert.ok((await coloursOf(view.page)).every(({ hidden, colours }) => hidden || colours > 3));
  quiet(view);
  await view.close();
  assert.ok(seconds > 0 && seconds <= 2.5, `opened in ${seconds.toFixed(2)} s`);
});

// Rows of tables are what costs most where there are many subjects: what is far away is laid out when it comes near.
test('100,000 rows of 400 shapes: below 10 MB, opens in 2.5 s of one processor', async () => {
  assert.ok(statSync(files.many).size < 10e6, `${statSync(files.many).size} bytes`);
  const view = await open('many', { countsThreadTime: true });
  await view.page.waitForFunction(() => window.report);
  await view.page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); }));
  const seconds = await view.threadTime();
  console.log(`  opened in ${seconds.toFixed(2)} s of its thread's time`);
  assert.match(await view.page.locator('#best').textContent(), /400 winners/);
  quiet(view);
  await view.close();
  assert.ok(seconds > 0 && seconds <= 2.5, `opened in ${seconds.toFixed(2)} s`);
});

// Tables of many subjects end; the pages of those beyond do not keep the notes that explained them.
test('a note of a shape\'s page stands beside a table of that shape', async () => {
  const view = await open('many');
  const places = await view.page.locator('#best td[data-s]').evaluateAll((all) => [all[0], all.at(-1)].map(({ dataset }) => dataset.s));
  let tables = 0;
  for (const place of places) {
    await view.page.goto(`${view.page.url().split('#')[0]}#s=${place}`);
    await view.page.waitForFunction((id) => document.body.dataset.subject === id, place);
    const alone = await view.page.locator('main section').evaluateAll((all) => all.filter((section) => section.checkVisibility()
      && [...section.querySelectorAll(':scope > p')].some((note) => note.checkVisibility()) && ![...section.querySelectorAll('table')].some((table) => table.checkVisibility())).map(({ id }) => id));
    assert.deepEqual(alone, [], `#s=${place}`);
    assert.ok(!(await view.page.locator('main section > p:visible').allTextContents()).some((text) => /not listed here|list ends/.test(text)), 'what lists of all shapes leave out');
    tables += await view.page.locator('main section > p:visible').count();
  }
  assert.ok(tables > 0, 'notes beside tables stay');
  quiet(view);
  await view.close();
});

await run();
