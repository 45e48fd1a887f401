// The page without charts: theme, sorting and filtering of tables, copying, one shape alone, the section in view. Texts are only ever set as textContent.
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

  // Rows that have all words, in their group's heading or themselves, stay; groups without any are hidden. Returns how many rows stay.
  function keep(tables, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let kept = 0;
    for (const table of tables) {
      const group = table.closest('.group');
      const heading = group ? `${group.querySelector('summary').textContent} ` : '';
      let here = 0;
      for (const row of table.tBodies[0].rows) {
        const found = (heading + row.textContent).toLowerCase();
        row.hidden = !words.every((word) => found.includes(word));
        here += !row.hidden;
      }
      kept += here;
      if (group) group.hidden = !here;
    }
    return kept;
  }

  function filterOf(what, tables) {
    const input = document.createElement('input');
    input.type = 'search';
    input.className = 'find';
    input.placeholder = 'Filter rows';
    input.setAttribute('aria-label', `Filter rows of ${what}`);
    input.addEventListener('input', () => input.dispatchEvent(new CustomEvent('kept', { detail: keep(tables, input.value) })));
    return input;
  }

  const FEW = 9; // so many are seen at once
  // One for all groups of a section, with how many rows it leaves.
  function addGroupFilter(section) {
    const tables = [...section.querySelectorAll('.group table')];
    const rows = tables.reduce((sum, table) => sum + table.tBodies[0].rows.length, 0);
    if (rows < FEW) return;
    const heading = section.querySelector('h2');
    const input = filterOf(heading.textContent, tables);
    const count = document.createElement('output');
    const bar = document.createElement('div');
    const tell = (kept) => { count.textContent = `${kept} of ${rows} rows`; };
    input.addEventListener('kept', ({ detail }) => tell(detail));
    tell(rows);
    bar.className = 'bar';
    bar.append(input, count);
    section.querySelector('.group').before(bar);
  }

  for (const table of document.querySelectorAll('main table')) {
    [...table.tHead.rows[0].cells].forEach((th, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = th.textContent;
      button.addEventListener('click', () => sortBy(table, column));
      th.replaceChildren(button);
    });
    if (table.closest('.long') && !table.closest('.group')) table.caption.append(filterOf(table.caption.textContent, [table]));
  }
  for (const section of document.querySelectorAll('main section')) if (section.querySelector('.group')) addGroupFilter(section);

  // ---- the column of subjects: says nothing where all rows are of one ----
  const named = [...document.querySelectorAll('main td[data-s]')];
  for (const cell of named) {
    const th = cell.closest('table').tHead.rows[0].cells[cell.cellIndex];
    if (th.textContent !== 'Subject') continue;
    th.classList.add('own');
    cell.classList.add('own');
  }
  document.body.classList.toggle('one-subject', new Set(named.map((cell) => cell.dataset.s)).size === 1);

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

  function addCopy(cell, text, name) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', `Copy ${name}`);
    button.addEventListener('click', async () => {
      button.textContent = (await copy(text)) ? 'Copied' : 'Not allowed';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    cell.prepend(button);
  }
  // A variant with its launches, as they stand in the row's fold.
  for (const more of document.querySelectorAll('#best details.more')) {
    const variant = more.querySelector('dd.v');
    const launches = [...more.querySelectorAll('dd.c pre')].map((pre) => pre.textContent);
    addCopy(more.parentElement, [variant.textContent, ...launches].join('\n'), `variant and launch of ${more.closest('tr').cells[0].textContent}`);
  }

  // ---- one shape alone: what its rows, charts and sections are ----
  const back = document.createElement('a');
  back.href = '#best';
  back.id = 'back';
  back.textContent = '← All shapes';
  for (const cell of document.querySelectorAll('#best td[data-s]')) {
    const link = document.createElement('a');
    link.href = `#s=${cell.dataset.s}`;
    link.append(...cell.childNodes);
    cell.append(link);
  }

  // A section's address keeps what it was gone to from, so that Back and Forward show it again; null = all shapes.
  function askedFor() {
    const asked = /^#s=(\d+)$/.exec(location.hash);
    if (asked) return document.querySelector(`#best td[data-s="${asked[1]}"]`) ? asked[1] : null;
    if (['', '#', '#best'].includes(location.hash)) return null;
    if (!history.state) history.replaceState({ subject: document.body.dataset.subject ?? null }, '');
    return history.state.subject;
  }

  const { title } = document;
  function showSubject() {
    const id = askedFor();
    if ((document.body.dataset.subject ?? null) === id) return;
    if (id) document.body.dataset.subject = id;
    else delete document.body.dataset.subject;
    for (const cell of document.querySelectorAll('main td[data-s]')) cell.parentElement.classList.toggle('off', id !== null && cell.dataset.s !== id);
    for (const box of document.querySelectorAll('main .t')) box.classList.toggle('off', id !== null && !box.querySelector(`td[data-s="${id}"]`));
    for (const group of document.querySelectorAll('main .group')) group.classList.toggle('off', id !== null && !group.querySelector(`td[data-s="${id}"]`));
    for (const section of document.querySelectorAll('main section')) {
      for (const note of section.querySelectorAll(':scope > p')) { // of a table without a row of the shape it explains nothing
        const { of } = note.dataset;
        const tables = of ? [...section.querySelectorAll(`[id="table-${of}"], [id^="table-${of}-"]`)] : [];
        note.classList.toggle('off', id !== null && !tables.some((table) => table.querySelector(`td[data-s="${id}"]`)));
      }
      const isOff = id !== null && !section.querySelector(`td[data-s="${id}"], figure[data-own]`);
      section.classList.toggle('off', isOff);
      document.querySelector(`nav a[href="#${section.id}"]`)?.parentElement.classList.toggle('off', isOff);
    }
    const row = id && document.querySelector(`#best td[data-s="${id}"]`).parentElement;
    document.title = row ? `${row.cells[0].textContent} · ${title}` : title;
    if (row) {
      row.closest('.group').open = true;
      row.querySelector('.more').open = true;
    }
    document.dispatchEvent(new CustomEvent('subjectchange', { detail: id === null ? null : Number(id) }));
    if (history.state) document.querySelector(location.hash)?.scrollIntoView();
    else scrollTo(0, 0);
  }
  document.querySelector('nav ol').before(back);
  addEventListener('hashchange', showSubject);
  showSubject();

  // ---- the section in view ----
  const links = new Map([...document.querySelectorAll('nav ol a')].map((a) => [a.hash.slice(1), a]));
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
