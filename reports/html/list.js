// The list of verdicts. Rows are made a batch at a time, and what a row opens to when it is opened.

const batch = 100;
const list = document.getElementById('list');
const more = document.getElementById('more');
let shown = verdicts; // the verdicts that the filters want
let made = 0; // how many of them have a row
let printing = false;

function row(verdict) {
  const requirement = requirementOf(verdict);
  const what = make('span', 'what', make('bdi', 'words', requirement.text || requirement.id), ' ', make('span', 'more', make('code', 'id', requirement.id), ' ', make('bdi', '', verdict.exchange)));
  const where = make('span', 'where', make('span', '', verdict.revision), ' ', make('span', '', verdict.transport));
  const summary = make('summary', '', badge(verdict.status), ' ', make('span', 'level', requirement.level), ' ', what, ' ', where);
  const details = make('details', 'verdict', summary);
  details.dataset.id = verdict.id;
  fillOnce(details, () => verdictBody(verdict));
  return make('li', '', details);
}

// makeRows makes rows up to the n-th verdict.
function makeRows(n) {
  const rows = document.createDocumentFragment();
  for (; made < Math.min(n, shown.length); made++) rows.append(row(shown[made]));
  list.append(rows);
  more.hidden = made >= shown.length;
  more.textContent = 'Show ' + Math.min(batch, shown.length - made) + ' more of ' + number(shown.length - made);
}

function number(n) {
  return n.toLocaleString('en');
}

// showList shows what the filters want.
function showList() {
  shown = verdicts.filter(matches);
  made = 0;
  list.replaceChildren();
  makeRows(batch);
  const of = number(verdicts.length) + (verdicts.length === 1 ? ' verdict' : ' verdicts');
  document.getElementById('shown').textContent = filtered() ? number(shown.length) + ' of ' + of : of;
  document.getElementById('reset').hidden = !filtered();
}

// rowOf is the row of a verdict, which is made if need be; null when the filters hide it.
function rowOf(id) {
  const at = shown.indexOf(verdicts[places.get(id)]);
  if (at < 0) return null;
  if (at >= made) makeRows(at + batch);
  return list.children[at].firstChild;
}

// openVerdict opens the row of a verdict and goes there.
function openVerdict(id) {
  const details = rowOf(id);
  if (!details) return;
  for (const other of list.querySelectorAll('.current')) other.classList.remove('current');
  details.classList.add('current');
  details.open = true;
  fill(details);
  const summary = details.firstChild;
  summary.focus({ preventScroll: true });
  details.scrollIntoView({ block: 'start' });
}

// The toggle event does not bubble, but it can be captured.
list.addEventListener('toggle', (event) => {
  const id = event.target.dataset.id;
  if (!id || printing) return;
  if (event.target.open) current = id;
  else if (current === id) current = '';
  writeFragment();
}, true);

more.addEventListener('click', () => {
  const next = made;
  makeRows(made + batch);
  const first = list.children[next];
  if (first) first.querySelector('summary').focus();
});

if ('IntersectionObserver' in window) {
  new IntersectionObserver((entries) => {
    if (!more.hidden && entries.some((entry) => entry.isIntersecting)) makeRows(made + batch);
  }, { rootMargin: '600px' }).observe(more);
}
