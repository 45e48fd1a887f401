// What is wrong with how a page lies: runs in the page, and returns complaints in words.

// Texts that are cut, that stick out, or that lie on others; the page wider than its window.
export function layout() {
  const bad = [];
  // What is laid out when it comes near is laid out for this.
  for (const box of document.querySelectorAll('main > section, .t')) box.style.contentVisibility = 'visible';
  const wide = document.documentElement;
  if (wide.scrollWidth > innerWidth) bad.push(`the page is ${wide.scrollWidth} pixels wide in a window of ${innerWidth}`);
  const known = new Map(); // what is asked again and again of the same ancestors
  const styleOf = (element) => {
    if (!known.has(element)) {
      const { overflowX, overflowY, position } = getComputedStyle(element);
      known.set(element, { overflowX, overflowY, position, box: element.getBoundingClientRect() });
    }
    return known.get(element);
  };
  const name = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ''}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;

  // Hidden for the eye on purpose: captions that a heading repeats, the link to skip to the results.
  const isForEars = (element) => element.closest('.skip, .group caption');
  // What of a rectangle is seen: boxes that scroll by themselves may hide the rest, others may not.
  function seen(element, { left, top, right, bottom }) {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const { overflowX, overflowY, box } = styleOf(at);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      const isScroller = ['auto', 'scroll'].includes(overflowX);
      if (!isScroller && (left < box.left - 1 || right > box.right + 1)) return { cutBy: at };
      [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null;
  }
  const isInScroller = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) if (['auto', 'scroll'].includes(styleOf(at).overflowX)) return true;
    return false;
  };
  const isSticky = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) if (['sticky', 'fixed'].includes(styleOf(at).position)) return true;
    return false;
  };

  const pieces = [];
  function add(element, rects) {
    for (const rect of rects) {
      if (rect.width < 1 || rect.height < 1) continue;
      const part = seen(element, rect);
      if (part?.cutBy) bad.push(`cut: ${name(element)} by ${name(part.cutBy)}`);
      else if (part && part.right > innerWidth + 1) bad.push(`sticks out: ${name(element)}`);
      else if (part && !isSticky(element)) pieces.push({ element, ...part });
    }
  }
  // Rows that their table's box has scrolled away, and what is not shown at all, are passed over with all that is in them.
  const isAway = (element) => {
    if (['SCRIPT', 'STYLE', 'OPTION', 'NOSCRIPT'].includes(element.tagName) || isForEars(element) || !element.checkVisibility()) return true;
    return element.tagName === 'TR' && !seen(element.parentElement, element.getBoundingClientRect());
  };
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    (node) => (node.nodeType === Node.ELEMENT_NODE && isAway(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const elements = [];
  const range = document.createRange();
  while (nodes.nextNode()) {
    const node = nodes.currentNode;
    if (node.nodeType === Node.ELEMENT_NODE) elements.push(node);
    else if (node.data.trim()) {
      range.selectNodeContents(node);
      add(node.parentElement, range.getClientRects());
    }
  }
  for (const control of document.querySelectorAll('select, input')) if (control.checkVisibility()) add(control, [control.getBoundingClientRect()]);
  for (const element of elements) {
    if (!element.clientWidth || element.scrollWidth <= element.clientWidth + 1) continue;
    if (!isInScroller(element) && !element.closest('.plot') && element.tagName !== 'SELECT' && element.tagName !== 'INPUT') bad.push(`overflows: ${name(element)} ${element.scrollWidth} in ${element.clientWidth}`);
  }

  pieces.sort((a, b) => a.top - b.top);
  for (let i = 0; i < pieces.length; i++) {
    for (let k = i + 1; k < pieces.length && pieces[k].top < pieces[i].bottom - 3; k++) {
      const [a, b] = [pieces[i], pieces[k]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (a.element !== b.element && across > 2 && Math.min(a.bottom, b.bottom) - b.top > 3) bad.push(`overlap: ${name(a.element)} and ${name(b.element)}`);
    }
  }
  return [...new Set(bad)].slice(0, 12);
}

// Texts of charts that stick out of their picture, that are hard to read, or that touch another, a line or the mark of a point. In the page: there are thousands of marks, and to send them here takes longer than to look at them.
export function chartFaults() {
  // What charts draw, as corners in their pictures: texts with their contrast to what is behind them, marks of points, and lines as their pieces. What a grid draws behind all else is no line.
  function drawn() {
    const { line: grid, card } = window.report.theme();
    const { ratio } = window.contrastTools();
    const pictures = [];
    for (const { figure, plots, isLive } of window.report.views) {
      for (const { chart } of isLive ? plots : []) {
        const cells = []; // what texts may lie in
        const picture = { chart: figure.dataset.chart, width: chart.getWidth(), height: chart.getHeight(), texts: [], marks: [] };
        for (const shape of chart.getZr().storage.getDisplayList()) {
          const { text, stroke, opacity } = shape.style ?? {};
          if (shape.ignore || shape.invisible || opacity === 0) continue;
          const place = (points) => points.map(([x, y]) => shape.transformCoordToGlobal(x, y));
          const corners = ({ x, y, width, height }) => place([[x, y], [x + width, y], [x + width, y + height], [x, y + height]]);
          if (shape.type === 'rect' && /^(#|rgb\()|,1\)$/.test(shape.style.fill)) cells.push({ fill: shape.style.fill, corners: corners(shape.getBoundingRect()) });
          if (shape.type === 'tspan' && text) {
            const { x: left, y: top, width, height } = shape.getBoundingRect();
            const size = Number(shape.style.font.match(/([\d.]+)px/)[1]); // the chart's own idea of a text's height is the width of a character that the font may lack
            const own = corners({ x: left, y: top + (height - size) / 2, width, height: size });
            const [x, y] = [0, 1].map((n) => (own[0][n] + own[2][n]) / 2);
            const cell = cells.findLast(({ corners: [from, , to] }) => from[0] <= x && x <= to[0] && from[1] <= y && y <= to[1]);
            picture.texts.push({ text, corners: own, contrast: (opacity ?? 1) < 1 ? 0 : ratio(shape.style.fill, cell?.fill ?? card) });
          }
          const points = shape.type === 'ec-polyline' ? [...shape.shape.points] : ['line', 'ec-line'].includes(shape.type) ? ['x1', 'y1', 'x2', 'y2'].map((key) => shape.shape[key]) : [];
          for (let i = 0; i + 3 < points.length && stroke !== grid; i += 2) picture.marks.push({ what: 'a line', corners: place([points.slice(i, i + 2), points.slice(i + 2, i + 4)]) });
          if ((shape.shape?.symbolType || shape.type === 'circle') && shape.getBoundingRect().width * shape.getGlobalScale()[0] > 1) picture.marks.push({ what: 'a mark', corners: corners(shape.getBoundingRect()) });
        }
        pictures.push(picture);
      }
    }
    return pictures;
  }

  const boxOf = (corners) => [0, 1].flatMap((n) => { const along = corners.map((corner) => corner[n]); return [Math.min(...along), Math.max(...along)]; });
  const isNear = ([left, right, top, bottom], [otherLeft, otherRight, otherTop, otherBottom]) => left <= otherRight + 1 && otherLeft <= right + 1 && top <= otherBottom + 1 && otherTop <= bottom + 1;

  // Whether two convex shapes share more than their edges: no direction keeps them apart by so little as half a pixel's overlap.
  function meet(a, b) {
    const sides = [a, b].flatMap((corners) => corners.map(([x, y], n) => { const [nextX, nextY] = corners[(n + 1) % corners.length]; return [y - nextY, nextX - x]; }));
    return sides.every(([x, y]) => {
      const size = Math.hypot(x, y);
      if (!size) return true;
      const [[lowA, highA], [lowB, highB]] = [a, b].map((corners) => { const along = corners.map(([u, v]) => (u * x + v * y) / size); return [Math.min(...along), Math.max(...along)]; });
      return Math.min(highA, highB) - Math.max(lowA, lowB) > (Math.min(highA - lowA, highB - lowB) > 1 ? 1 : -0.5);
    });
  }

  function faultsOf({ chart, width, height, texts, marks }) {
    const bad = [];
    const boxes = [...texts, ...marks].map(({ corners }) => boxOf(corners)); // most are far from each other, which is soon told
    texts.forEach(({ text, corners, contrast: found }, n) => {
      const meets = (other, k) => isNear(boxes[n], boxes[k]) && meet(corners, other.corners);
      const name = `${chart}: "${text}" at ${corners[0].map(Math.round)}`;
      if (corners.some(([x, y]) => x < -1 || y < -1 || x > width + 1 || y > height + 1)) bad.push(`${name} sticks out of ${width} × ${height}`);
      if (text.endsWith('...')) bad.push(`${name} is cut at its end`); // a chart's own way; what we cut loses its middle
      if (found < 4.5) bad.push(`${name} has a contrast of ${found.toFixed(2)}`);
      texts.forEach((other, k) => { if (k > n && meets(other, k)) bad.push(`${name} and "${other.text}" overlap`); });
      const mark = marks.find((m, k) => meets(m, texts.length + k));
      if (mark) bad.push(`${name} lies on ${mark.what} at ${mark.corners[0].map(Math.round)}`);
    });
    return bad;
  }

  return drawn().flatMap(faultsOf).slice(0, 12);
}

// Texts of which the contrast to what is behind them is below 4.5.
export function contrast() {
  const { ratio, behind } = window.contrastTools();
  const bad = new Map();
  const times = new Map(); // each kind of place a few times: rows of a table are alike
  const kindOf = (element) => {
    const path = [];
    for (let at = element; at && path.length < 5; at = at.parentElement) path.push(`${at.tagName}.${at.className}`);
    return path.join(' ');
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const backgrounds = new Map();
  const back = (element) => backgrounds.get(element) ?? backgrounds.set(element, behind(element)).get(element);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
    const kind = kindOf(element);
    times.set(kind, (times.get(kind) ?? 0) + 1);
    if (times.get(kind) > 5 || !element.checkVisibility()) continue;
    const { color, opacity } = getComputedStyle(element);
    const found = ratio(color, back(element));
    if (found < 4.5 || Number(opacity) < 1) bad.set(`${element.tagName.toLowerCase()}.${element.className}: ${color} on ${back(element)}, ${found.toFixed(2)}, opacity ${opacity}`, true);
  }
  return [...bad.keys()].slice(0, 12);
}

// Where Tab leads: in the order of the document, and never to what one does not see.
export function focus() {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  const all = [...document.querySelectorAll('*')];
  return { at: all.indexOf(element), isBody: element === document.body, label: `${element.tagName.toLowerCase()} ${element.textContent.slice(0, 30)}`, isSeen: box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight };
}
