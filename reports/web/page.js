// The page without charts: theme, sorting and filtering of tables, copying, the section in view. Texts are only ever set as textContent.
'use strict';
(() => {
  const root = document.documentElement;

  function remember(key, value) {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* no storage: the choice holds for this view */ }
    return null;
  }

  // ---- theme: as the system says, or chosen ----
  const themes = ['auto', 'light', 'dark'];
  const toggle = document.createElement('button');
  function setTheme(theme) {
    if (theme === 'auto') delete root.dataset.theme;
    else root.dataset.theme = theme;
    toggle.textContent = `Theme: ${theme}`;
    toggle.dataset.theme = theme;
    document.dispatchEvent(new Event('themechange'));
  }
  toggle.type = 'button';
  toggle.id = 'theme';
  toggle.addEventListener('click', () => {
    const theme = themes[(themes.indexOf(toggle.dataset.theme) + 1) % themes.length];
    remember('msda-tune-theme', theme);
    setTheme(theme);
  });
  document.getElementById('controls').append(toggle);
  const stored = remember('msda-tune-theme');
  setTheme(themes.includes(stored) ? stored : 'auto');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => document.dispatchEvent(new Event('themechange')));

  // ---- tables ----
  function keyOf(row, column, isNumber) {
    const text = row.cells[column].textContent.trim();
    if (!isNumber) return text;
    return text === '' ? NaN : Number(text);
  }

  function sortBy(table, column) {
    const head = table.tHead.rows[0].cells[column];
    const isNumber = head.classList.contains('n');
    const descending = head.getAttribute('aria-sort') === 'ascending';
    for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    const keyed = [...table.tBodies[0].rows].map((row) => ({ row, key: keyOf(row, column, isNumber) }));
    const sign = descending ? -1 : 1;
    keyed.sort((a, b) => {
      if (!isNumber) return sign * a.key.localeCompare(b.key, undefined, { numeric: true });
      if (Number.isNaN(a.key) || Number.isNaN(b.key)) return Number.isNaN(a.key) - Number.isNaN(b.key); // empty ones stay last
      return sign * (a.key - b.key);
    });
    table.tBodies[0].append(...keyed.map(({ row }) => row));
  }

  function addFilter(table) {
    const input = document.createElement('input');
    input.type = 'search';
    input.className = 'find';
    input.placeholder = 'Filter rows';
    input.setAttribute('aria-label', `Filter rows of ${table.caption.textContent}`);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.caption.append(input);
  }

  for (const table of document.querySelectorAll('main table')) {
    [...table.tHead.rows[0].cells].forEach((th, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = th.textContent;
      button.addEventListener('click', () => sortBy(table, column));
      th.replaceChildren(button);
    });
    if (table.closest('.long')) addFilter(table);
  }

  // ---- copying ----
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      return done;
    }
  }

  function addCopy(cell) {
    const text = (cell.querySelector('pre') ?? cell).textContent;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      button.textContent = (await copy(text)) ? 'Copied' : 'Not allowed';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    cell.append(button);
  }
  for (const cell of document.querySelectorAll('#best td.v, #best td.c')) if (cell.textContent.trim()) addCopy(cell);

  // ---- the section in view ----
  const links = new Map([...document.querySelectorAll('nav a')].map((a) => [a.hash.slice(1), a]));
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? 'add' : 'delete'](target.id);
    const first = [...links.keys()].find((id) => inView.has(id));
    for (const [id, a] of links) {
      if (id === first) a.setAttribute('aria-current', 'true');
      else a.removeAttribute('aria-current');
    }
  }, { rootMargin: '-15% 0px -60% 0px' });
  for (const section of document.querySelectorAll('main section')) observer.observe(section);
})();
