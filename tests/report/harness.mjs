// What the tests of the report in a browser share: pages whose complaints and requests are kept, and a list of tests to run.
// Words: WEB_FOLDER CHROMIUM NAME=REPORT.html…
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { tools } from './contrast.mjs';

const patience = 240000; // of everything: it is for hangs

export async function harness([web, executablePath, ...words]) {
  const { chromium } = createRequire(path.resolve(web, 'package.json'))('playwright-core');
  const files = Object.fromEntries(words.map((word) => word.split('=')));
  const browser = await chromium.launch({ executablePath, timeout: patience, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

  async function open(name, { width = 1440, height = 1000, colorScheme = 'light', javaScriptEnabled = true, countsThreadTime = false, hash = '', reducedMotion = 'reduce' } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, javaScriptEnabled, reducedMotion });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    await page.addInitScript(`window.contrastTools = ${tools}`);
    const url = `file://${path.resolve(files[name])}`;
    const seen = { complaints: [], requests: [] };
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) seen.complaints.push(message.text()); });
    page.on('pageerror', (error) => seen.complaints.push(error.message));
    page.on('dialog', (dialog) => { seen.complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', (request) => { if (request.url().split('#')[0] !== url && !request.url().startsWith('data:')) seen.requests.push(request.url()); });
    const session = await context.newCDPSession(page);
    if (countsThreadTime) await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const threadTime = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name: called }) => called === 'TaskDuration').value;
    await page.goto(url + hash);
    return { page, seen, session, threadTime, close: () => context.close() };
  }

  // A page that tests look at, and leave as it is for those behind them: opened once, which costs more than most looks.
  const kept = new Map();
  const look = (name, make = open) => kept.get(name) ?? kept.set(name, make(name)).get(name);

  const tests = [];
  async function run() {
    let failed = 0;
    const wanted = tests.filter(([name]) => name.match(process.env.REPORT_TESTS ?? '')); // by hand some of them
    for (const [name, body] of wanted) {
      const began = performance.now();
      try {
        await body();
        console.log(`ok      ${name} (${((performance.now() - began) / 1e3).toFixed(1)} s)`);
      } catch (error) {
        failed++;
        console.log(`FAILED  ${name}: ${error.stack}`);
      }
    }
    await browser.close();
    console.log(`${wanted.length - failed} of ${wanted.length} passed`);
    process.exitCode = failed ? 1 : 0;
  }
  return { files, open, look, patience, run, test: (name, body) => tests.push([name, body]), quiet: ({ seen }) => assert.deepEqual(seen, { complaints: [], requests: [] }) };
}

// From a shape's page to all shapes. The page hears of its new address after the click.
export async function toAllShapes(page) {
  await page.click('#back');
  await page.waitForFunction(() => !document.body.dataset.subject);
}
