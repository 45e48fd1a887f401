// Looks at reports of three databases at the widths of a phone, a tablet, a laptop and a large screen, light and dark: nothing cut, nothing on top of another, texts to be read, everything named.
// Screenshots go to the folder. Usage: node layout.mjs FOLDER WEB_FOLDER CHROMIUM NAME=REPORT.html…
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { harness, toAllShapes } from './harness.mjs';
import { contrast, focus, layout } from './looks.mjs';

const [folder, ...words] = process.argv.slice(2);
const { files, open, look, test, quiet, run } = await harness(words);
const WIDTHS = [390, 768, 1280, 2560];

// Cells of the first row that one has to scroll to.
const firstRow = () => [...document.querySelector('.group tbody tr').cells].filter((cell) => {
  const box = cell.getBoundingClientRect();
  return cell.textContent && (box.right > innerWidth || box.bottom > innerHeight || box.left < 0);
}).map((cell) => cell.dataset.h);

test('no page is larger than 10 MB', async () => {
  for (const file of Object.values(files)) assert.ok(statSync(file).size <= 10e6, `${file}: ${statSync(file).size} bytes`);
});

// Tables under headings that one has to scroll sideways to read, and the sections that have such tables.
function underHeadings() {
  const boxes = [...document.querySelectorAll('.group .t')];
  for (const box of document.querySelectorAll('main > section, .group, .group .t')) Object.assign(box, { open: true }).style.contentVisibility = 'visible';
  return { cut: boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => `${box.ariaLabel}: ${box.scrollWidth} in ${box.clientWidth}`), sections: [...new Set(boxes.map((box) => box.closest('section').id))] };
}

// The first screen, both themes; then what lies below it.
for (const name of Object.keys(files)) {
  for (const width of WIDTHS) {
    test(`${name}, ${width} pixels`, async () => {
      const view = await open(name, { width });
      assert.deepEqual(await view.page.evaluate(layout), []);
      assert.deepEqual(await view.page.evaluate(firstRow), [], 'of the first row');
      for (const colorScheme of ['light', 'dark']) {
        await view.page.emulateMedia({ colorScheme });
        assert.deepEqual(await view.page.evaluate(contrast), [], colorScheme);
        await view.page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
      const { cut, sections } = await view.page.evaluate(underHeadings);
      assert.deepEqual(cut, []);
      for (const id of ['best', 'summary', ...(name === 'msda' ? ['lookup'] : [])]) assert.ok(sections.includes(id), id);
      quiet(view);
      await view.close();
    });
  }
}

test('on a phone the line above the cards says that it sorts, and one card has none', async () => {
  const seen = new Set();
  for (const name of Object.keys(files)) {
    const view = await open(name, { width: 390 });
    const tables = await view.page.locator('#best .group table').evaluateAll((all) => all.map((table) => [table.tBodies[0].rows.length, table.tHead.checkVisibility(), getComputedStyle(table.tHead.rows[0], '::before').content]));
    for (const [rows, isShown, words] of tables) {
      assert.equal(isShown, rows > 1, `${name}: ${rows} rows`);
      assert.equal(words, '"Sort by"');
      seen.add(isShown);
    }
    await view.close();
  }
  assert.equal(seen.size, 2);
});

// Sections are laid out when they come near: a page that glides past them ends beside the one that was asked for.
test('a link of the menu leads to its section, motion allowed', async () => {
  const view = await open('msda', { width: 1280, reducedMotion: 'no-preference' });
  for (const link of await view.page.locator('nav ol a').all()) {
    await link.click();
    const target = await link.getAttribute('href');
    const reached = (id) => { const box = document.querySelector(id).getBoundingClientRect(); return box.top >= -2 && box.top < innerHeight / 2 || scrollY + innerHeight >= document.documentElement.scrollHeight - 2; };
    await view.page.waitForFunction(reached, target, { timeout: 5000 });
  }
  quiet(view);
  await view.close();
});

// The picture in README.md is this page's first screen; what it says, but for the figures, stands in picture.txt beside.
test('README\'s picture shows the report of today', async () => {
  const view = await open('msda', { width: 1280 });
  const words = await view.page.locator('nav ol a, #best h2, #best .group:first-of-type h3, #best .group:first-of-type > p, #best .group:first-of-type th').allTextContents();
  const said = `${words.join('\n').replace(/\d+(\.\d+)?/g, '#')}\n`;
  writeFileSync(path.join(folder, 'picture.txt'), said);
  assert.equal(said, readFileSync(new URL('picture.txt', import.meta.url), 'utf8'), `copy msda-1280-light.png of ${folder} to docs/report.png, and its picture.txt to tests/report`);
  await view.close();
});

for (const width of [390, 1280]) {
  test(`a shape alone, ${width} pixels: its rows, its charts, the way back`, async () => {
    const view = await open('msda', { width });
    const link = view.page.locator('#best td[data-s] a').nth(5);
    const shape = await link.textContent();
    const id = await link.evaluate((a) => a.parentElement.dataset.s);
    await link.click();
    await view.page.waitForFunction((wanted) => document.body.dataset.subject === wanted, id);
    assert.deepEqual(await view.page.locator('#best td[data-s]:visible').allTextContents(), [shape]);
    assert.ok(await view.page.locator('details.more[open] dd.c').first().isVisible(), 'its launch is open');
    const others = await view.page.locator('main td[data-s]:visible').evaluateAll((cells, own) => cells.filter((cell) => cell.dataset.s !== own).length, id);
    assert.equal(others, 0, 'rows of other shapes');
    await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.checkVisibility()));
    assert.equal(await view.page.evaluate(() => { const { shared, state } = window.report.views[0]; return String(shared.subjects[state.subject].place); }), id);
    assert.equal(await view.page.locator('figure[data-chart=summary]').isVisible(), false);
    assert.ok(await view.page.locator('figure[data-chart=convergence]').isVisible());
    assert.deepEqual(await view.page.evaluate(layout), []);
    await view.page.screenshot({ path: path.join(folder, `shape-${width}.png`), fullPage: true });
    await toAllShapes(view.page);
    assert.ok(await view.page.locator('#best td[data-s]:visible').count() > 5);
    quiet(view);
    await view.close();
  });
}

