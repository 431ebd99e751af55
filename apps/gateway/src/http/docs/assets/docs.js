/** What a page does beyond being read: search, buttons that copy, and the heading one is at. */

// Until there were guides, /docs itself was the reference: old links lead on.
if (/^\/docs\/?$/.test(location.pathname) && location.hash.startsWith('#tag/')) {
  location.replace(`/docs/reference${location.hash}`);
}

/* Copying */

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  // Only pages of a secure origin, which a loopback address is, may write to the clipboard.
  if (navigator.clipboard) block.append(button);
}

/* The heading one is at */

const contents = new Map(
  [...document.querySelectorAll('.contents a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
);
if (contents.size > 0) {
  const headings = [...contents.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const mark = () => {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < 140);
    const current = (above.at(-1) ?? headings[0])?.id;
    for (const [id, link] of contents) {
      if (id === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest' });

/* Search */

const finder = document.querySelector('.finder');
const field = finder.querySelector('input');
const hint = finder.querySelector('.hint');
const list = finder.querySelector('ul');
const LIBRARY = '/docs/assets/minisearch.js';
const SHOWN = 12;
const WEIGHTS = { guide: 1.6, operation: 1.2, table: 1 };
let searching;
let selected = -1;

/** The index is made when the search is first opened. */
function index() {
  searching ??= Promise.all([import(LIBRARY), fetch('/docs/search.json')])
    .then(async ([{ default: MiniSearch }, answer]) => {
      const search = new MiniSearch({
        fields: ['title', 'within', 'text'],
        storeFields: ['kind', 'url', 'title', 'within', 'method', 'text'],
        tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
        searchOptions: {
          boost: { title: 4, within: 2 },
          prefix: true,
          fuzzy: (term) => (term.length > 4 ? 0.2 : false),
          combineWith: 'AND',
          boostDocument: (_id, _term, { kind }) => WEIGHTS[kind],
        },
      });
      search.addAll(await answer.json());
      return search;
    })
    .catch((error) => {
      searching = undefined;
      throw error;
    });
  return searching;
}

function open() {
  if (finder.open) return;
  finder.showModal();
  field.select();
  void show();
}

async function show() {
  const asked = field.value.trim();
  if (asked === '') {
    list.replaceChildren();
    hint.textContent = 'Type to search guides, tables and operations.';
    select(-1);
    // What will be asked for in a moment.
    index().catch(() => {});
    return;
  }
  let found;
  try {
    found = (await index()).search(asked).slice(0, SHOWN);
  } catch {
    hint.textContent = 'The search could not be loaded. Is the server running?';
    return;
  }
  if (field.value.trim() !== asked) return;
  hint.textContent = found.length === 0 ? `Nothing found for “${asked}”.` : '';
  list.replaceChildren(...found.map((entry, position) => resultItem(entry, position, asked)));
  list.scrollTop = 0;
  select(found.length === 0 ? -1 : 0);
}

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function resultItem({ url, title, within, method, text }, position, asked) {
  const item = document.createElement('li');
  item.id = `found-${position}`;
  item.role = 'option';
  const link = document.createElement('a');
  link.href = url;
  link.tabIndex = -1;
  const head = document.createElement('strong');
  if (method) head.append(element('span', 'method', method));
  head.append(title);
  const line = element('span', 'excerpt', '');
  if (within !== title) line.append(element('span', 'within', within), text === '' ? '' : ' · ');
  line.append(excerpt(text, asked));
  link.append(head, line);
  link.addEventListener('click', () => finder.close());
  item.append(link);
  item.addEventListener('pointermove', () => select(position));
  return item;
}

/** The text around the first word that was asked for. */
function excerpt(text, asked) {
  const [word = ''] = asked.toLowerCase().split(/\s+/);
  const at = text.toLowerCase().indexOf(word);
  const from = at < 40 ? 0 : text.indexOf(' ', at - 40) + 1;
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 160)}`;
}

function select(position) {
  selected = position;
  field.setAttribute('aria-expanded', String(list.childElementCount > 0));
  for (const [at, item] of [...list.children].entries()) {
    item.setAttribute('aria-selected', String(at === position));
    if (at === position) item.scrollIntoView({ block: 'nearest' });
  }
  if (position < 0) field.removeAttribute('aria-activedescendant');
  else field.setAttribute('aria-activedescendant', `found-${position}`);
}

field.addEventListener('input', () => void show());
field.addEventListener('keydown', (event) => {
  const count = list.childElementCount;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (count > 0) select((selected + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    list.children[selected]?.querySelector('a').click();
  }
});
finder.addEventListener('click', (event) => {
  if (event.target === finder) finder.close();
});
document.querySelector('.bar .search').addEventListener('click', open);
addEventListener('keydown', (event) => {
  const isShortcut = event.key === 'k' && (event.metaKey || event.ctrlKey);
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable]');
  if (isShortcut || (event.key === '/' && !isTyping && !event.metaKey && !event.ctrlKey)) {
    event.preventDefault();
    open();
  }
});
