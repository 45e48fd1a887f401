// Contrast as WCAG counts it.

// Runs in the page, as window.contrastTools: ratio(color, color) of CSS colours, and what lies behind an element.
export function tools() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const rgb = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      known.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  };
  const light = (color) => rgb(color).slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (rgb(color)[3] === 255) return color;
    }
    return '#ffffff';
  };
  return { ratio, behind };
}

export const contrastOf = (page, a, b) => page.evaluate(([one, other]) => window.contrastTools().ratio(one, other), [a, b]);
