// What a verdict opens to: the requirement, why it came out so, the expression with its values, the conversation.

function verdictBody(verdict) {
  const requirement = requirementOf(verdict);
  const evidence = report.evidence[verdict.evidence];
  const body = make('div', 'body');
  if (verdict.known) body.append(make('p', 'reason', make('b', '', 'Expected by the baseline: '), make('bdi', '', verdict.known)));
  if (verdict.reason) body.append(make('p', 'reason', make('bdi', '', verdict.reason)));
  body.append(facts(verdict, requirement));
  if (evidence) {
    if (evidence.expression || evidence.parts) body.append(expression(evidence));
    if (evidence.item) body.append(item(evidence));
    const lines = report.wires[evidence.wire];
    if (lines) body.append(conversation(lines));
  }
  body.append(links(verdict, requirement));
  return body;
}

function facts(verdict, requirement) {
  const list = make('dl', 'facts');
  const fact = (name, ...value) => list.append(make('div', '', make('dt', '', name), make('dd', '', ...value)));
  fact('Requirement', make('code', '', requirement.id));
  fact('Level', requirement.level + ' at ' + verdict.revision);
  if (/^https?:\/\//.test(verdict.spec || '')) {
    const link = make('a', '', verdict.spec.replace(/^https?:\/\/[^/]*\/(specification\/)?/, ''));
    link.href = verdict.spec;
    link.rel = 'noreferrer noopener';
    fact('Specification', link);
  }
  fact('Exchange', make('bdi', '', verdict.exchange));
  fact('Where', verdict.revision + ' over ' + verdict.transport + (verdict.took > 0 ? ', took ' + span(verdict.took) : ''));
  if (requirement.note) {
    fact('Read as', requirement.note);
    list.lastChild.className = 'wide';
  }
  return list;
}

// links lead to the other verdicts on the same requirement, and to this one from elsewhere.
function links(verdict, requirement) {
  const out = make('section', 'links');
  const others = verdicts.filter((other) => other !== verdict && requirementOf(other).id === requirement.id);
  if (others.length) {
    const shown = others.slice(0, 24).map((other) => {
      const link = make('a', '', badge(other.status), ' ', make('span', 'place', other.revision + ' over ' + other.transport));
      if (other.exchange !== verdict.exchange) link.lastChild.append(', ', make('bdi', '', other.exchange));
      link.href = '#v=' + encode(other.id);
      return make('li', '', link);
    });
    if (others.length > shown.length) shown.push(make('li', 'quiet', 'and ' + (others.length - shown.length) + ' more'));
    out.append(heading('The same requirement elsewhere'), make('ul', 'places', ...shown));
  }
  const link = make('a', '', 'Link to this verdict');
  link.href = '#v=' + encode(verdict.id);
  out.append(make('p', 'share', link, ' ', copyButton('Copy link', () => location.href.replace(/#.*/, '') + link.getAttribute('href'), null)));
  return out;
}

// heading is one of the parts of a verdict.
function heading(text, ...more) {
  return make('h3', '', text, ...more);
}

function expression(evidence) {
  const out = make('section', 'expression', heading('Check'));
  if (evidence.expression) out.append(box('Expression', evidence.expression));
  const parts = (evidence.parts || []).filter((part) => part.source !== evidence.expression);
  if (parts.length) {
    const table = make('table', 'parts', make('caption', 'unseen', 'The parts of the expression with their values'));
    const head = make('tr', '', make('th', '', 'Part'), make('th', '', 'Value'));
    for (const cell of head.children) cell.scope = 'col';
    table.append(make('thead', '', head));
    const rows = make('tbody', '');
    for (const part of parts) {
      const source = make('th', '', make('code', '', part.source));
      source.scope = 'row';
      rows.append(make('tr', '', source, make('td', '', value(part))));
    }
    table.append(rows);
    out.append(table);
  }
  if (evidence.position) out.append(make('p', 'quiet', 'at ', make('code', '', evidence.position)));
  return out;
}

// value shows a value at once when it is short, else when it is opened.
function value(part) {
  if (part.error) return make('span', 'no-value', 'no value: ', make('bdi', '', part.error));
  const text = part.value || '';
  if (text.length <= 100) return make('code', text === 'false' ? 'false' : '', text);
  const details = make('details', '', make('summary', '', make('code', '', text.slice(0, 80) + '…')));
  fillOnce(details, () => box('Value of ' + part.source, indented(text)));
  return details;
}

function item(evidence) {
  const which = evidence.failedItems > 1 ? 'the first of ' + evidence.failedItems + ' that failed' : 'what failed';
  const details = make('details', '', make('summary', '', heading('Item ', make('span', 'quiet', which))));
  fillOnce(details, () => box('Item', indented(evidence.item)));
  details.open = evidence.item.length < 400;
  return make('section', 'item', details);
}

function conversation(lines) {
  const figure = sequence(lines);
  const button = make('button', '', 'Open all messages');
  button.type = 'button';
  const all = () => [...figure.querySelectorAll('details')];
  const label = () => { button.textContent = all().every((details) => details.open) ? 'Close all messages' : 'Open all messages'; };
  button.addEventListener('click', () => {
    const open = !all().every((details) => details.open);
    for (const details of all()) details.open = open;
    label();
  });
  label();
  return make('section', 'talk', make('div', 'talk-head', heading('Conversation'), all().length ? button : ''), figure);
}
