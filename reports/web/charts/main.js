// Finds the figures, draws those that come into view, and draws anew when the subject, the theme or the width changes.
import { View, echarts, theme } from './base.js';
import ablation from './ablation.js';
import accuracy from './accuracy.js';
import convergence from './convergence.js';
import { cold_warm, diff, drift, ties } from './intervals.js';
import { failures, lookup, portability, summary, time } from './bars.js';
import { unpack } from './data.js';
import { importance, pairs, parallel, slices, values } from './knobs.js';
import roofline from './roofline.js';

const charts = { ablation, accuracy, cold_warm, convergence, diff, drift, failures, importance, lookup, pairs, parallel, portability, roofline, slices, summary, ties, time, values };
const WIDE = new Set(['slices', 'parallel', 'convergence', 'values']);

const data = JSON.parse(document.getElementById('data').textContent);
const shared = unpack({ kinds: [], failures: [], subjects: [], ...data.shared });
const best = shared.subjects.findIndex((s) => s.winner);
const state = { subject: Math.max(best, 0) };
const views = [];

function choose(subject) {
  state.subject = subject;
  const picker = document.getElementById('subject');
  if (picker) picker.value = String(subject);
  for (const view of views) if (view.isLive && view.render.length) view.render('subject');
}

// The shape that the page shows alone, by its place in the tables; null = all.
function follow(place) {
  const found = shared.subjects.findIndex((s) => s.place === place);
  document.body.classList.toggle('no-charts', place !== null && found < 0);
  if (shared.subjects.length) choose(found < 0 ? state.subject : found);
}

function addPicker() {
  if (shared.subjects.length < 2) return;
  const label = document.createElement('label');
  const select = document.createElement('select');
  select.id = 'subject';
  label.htmlFor = 'subject';
  shared.subjects.forEach((s, i) => {
    const option = document.createElement('option');
    option.value = i;
    option.textContent = s.label;
    select.append(option);
  });
  select.value = String(state.subject);
  label.append('Charts of', select);
  select.addEventListener('change', () => {
    if (document.body.dataset.subject) location.hash = `s=${shared.subjects[Number(select.value)].place}`;
    else choose(Number(select.value));
  });
  document.getElementById('controls').prepend(label);
}

function show(view) {
  if (view.isLive) return;
  view.isLive = true;
  view.figure.style.minHeight = '';
  view.render = view.make(view);
  view.render('first');
  view.drawnWidth = view.width;
  view.figure.dataset.drawn = 'true';
}

function drawAll(why, isWanted = () => true) {
  for (const view of views.filter(isWanted)) {
    show(view);
    view.render(why);
    view.drawnWidth = view.width;
  }
}

function start() {
  addPicker();
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const name = figure.dataset.chart;
    const make = charts[name];
    const own = data.charts[name];
    if (!make || !own || (make.needsSubject && !shared.subjects.length)) continue;
    figure.hidden = false;
    if (make.needsSubject) figure.dataset.own = 'true'; // of one subject: stays on its page
    if (WIDE.has(name)) figure.classList.add('wide');
    const view = new View(figure, own, shared, state);
    view.make = make;
    figure.style.minHeight = '20rem'; // until it is drawn: else all figures would be in view at once
    views.push(view);
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      show(views.find((view) => view.figure === target));
    }
  }, { rootMargin: '300px' });
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const view = views.find(({ figure }) => figure === target);
      if (view.isLive && Math.abs(view.width - view.drawnWidth) > 1) {
        view.drawnWidth = view.width;
        view.render('width');
      }
    }
  });
  for (const { figure } of views) {
    seen.observe(figure);
    sized.observe(figure);
  }
  const { subject } = document.body.dataset; // a page opened on a shape
  follow(subject === undefined ? null : Number(subject));
  document.addEventListener('subjectchange', ({ detail }) => follow(detail));
  document.addEventListener('themechange', () => { for (const view of views) if (view.isLive) view.render('theme'); });
  addEventListener('beforeprint', () => { drawAll('print'); for (const view of views) view.flatten(); });
  addEventListener('afterprint', () => { for (const view of views) view.unflatten(); drawAll('theme'); });
}

start();
window.report = { views, echarts, drawAll, theme }; // for tests and for the curious
