// Bundles charts/main.js with Apache ECharts into one script and collects the notices of what went in. Usage: node bundle.js FOLDER, where npm installed and where both files go.
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const folder = path.resolve(process.argv[2] ?? '.');
const here = path.dirname(new URL(import.meta.url).pathname);
const esbuild = createRequire(path.join(folder, 'package.json'))('esbuild');

const result = await esbuild.build({
  entryPoints: [path.join(here, 'charts/main.js')],
  nodePaths: [path.join(folder, 'node_modules')],
  bundle: true, minify: true, format: 'iife', target: 'es2020', charset: 'ascii', legalComments: 'none', write: false, metafile: true,
});
const script = result.outputFiles[0].text;
// Inside <script> these would end the element or change how it is read.
if (/<\/script|<!--/i.test(script)) throw new Error('the bundle holds </script or <!--');
writeFileSync(path.join(folder, 'charts.js'), script);

const inside = 'node_modules/';
const names = new Set(Object.keys(result.metafile.inputs).filter((file) => file.includes(inside)).map((file) => file.slice(file.lastIndexOf(inside) + inside.length).split('/')[0]));
const parts = [...names].sort().map((name) => {
  const at = path.join(folder, inside, name);
  const { version, license } = JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8'));
  const texts = ['NOTICE', 'LICENSE', 'LICENSE.txt'].map((file) => path.join(at, file)).filter(existsSync).map((file) => readFileSync(file, 'utf8').trim());
  if (!texts.length) throw new Error(`${name} has no licence text`);
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
});
writeFileSync(path.join(folder, 'notices.txt'), parts.join(`\n\n${'-'.repeat(80)}\n\n`) + '\n');
