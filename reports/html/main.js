// Setting up: filters, colours, links, keys, printing.

const form = document.querySelector('.filters');
const jumps = new Set(['overview', 'verdicts']);

function setUpFilters() {
  const n = new Map();
  for (const verdict of verdicts) n.set(verdict.status, (n.get(verdict.status) || 0) + 1);
  const statuses = form.querySelector('.statuses');
  for (const status of report.statuses) {
    if (!n.has(status.Name)) continue;
    const input = make('input', '');
    input.type = 'checkbox';
    input.name = 'status';
    input.value = status.Name;
    const label = make('label', '', input, badge(status.Name), ' ', make('span', 'n', number(n.get(status.Name))));
    label.title = status.Words;
    statuses.append(label);
  }
  const options = {
    level: ['MUST', 'SHOULD', 'advice'].filter((level) => verdicts.some((v) => levelGroup(requirementOf(v).level) === level)),
    area: distinct((verdict) => requirementOf(verdict).area),
    revision: distinct((verdict) => verdict.revision),
    transport: distinct((verdict) => verdict.transport),
  };
  for (const [name, values] of Object.entries(options)) {
    for (const text of values) {
      const option = make('option', '', text + ({ MUST: ' and MUST NOT', SHOULD: ' and SHOULD NOT' }[text] || ''));
      option.value = text;
      form.elements[name].append(option);
    }
  }
  form.addEventListener('input', () => {
    for (const name of ['q', 'level', 'area', 'revision', 'transport']) filters[name] = form.elements[name].value;
    filters.status = [...statuses.querySelectorAll(':checked')].map((input) => input.value).join(',');
    current = '';
    writeFragment();
    showList();
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.hidden = false;
}

function distinct(of) {
  return [...new Set(verdicts.map(of))].sort();
}

// showFilters sets the form to the filters.
function showFilters() {
  for (const name of ['q', 'level', 'area', 'revision', 'transport']) form.elements[name].value = filters[name];
  const wanted = filters.status.split(',');
  for (const input of form.querySelectorAll('[name=status]')) input.checked = wanted.includes(input.value);
}

// follow shows what the address asks for.
function follow() {
  const asked = location.hash.slice(1);
  if (jumps.has(asked)) return;
  const one = readFragment();
  showFilters();
  showList();
  writeFragment();
  if (current) openVerdict(current);
  else if (one) document.getElementById('shown').textContent += '. The verdict that was linked to is not in this report.';
  else if (asked) document.getElementById('verdicts-title').scrollIntoView();
}

function setUpThemes() {
  const themes = document.querySelector('.themes');
  const choose = (theme) => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let stored = 'system';
  try {
    stored = localStorage.getItem('mcp-litmus-theme') || 'system';
  } catch { /* pages from disk may have no storage */ }
  for (const input of themes.querySelectorAll('input')) {
    input.checked = input.value === stored;
    input.addEventListener('change', () => {
      choose(input.value);
      try {
        localStorage.setItem('mcp-litmus-theme', input.value);
      } catch { /* then it holds for this visit */ }
    });
  }
  choose(stored);
  themes.hidden = false;
}

// Printed, every finding is open with its messages, once: the same at other revisions is a row. What passed, was skipped
// or was not exercised is in the overview only, unless it was asked for.
let beforePrint = null;

function openForPrint() {
  printing = true;
  beforePrint = { shown, made, open: [...list.querySelectorAll('details[open]')].map((details) => details.dataset.id) };
  if (!filters.status) shown = shown.filter((verdict) => !['pass', 'skip', 'untested'].includes(verdict.status));
  list.replaceChildren();
  made = 0;
  makeRows(shown.length);
  const status = document.getElementById('shown');
  beforePrint.status = status.textContent;
  status.textContent = number(shown.length) + ' of ' + number(verdicts.length) + ' verdicts; the first on each requirement with its evidence';
  const told = new Set();
  for (const verdict of list.querySelectorAll('details.verdict')) {
    const { requirement, status: outcome } = verdicts[places.get(verdict.dataset.id)];
    const key = outcome + ' ' + report.requirements[requirement].id;
    if (told.has(key)) continue;
    told.add(key);
    verdict.open = true;
    fill(verdict);
    for (const details of verdict.querySelectorAll('details')) {
      details.open = true;
      fill(details);
    }
  }
}

function closeAfterPrint() {
  if (!beforePrint) return;
  ({ shown } = beforePrint);
  document.getElementById('shown').textContent = beforePrint.status;
  list.replaceChildren();
  const n = beforePrint.made;
  made = 0;
  makeRows(n);
  for (const id of beforePrint.open) {
    const details = id && rowOf(id);
    if (details) details.open = true;
  }
  beforePrint = null;
  printing = false;
}

function setUpKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input[type=search], select, textarea');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.elements.q.focus();
    }
  });
}

function start() {
  setUpThemes();
  setUpFilters();
  setUpKeys();
  for (const pre of document.querySelectorAll('.paste pre')) pre.after(copyButton('Copy', () => pre.textContent, pre));
  document.getElementById('reset').addEventListener('click', () => {
    clearFilters();
    current = '';
    writeFragment();
    showFilters();
    showList();
    form.elements.q.focus();
  });
  document.getElementById('print').addEventListener('click', () => print());
  for (const element of document.querySelectorAll('.actions')) element.hidden = false;
  // Jumps within the page leave the fragment to the filters.
  for (const link of document.querySelectorAll('[data-jump]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      document.getElementById(link.getAttribute('href').slice(1)).focus();
    });
  }
  addEventListener('hashchange', follow);
  addEventListener('beforeprint', openForPrint);
  addEventListener('afterprint', closeAfterPrint);
  // A link to what is shown already changes no address, but is followed, too.
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]:not([data-jump])');
    if (link && link.getAttribute('href') === location.hash) follow();
  });
  follow();
}

start();