test('every link to a section fits its highlight', async () => {
  const view = await open('msda', { width: 1280 });
  const wide = await view.page.locator('nav ol a').evaluateAll((all) => all.filter((a) => { a.setAttribute('aria-current', 'true'); return a.scrollWidth > a.clientWidth; }).map((a) => a.textContent));
  assert.deepEqual(wide, []);
  await view.close();
});

// Words of a section's notes, and how the column, the figure or the entry begins that they are about.
const EXPLAINED = {
  best: [['±', '± '], ['× as fast', '× as fast'], ['Throttled', 'throttled'], ['Tied', 'tied'], ['The error', 'Error'], ['Launches', 'Launches'], ['floor', 'Floor']],
  summary: [['× as fast', '× as fast'], ['floor', 'Floor'], ['Stopped', 'Stopped'], ['Not run', 'Not run']],
};

test('what is shown is explained, and nothing else', async () => {
  const seen = new Set();
  for (const name of Object.keys(files)) {
    const view = await look(name);
    for (const [id, list] of Object.entries(EXPLAINED)) {
      const notes = (await view.page.locator(`#${id} > p`).allTextContents()).join(' ');
      const shown = await view.page.locator(`#${id} :is(th, dt, td[data-h="Remark"])`).allTextContents();
      for (const [words, what] of list) {
        const isShown = shown.some((text) => text.startsWith(what));
        assert.equal(notes.includes(words), isShown, `${name}, ${id}: "${words}"`);
        seen.add(`${words}: ${isShown}`);
      }
    }
  }
  for (const words of ['× as fast', 'Tied', 'The error', 'Launches', 'floor', 'Stopped', 'Not run']) assert.ok(seen.has(`${words}: true`) && seen.has(`${words}: false`), `some pages need "${words}", and others do not`);
});

test('a filter finds the GPU that a heading tells', async () => {
  const view = await look('msda');
  const groups = await view.page.locator('#best .group').evaluateAll((all) => all.map((group) => ({ title: group.querySelector('h3').textContent, rows: group.querySelectorAll('tbody tr').length })));
  const gpus = [...new Set(groups.map(({ title }) => title.split(' · ')[1]))];
  assert.ok(gpus.length > 1, gpus.join());
  for (const gpu of gpus) {
    await view.page.locator('#best input[type=search]').fill(gpu);
    const left = await view.page.locator('#best tbody tr:not([hidden])').count();
    assert.equal(left, groups.filter(({ title }) => title.includes(gpu)).reduce((sum, { rows }) => sum + rows, 0), gpu);
  }
  await view.page.locator('#best input[type=search]').fill('');
});

test('in order: the GPU with most shapes first, numbers in names as numbers; heads tell which way a ratio counts', async () => {
  const view = await look('msda');
  const groups = await view.page.locator('#best .group').evaluateAll((all) => all.filter((group) => !/older|not today/.test(group.querySelector('h3').textContent))
    .map((group) => ({ gpu: group.querySelector('h3').textContent.split(' · ')[1], shapes: [...group.querySelectorAll('td[data-s]')].map((cell) => cell.textContent), heads: group.querySelector('thead').textContent })));
  const sizes = new Map();
  for (const { gpu, shapes } of groups) sizes.set(gpu, (sizes.get(gpu) ?? 0) + shapes.length);
  const counts = [...sizes.values()];
  assert.deepEqual(counts, [...counts].sort((a, b) => b - a), [...sizes].join(' '));
  const gemm = groups.find(({ shapes }) => shapes.some((shape) => /^f16_rc_\d+$/.test(shape)));
  const squares = gemm.shapes.filter((shape) => /^f16_rc_\d+$/.test(shape)).map((shape) => Number(shape.slice(7)));
  assert.ok(squares.length > 3);
  assert.deepEqual(squares, [...squares].sort((a, b) => a - b));
  assert.match(gemm.heads, /as fast as default/);
});

