// The conversation of a verdict, drawn as a sequence between client and server: an arrow a message, each to be opened.

// sequence draws the lines of a wire.
function sequence(lines) {
  const entries = joined(lines);
  const timed = lines.some((line) => line.at > 0);
  const streams = new Set(lines.map((line) => line.stream || 0));
  const list = make('ol', 'sequence');
  list.setAttribute('aria-label', 'Conversation');
  const asked = new Map(); // methods by id, to say what a result answers
  for (const entry of entries) {
    const time = timed ? '+' + span(entry.at - lines[0].at) : '';
    list.append(entry.direction ? arrow(entry, time, asked, streams.size > 1) : happening(entry, time));
  }
  const lanes = make('div', 'lanes', make('span', '', 'Client'), make('span', '', 'Server'));
  lanes.setAttribute('aria-hidden', 'true');
  const figure = make('div', timed ? 'conversation timed' : 'conversation', lanes, list);
  if (entries.length <= 6) {
    for (const details of list.querySelectorAll('details.short')) {
      details.open = true;
      fill(details);
    }
  }
  return figure;
}

// joined puts the beginning of an HTTP request or answer and the body that follows it into one entry.
function joined(lines) {
  const entries = [];
  for (const line of lines) {
    const last = entries[entries.length - 1];
    const follows = last && last.http && last.body === null && !line.http && last.direction === line.direction &&
      last.stream === (line.stream || 0);
    if (follows && !/^event\b/.test(line.about || '')) {
      last.body = line.text;
      last.about = line.about || '';
      continue;
    }
    entries.push({
      at: line.at, direction: line.direction || '', stream: line.stream || 0, about: line.about || '',
      http: line.http || null, body: line.http ? null : line.text, text: line.text,
    });
  }
  return entries;
}

function arrow(entry, time, asked, numbered) {
  const sent = entry.direction === 'sent';
  const message = entry.body === null ? null : describe(entry.body, asked);
  const label = make('span', 'label');
  if (entry.http) label.append(make('span', message ? 'http' : 'name', httpName(entry.http)));
  if (message) {
    if (entry.http) label.append(' ');
    label.append(make('span', message.bad ? 'name bad' : 'name', message.name));
    if (message.id) label.append(' ', make('span', 'mid', '#' + message.id));
    if (message.more) label.append(' ', make('bdi', 'excerpt', message.more));
  }
  const notes = [entry.about, numbered && entry.stream ? 'HTTP request ' + entry.stream : ''].filter(Boolean);
  if (notes.length) label.append(' ', make('span', 'about', notes.join(', ')));
  const parts = [clock(time), make('span', 'shaft', unseen(sent ? 'to the server: ' : 'to the client: '), label)];
  if (!entry.http && !entry.body) return make('li', entry.direction, make('div', 'bare', ...parts));
  const summary = make('summary', '', ...parts);
  const details = make('details', (entry.body || '').length + headerLength(entry.http) < 900 ? 'short' : '', summary);
  fillOnce(details, () => {
    const body = make('div', 'message');
    if (entry.http) body.append(headers(entry.http));
    if (entry.body) {
      body.append(box(sent ? 'Message to the server' : 'Message to the client', indented(entry.body)),
        copyButton('Copy', () => entry.body, body.lastChild));
    }
    return body;
  });
  return make('li', entry.direction, details);
}

// happening is what took place beside the messages: an exit, a wait that ran out, a line on standard error.
function happening(entry, time) {
  if (entry.about === 'stderr') {
    const pre = box('Standard error', entry.text);
    return make('li', 'stderr', clock(time), make('div', 'event', make('span', 'about', 'standard error'), pre));
  }
  return make('li', 'happened', clock(time), make('div', 'event', make('bdi', '', entry.text)));
}

function clock(time) {
  return make('span', 'time', time);
}

// fillOnce makes the content of details when they are first opened.
function fillOnce(details, content) {
  details.addEventListener('toggle', () => fill(details));
  details.fillWith = content;
}

function fill(details) {
  if (!details.fillWith) return;
  details.append(details.fillWith());
  details.fillWith = null;
}

function httpName(http) {
  if (http.status) {
    const type = (http.headers || {})['Content-Type'];
    return 'HTTP ' + http.status + (type ? ' · ' + type.split(';')[0] : '');
  }
  return http.method + ' ' + (http.url || '').replace(/^https?:\/\/[^/]*/, '');
}

function headerLength(http) {
  return http ? JSON.stringify(http).length : 0;
}

function headers(http) {
  const table = make('table', 'headers', make('caption', 'unseen', 'HTTP headers'));
  const row = (name, value) => {
    const head = make('th', '', name);
    head.scope = 'row';
    table.append(make('tr', '', head, make('td', '', make('bdi', '', value))));
  };
  if (http.url) row(http.method, http.url);
  if (http.status) row('status', String(http.status));
  for (const name of Object.keys(http.headers || {}).sort()) row(name, http.headers[name]);
  return table;
}

// describe says in a few words what a message is: what is asked, or what is answered.
function describe(text, asked) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return guess(text, asked);
  }
  if (Array.isArray(message)) return { name: 'batch of ' + message.length };
  if (message === null || typeof message !== 'object') return { name: 'text', more: shorten(text) };
  const id = message.id === undefined || message.id === null ? '' : String(message.id);
  if (typeof message.method === 'string') {
    if (id) asked.set(id, message.method);
    return { name: message.method, id: shorten(id), more: shorten(argument(message.params)) };
  }
  if (message.error && typeof message.error === 'object') {
    return { name: 'error ' + message.error.code, id: shorten(id), more: shorten(String(message.error.message || '')), bad: true };
  }
  if ('result' in message) return { name: 'result', id: shorten(id), more: asked.has(id) ? 'of ' + asked.get(id) : '' };
  return { name: 'JSON', more: shorten(text) };
}

// guess describes a message that cannot be parsed: it was cut, or is no JSON.
function guess(text, asked) {
  const id = (/^.{0,200}"id":\s*("[^"]*"|\d+)/.exec(text) || ['', ''])[1].replace(/"/g, '');
  const method = (/^.{0,200}"method":\s*"([^"]*)"/.exec(text) || ['', ''])[1];
  if (method) {
    if (id) asked.set(id, method);
    return { name: method, id: shorten(id) };
  }
  if (/^.{0,200}"result":/.test(text)) return { name: 'result', id: shorten(id), more: asked.has(id) ? 'of ' + asked.get(id) : '' };
  if (text === '') return { name: 'empty' };
  return { name: /^\s*[{[]/.test(text) ? 'message' : 'not JSON', more: shorten(text) };
}

// argument is the value that says what a request is about.
function argument(params) {
  if (!params || typeof params !== 'object') return '';
  for (const name of ['name', 'uri', 'protocolVersion', 'level', 'cursor']) {
    if (typeof params[name] === 'string') return params[name];
  }
  return '';
}

function shorten(text) {
  return text.length > 80 ? text.slice(0, 79) + '…' : text;
}
