// What the page's block of data leaves out or writes short, written out (reports/charts.c): done at once, before anything is drawn.

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';
const placeOf = new Uint8Array(128);
for (let i = 0; i < DIGITS.length; i++) placeOf[DIGITS.charCodeAt(i)] = i;

// One character for each point: the place of its value among the knob's.
const levelsOf = (text) => Uint8Array.from({ length: text.length }, (_, i) => placeOf[text.charCodeAt(i)]);
// [best, lower quartile, median, upper quartile, worst, variants, failed]; [time, variants, failed] where the five are one.
const boxOf = (box) => (box.length === 3 ? [box[0], box[0], box[0], box[0], box[0], box[1], box[2]] : box);

// Subjects come with those first that have charts of their own in any case; people look for them in the order of the tables.
export function unpack(shared) {
  for (const subject of shared.subjects) {
    subject.points.levels = subject.points.levels.map(levelsOf);
    for (const knob of subject.knobs) knob.boxes = knob.boxes.map(boxOf);
  }
  shared.subjects.sort((a, b) => a.place - b.place);
  return shared;
}
