/** The fenced blocks of a guide, and what may be pasted from them. */
export interface GuideBlock {
  readonly guide: string;
  /** Where its text begins. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Why it is not run; undefined where it is. */
  readonly notRun: string | undefined;
  /** Programs without which it cannot be run. */
  readonly needs: readonly string[];
  /** The file of the repository that it shows. */
  readonly shows: string | undefined;
}

const FENCE = /^( *)```(\S*) *(.*)$/;
/** The marker may also stand in a comment above the fence. */
const COMMENT = /^ *<!-- *(no-run:.*?|needs:.*?) *-->$/;
const SHELLS: readonly string[] = ['bash', 'sh', 'zsh', 'shell', 'console'];
const SCRIPTS: readonly string[] = ['js', 'mjs', 'javascript', 'ts', 'typescript'];

export const isShell = ({ language }: GuideBlock): boolean => SHELLS.includes(language);
export const isScript = ({ language }: GuideBlock): boolean => SCRIPTS.includes(language);

export function readBlocks(guide: string, markdown: string): GuideBlock[] {
  const lines = markdown.split('\n');
  const blocks: GuideBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [opened, indent = '', language = '', info = ''] = FENCE.exec(lines[at] ?? '') ?? [];
    if (opened === undefined) continue;
    const marker = COMMENT.exec(lines[at - 1] ?? '')?.[1] ?? info;
    const end = lines.findIndex((line, index) => index > at && line === `${indent}\`\`\``);
    if (end < 0) throw new Error(`${guide}:${at + 1}: a block without an end`);
    const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ guide, line: at + 2, language, text: `${text.join('\n')}\n`, ...markerOf(marker) });
    at = end;
  }
  return blocks;
}

function markerOf(marker: string): Pick<GuideBlock, 'notRun' | 'needs' | 'shows'> {
  const [, notRun] = /^no-run:? *(.*)$/.exec(marker) ?? [];
  const [, needs] = /^needs: *(.*)$/.exec(marker) ?? [];
  const shows = notRun === undefined && needs === undefined && marker !== '' ? marker : undefined;
  return { notRun, needs: needs?.split(/[, ]+/) ?? [], shows };
}

/** Names that bash or zsh give a meaning of their own, or that a login shell has set. */
const TAKEN = [
  ...[
    'status',
    'path',
    'options',
    'argv',
    'prompt',
    'cdpath',
    'fpath',
    'manpath',
    'signals',
    'functions',
    'history',
    'commands',
  ],
  ...[
    'UID',
    'EUID',
    'GID',
    'PPID',
    'USER',
    'USERNAME',
    'HOME',
    'PATH',
    'SHELL',
    'PWD',
    'OLDPWD',
    'HOST',
    'HOSTNAME',
    'TERM',
  ],
  ...[
    'PS1',
    'PS2',
    'IFS',
    'RANDOM',
    'SECONDS',
    'LINENO',
    'GROUPS',
    'DIRSTACK',
    'REPLY',
    'ARGC',
    'TTY',
    'MAIL',
    'LANG',
    'EDITOR',
  ],
];
const ASSIGNED = new RegExp(`(?:^|[;&|(]|\\bexport )\\s*(${TAKEN.join('|')})=`, 'm');

/** What a newcomer's terminal would do otherwise than a script: each is a fault of the block. */
export function pastingFaults({ text }: GuideBlock): string[] {
  const faults: string[] = [];
  const taken = ASSIGNED.exec(text)?.[1];
  if (taken !== undefined) faults.push(`assigns ${taken}, which the shell uses itself`);
  if (/(^|\s)#( |$)/m.test(text)) faults.push('has a comment, which an interactive zsh takes for a command');
  if (text.includes('!')) faults.push('has an exclamation mark, which means history at a prompt');
  if (/^\s*\$ /m.test(text)) faults.push('shows a prompt');
  if (/…|<[a-z][a-z _-]*>/.test(text)) faults.push('has a placeholder');
  if (/\b(email|name)="[^"$]*"/.test(text) || /\bemail=[^"]/.test(text))
    faults.push('makes what exists the second time');
  if (/(^|[\s|(])jq\b/m.test(text)) faults.push('uses jq, which a machine may lack');
  return faults;
}

/** A block without a language that is a command all the same would never be run. */
export function hidesCommand({ language, text }: GuideBlock): boolean {
  return (
    ['', 'text', 'console'].includes(language) &&
    /^(\$ )?(curl|npm|npx|node|psql|pg_dump|pg_restore|docker|openssl|export|api|grep) /m.test(text)
  );
}
