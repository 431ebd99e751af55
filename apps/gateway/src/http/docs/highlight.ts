/** Colours for code: enough to read it by, without a library of grammars. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** One expression a language; the name of the group that matched is the kind of the piece. */
const TEMPLATE = String.raw`\x60(?:\\.|\$\{(?:[^\x60}]|\x60[^\x60]*\x60)*\}|[^\x60\\])*\x60`;
const STRING = String.raw`(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|${TEMPLATE})`;
const NUMBER = String.raw`(?<number>\b\d[\d_]*(?:\.\d+)?n?\b)`;
const SCRIPT_WORDS =
  'as|async|await|break|case|catch|class|const|continue|default|def|else|export|extends|finally|for|from|function|if|import|in|interface|let|new|null|None|of|return|switch|throw|true|True|false|False|try|type|typeof|undefined|while|with';
const GRAMMARS: Readonly<Record<string, RegExp>> = {
  json: new RegExp(
    String.raw`(?<name>"(?:\\.|[^"\\\n])*"(?=\s*:))|${STRING}|${NUMBER}|(?<word>\b(?:true|false|null)\b)`,
    'g',
  ),
  shell: new RegExp(
    String.raw`(?<comment>(?<=^|\s)#.*$)|${STRING}|(?<name>\$\{?\w+\}?|^\w+(?==))|(?<word>(?<=^|[|;&]\s?|\$\()(?:npm|npx|node|curl|export|docker|psql|pg_dump|pg_restore|for|do|done|while|if|then|fi)\b)`,
    'gm',
  ),
  script: new RegExp(
    String.raw`(?<comment>\/\/.*$|(?<=^|\s)#.*$|\/\*[\s\S]*?\*\/)|${STRING}|${NUMBER}|(?<word>\b(?:${SCRIPT_WORDS})\b)`,
    'gm',
  ),
  yaml: new RegExp(
    String.raw`(?<comment>(?<=^|\s)#.*$)|${STRING}|(?<name>^[ -]*[\w.-]+(?=:))|${NUMBER}`,
    'gm',
  ),
};

const LANGUAGES: Readonly<Record<string, keyof typeof GRAMMARS>> = {
  json: 'json',
  ...{ sh: 'shell', bash: 'shell', zsh: 'shell', shell: 'shell' },
  ...{ ts: 'script', typescript: 'script', js: 'script', javascript: 'script', python: 'script' },
  ...{ yaml: 'yaml', yml: 'yaml' },
};

export function highlight(code: string, language: string): string {
  const grammar = GRAMMARS[LANGUAGES[language] ?? guess(code)];
  if (grammar === undefined) return escapeHtml(code);
  let html = '';
  let done = 0;
  for (const match of code.matchAll(grammar)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    html += escapeHtml(code.slice(done, match.index));
    html += `<span class="code-${kind}">${escapeHtml(match[0])}</span>`;
    done = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(done));
}

/** Most blocks of the guides name no language: commands and JSON are told by how they begin. */
function guess(code: string): string {
  if (/^\s*[{[]/.test(code)) return 'json';
  return /^(npm|npx|node|curl|export|[A-Z_]+=)/m.test(code) ? 'shell' : 'none';
}