test('knobs that matter: sorted, of the winner\'s algorithm', async () => {
  const view = await look('one');
  await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => ['importance', 'pairs'].includes(figure.dataset.chart)));
  const { names, explained, chosen, winner } = await view.page.evaluate(() => {
    const viewOf = (name) => window.report.views.find((v) => v.figure.dataset.chart === name);
    const { yAxis, series } = viewOf('importance').plots[0].chart.getOption();
    return { names: [...yAxis[0].data].reverse(), explained: [...series.find(({ name }) => name === 'explains variance').data].reverse(), winner: viewOf('pairs').subject.winner,
      chosen: [...viewOf('pairs').figure.querySelectorAll('select')].map((select) => select.selectedOptions[0].textContent) };
  });
  const has = winner.split(';').map((part) => part.split('=')[0]);
  assert.ok(names.length > 2);
  assert.deepEqual(names.filter((name) => !has.includes(name) || name === 'ALGO'), []);
  assert.deepEqual(explained, [...explained].sort((a, b) => b - a));
  assert.deepEqual(chosen, names.slice(0, 2));
});

test('sorting, filtering, copying', async () => {
  const view = await open('msda', { width: 390 });
  const table = view.page.locator('#best table').first();
  const times = () => table.locator('td[data-h^=Time]').allTextContents().then((texts) => texts.map(Number));
  await table.locator('th button', { hasText: 'Time' }).click();
  assert.deepEqual(await times(), (await times()).sort((a, b) => a - b));
  await view.page.locator('#best input[type=search]').fill('seed48 local15');
  const left = await view.page.locator('#best tbody tr:visible').allTextContents();
  assert.ok(left.length > 0 && left.every((text) => text.includes('seed48') && text.includes('local15')), JSON.stringify(left));
  assert.match(await view.page.locator('#best output').textContent(), new RegExp(`^${left.length} of `));
  const button = view.page.locator('#best .copy:visible').first();
  await view.page.evaluate(() => { window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
  await button.click();
  await view.page.waitForFunction(() => window.copied !== null);
  assert.match(await view.page.evaluate(() => window.copied), /^ALGO=\S+.*\n\S+ {2}grid \d+/);
  await view.close();
});

test('the portfolio in one picture: the part of the tuned shapes that its best member, and the default, serve how well', async () => {
  const view = await look('msda');
  await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.dataset.chart === 'lookup'));
  const lines = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'lookup').plots[0].chart.getOption().series.map(({ name, data }) => ({ name, data })));
  assert.deepEqual(lines.map(({ name }) => name), ['best member', 'default']);
  for (const { name, data } of lines) assert.ok(data.length > 20 && data.at(-1)[0] === 100 && data.every(([, slowdown], n) => n === 0 || slowdown >= data[n - 1][1]), name);
});

test('charts tell subjects apart', async () => {
  const view = await look('msda');
  await view.page.evaluate(() => window.report.drawAll('test', ({ figure }) => figure.dataset.chart === 'summary'));
  const labels = await view.page.evaluate(() => window.report.views.find((v) => v.figure.dataset.chart === 'summary').plots[0].chart.getOption().yAxis[0].data);
  assert.ok(labels.length > 20);
  assert.deepEqual(labels.filter((label, n) => labels.indexOf(label) !== n), []);
});

// What a screen reader is told, by the browser's own account; narrow pages keep the roles of a table.
for (const [name, width] of [['one', 390], ['one', 1280], ['failing', 768]]) {
  test(`names and roles: ${name}, ${width} pixels`, async () => {
    const view = await open(name, { width });
    const { nodes } = await view.session.send('Accessibility.getFullAXTree');
    const told = nodes.filter((node) => !node.ignored).map((node) => [node.role?.value, node.name?.value ?? '']);
    const nameless = told.filter(([role, text]) => ['button', 'link', 'combobox', 'searchbox', 'region', 'table', 'image', 'columnheader', 'navigation', 'slider'].includes(role) && !text.trim());
    assert.deepEqual(nameless, []);
    const rows = await view.page.locator('#best tbody tr').count();
    const groups = await view.page.locator('#best .group table').count();
    assert.ok(told.filter(([role]) => role === 'row').length >= rows + groups, 'rows are rows');
    assert.ok(told.filter(([role]) => role === 'columnheader').length >= 5 * groups, 'heads are heads');
    await view.close();
  });
  test(`the keyboard goes through in order: ${name}, ${width} pixels`, async () => {
    const view = await open(name, { width });
    let last = -1;
    for (let step = 0; step < 40; step++) {
      await view.page.keyboard.press('Tab');
      const { at, isBody, isSeen, label } = await view.page.evaluate(focus);
      if (isBody) break;
      assert.ok(at > last, `${label} comes too late`);
      assert.ok(isSeen, `${label} has the focus and is not seen`);
      last = at;
    }
    assert.ok(last > 0);
    await view.close();
  });
}

await run();
