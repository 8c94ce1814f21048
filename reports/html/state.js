// What the page knows and what of it is shown. The address's fragment holds the filters and the open verdict, so that
// any view can be linked to: #status=fail,warn&area=server/tools&v=ID.

const report = JSON.parse(document.getElementById('data').textContent);
const verdicts = report.verdicts;
const places = new Map(verdicts.map((verdict, i) => [verdict.id, i]));
const statusOf = new Map(report.statuses.map((status) => [status.Name, status]));

const filterNames = ['q', 'status', 'level', 'area', 'revision', 'transport'];

// filters are what is wanted; '' is everything. status is a list of names with commas.
const filters = Object.fromEntries(filterNames.map((name) => [name, '']));

// current is the id of the verdict that is linked to or was opened last.
let current = '';

function requirementOf(verdict) {
  return report.requirements[verdict.requirement];
}

// levelGroup is the level without its negation: a MUST NOT is a MUST, too.
function levelGroup(level) {
  return level.replace(/ NOT$/, '');
}

const haystacks = new Map();

// haystack is all text of a verdict in which the search looks, in lower case.
function haystack(verdict) {
  let text = haystacks.get(verdict);
  if (text === undefined) {
    const requirement = requirementOf(verdict);
    const texts = [requirement.id, requirement.text, requirement.note, requirement.area, requirement.level,
      verdict.exchange, verdict.reason, verdict.known, verdict.status];
    const evidence = report.evidence[verdict.evidence];
    if (evidence) {
      texts.push(evidence.expression, evidence.item, ...(evidence.parts || []).map((part) => part.value));
      texts.push(...(report.wires[evidence.wire] || []).map((line) => line.about + ' ' + line.text));
    }
    text = texts.filter(Boolean).join('\n').toLowerCase();
    haystacks.set(verdict, text);
  }
  return text;
}

// matches says whether a verdict is wanted. Every word of the search must be found.
function matches(verdict) {
  const requirement = requirementOf(verdict);
  if (filters.status && !filters.status.split(',').includes(verdict.status)) return false;
  if (filters.level && levelGroup(requirement.level) !== filters.level) return false;
  if (filters.area && requirement.area !== filters.area) return false;
  if (filters.revision && verdict.revision !== filters.revision) return false;
  if (filters.transport && verdict.transport !== filters.transport) return false;
  const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 || words.every((word) => haystack(verdict).includes(word));
}

function filtered() {
  return filterNames.some((name) => filters[name] !== '');
}

function clearFilters() {
  for (const name of filterNames) filters[name] = '';
}

// readFragment takes the filters and the verdict from the address. A link to a verdict alone leaves the filters as they
// are, unless they hide it: what was linked to is shown in any case. It says whether a verdict was asked for.
function readFragment() {
  const params = new URLSearchParams(location.hash.slice(1).replace(/\+/g, '%2B'));
  const id = params.get('v') || '';
  if (filterNames.some((name) => params.has(name)) || id === '') {
    for (const name of filterNames) filters[name] = params.get(name) || '';
  }
  current = places.has(id) ? id : '';
  if (current && !matches(verdicts[places.get(current)])) clearFilters();
  return id !== '';
}

// fragment is the address's fragment for what is shown now.
function fragment() {
  const parts = filterNames.filter((name) => filters[name]).map((name) => name + '=' + encode(filters[name]));
  if (current) parts.push('v=' + encode(current));
  return '#' + parts.join('&');
}

// encode leaves what is harmless in a fragment readable.
function encode(text) {
  return encodeURIComponent(text).replace(/%2F/g, '/').replace(/%2C/g, ',');
}

// writeFragment keeps the address in step with what is shown, without a step in the history.
function writeFragment() {
  const hash = fragment();
  history.replaceState(null, '', hash === '#' ? location.pathname + location.search : hash);
}
