// Making elements and showing text. Text from the server only ever becomes text nodes.

// make is an element with a class ('' for none) and children, which are elements or text.
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

function unseen(text) {
  return make('span', 'unseen', text);
}

function badge(name) {
  const status = statusOf.get(name);
  const glyph = make('span', 'glyph', status.Glyph);
  glyph.setAttribute('aria-hidden', 'true');
  return make('span', 'badge ' + name, glyph, ' ' + name);
}

// A JSON text in pieces: strings, punctuation, numbers and words, white space.
const jsonPieces = /"(?:[^"\\]|\\[^])*"?|[{}[\],:]|\s+|[^"{}[\],:\s]+/g;

// indented is a JSON text over several lines, with its parts marked. It is not parsed and written again: large numbers,
// double names and what was cut in the middle stay as they came; only white space between the parts changes.
function indented(text) {
  const out = document.createDocumentFragment();
  if (!/^\s*[{[]/.test(text)) {
    out.append(text);
    return out;
  }
  const pieces = (text.match(jsonPieces) || []).filter((piece) => piece.trim() !== '');
  let depth = 0;
  const newLine = () => out.append('\n' + '  '.repeat(depth));
  pieces.forEach((piece, i) => {
    const next = pieces[i + 1];
    switch (piece) {
      case '{':
      case '[':
        out.append(piece);
        if (next === '}' || next === ']') break;
        depth++;
        newLine();
        break;
      case '}':
      case ']':
        if (pieces[i - 1] !== '{' && pieces[i - 1] !== '[') {
          depth = Math.max(depth - 1, 0);
          newLine();
        }
        out.append(piece);
        break;
      case ',':
        out.append(piece);
        newLine();
        break;
      case ':':
        out.append(': ');
        break;
      default:
        if (piece[0] === '"') {
          out.append(make('span', next === ':' ? 'json-name' : 'json-text', piece));
        } else if (/^(-?\d|true$|false$|null$)/.test(piece)) {
          out.append(make('span', 'json-value', piece));
        } else {
          out.append(make('span', 'json-other', (i ? ' ' : '') + piece + ' '));
        }
    }
  });
  return out;
}

// box is a block of code that can be scrolled with the keyboard.
function box(label, content) {
  const pre = make('pre', 'code', content);
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', label);
  return pre;
}

// copyButton copies text(); where the clipboard is out of reach, it selects from, so that a key can copy it.
function copyButton(label, text, from) {
  const button = make('button', 'copy', label);
  button.type = 'button';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      if (from) getSelection().selectAllChildren(from);
      button.textContent = from ? 'Selected' : 'Not copied';
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
  return button;
}

// milliseconds for people: 0.4 ms, 12 ms, 1.53 s.
function span(ms) {
  if (ms >= 1000) return (ms / 1000).toFixed(2) + ' s';
  return (ms >= 10 ? ms.toFixed(0) : ms.toFixed(1)) + ' ms';
}
