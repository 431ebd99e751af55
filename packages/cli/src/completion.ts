// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a template is text of a shell.
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type Run } from './command.ts';

/**
 * Completion scripts, made from the table of commands. They are plain text for each shell and start no program: pressing
 * Tab costs nothing.
 */
export function completionCommand(commands: readonly CommandSpec[]): Run {
  return async ({ args, output }) => {
    const [shell = ''] = args;
    const script = SCRIPTS[shell]?.(branches(commands), valued(commands)) ?? '';
    output.result({ shell, script }, () => script.trimEnd());
  };
}

const SCRIPTS: Readonly<Record<string, (branches: readonly Branch[], valued: readonly string[]) => string>> =
  {
    bash: bashScript,
    zsh: zshScript,
    fish: fishScript,
  };

interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** What may follow some words: longer names come first, so that a command is found before its group. */
interface Branch {
  readonly words: string;
  /** Words of its own may follow; after a group only its commands may. */
  readonly isCommand: boolean;
  readonly candidates: readonly Candidate[];
  readonly options: readonly Candidate[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

function branches(commands: readonly CommandSpec[]): Branch[] {
  const prefixes = new Set(
    commands.flatMap(({ name }) => {
      const words = name.split(' ');
      return words.map((_, index) => words.slice(0, index).join(' '));
    }),
  );
  const all = new Set([...prefixes, ...commands.map(({ name }) => name)]);
  return [...all]
    .map((words) => branchOf(commands, words))
    .toSorted((a, b) => b.words.length - a.words.length);
}

function branchOf(commands: readonly CommandSpec[], words: string): Branch {
  const spec = commands.find(({ name }) => name === words);
  const before = words === '' ? '' : `${words} `;
  const next = new Map<string, string>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(before) || name === words) continue;
    const [word = '', ...rest] = name.slice(before.length).split(' ');
    const isGroup = rest.length > 0;
    if (!isGroup || !next.has(word)) next.set(word, isGroup ? `Commands of ${word}` : summary);
  }
  const given = (spec?.arguments ?? []).flatMap(({ choices = [], description }) =>
    choices.map((word) => ({ word, description })),
  );
  const options = Object.entries({ ...spec?.options, ...GLOBAL_OPTIONS });
  return {
    words,
    isCommand: spec !== undefined,
    candidates: [...[...next].map(([word, description]) => ({ word, description })), ...given],
    options: options.map(([name, { description }]) => ({ word: `--${name}`, description })),
    choices: Object.fromEntries(
      options.flatMap(([name, { choices }]) => (choices === undefined ? [] : [[`--${name}`, choices]])),
    ),
  };
}

/** Options whose next word is their value, in any command. */
function valued(commands: readonly CommandSpec[]): string[] {
  const all = [GLOBAL_OPTIONS, ...commands.map(({ options }) => options ?? {})].flatMap((options) =>
    Object.entries<OptionSpec>(options),
  );
  const names = all
    .filter(([, { type }]) => type === 'string')
    .flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
  return [...new Set(names)];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const pattern = ({ words, isCommand }: Branch) =>
  isCommand ? `${quoted(words)}|${quoted(`${words} `)}*` : quoted(words);

function bashScript(all: readonly Branch[], takesValue: readonly string[]): string {
  const words = (list: readonly Candidate[]) => quoted(list.map(({ word }) => word).join(' '));
  const cases = all.flatMap((branch) => [
    `    ${pattern(branch)})`,
    ...Object.entries(branch.choices).map(
      ([option, choices]) => `      [[ $previous == ${option} ]] && values=${quoted(choices.join(' '))}`,
    ),
    `      next=${words(branch.candidates)}`,
    `      options=${words(branch.options)}`,
    '      ;;',
  ]);
  return [
    '# eval "$(causeway completion bash)"',
    '_causeway() {',
    '  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
    "  local command='' word skip='' next='' options='' values='' takes=''",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    "    if [[ -n $skip ]]; then skip=''; continue; fi",
    '    case $word in',
    `      ${takesValue.join('|')}) skip=1 ;;`,
    '      -*) ;;',
    '      *) command="${command:+$command }$word" ;;',
    '    esac',
    '  done',
    '  takes=$skip',
    '  case $command in',
    ...cases,
    '  esac',
    '  if [[ -n $takes ]]; then',
    '    COMPREPLY=($(compgen -W "$values" -- "$current"))',
    '  elif [[ $current == -* ]]; then',
    '    COMPREPLY=($(compgen -W "$options" -- "$current"))',
    '  else',
    '    COMPREPLY=($(compgen -W "$next" -- "$current"))',
    '  fi',
    '}',
    'complete -o default -F _causeway causeway',
    '',
  ].join('\n');
}

function zshScript(all: readonly Branch[], takesValue: readonly string[]): string {
  const listed = (list: readonly Candidate[]) =>
    list.map(({ word, description }) => quoted(`${word.replaceAll(':', '\\:')}:${description}`)).join(' ');
  const cases = all.flatMap((branch) => [
    `    (${pattern(branch)})`,
    ...Object.entries(branch.choices).map(
      ([option, choices]) => `      [[ $previous == ${option} ]] && given=(${choices.map(quoted).join(' ')})`,
    ),
    `      next=(${listed(branch.candidates)})`,
    `      switches=(${listed(branch.options)})`,
    '      ;;',
  ]);
  return [
    '#compdef causeway',
    '# eval "$(causeway completion zsh)", after compinit',
    '_causeway() {',
    "  local command='' word skip='' previous=${words[CURRENT-1]}",
    '  local -a next switches given',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    "    if [[ -n $skip ]]; then skip=''; continue; fi",
    '    case $word in',
    `      (${takesValue.join('|')}) skip=1 ;;`,
    '      (-*) ;;',
    '      (*) command="${command:+$command }$word" ;;',
    '    esac',
    '  done',
    '  case $command in',
    ...cases,
    '  esac',
    '  if [[ -n $skip ]]; then',
    '    if (( $#given )); then compadd -- $given; else _files; fi',
    '  elif [[ ${words[CURRENT]} == -* ]]; then',
    "    _describe -o 'option' switches",
    '  elif (( $#next )); then',
    "    _describe 'command' next",
    '  else',
    '    _files',
    '  fi',
    '}',
    '(( $+functions[compdef] )) && compdef _causeway causeway',
    '',
  ].join('\n');
}

function fishScript(all: readonly Branch[], takesValue: readonly string[]): string {
  const escaped = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = all.flatMap(({ words, candidates, options, choices }) => {
    const at = words === '' ? '__causeway_at' : `__causeway_at ${words}`;
    const named = candidates.map(
      ({ word, description }) =>
        `complete -c causeway -f -n '${at}' -a ${escaped(word)} -d ${escaped(description)}`,
    );
    if (words === '') return named;
    const switches = options.map(({ word, description }) => {
      const values = choices[word];
      const value =
        values === undefined
          ? takesValue.includes(word)
            ? ' -r'
            : ''
          : ` -x -a ${escaped(values.join(' '))}`;
      return `complete -c causeway -n '${at}' -l ${word.slice(2)}${value} -d ${escaped(description)}`;
    });
    return [...named, ...switches];
  });
  return [
    '# causeway completion fish | source',
    'function __causeway_at',
    '  set -l words',
    "  set -l skip ''",
    '  for word in (commandline -opc)[2..-1]',
    '    if test -n "$skip"',
    "      set skip ''",
    '      continue',
    '    end',
    '    switch $word',
    `      case ${takesValue.join(' ')}`,
    '        set skip 1',
    "      case '-*'",
    "      case '*'",
    '        set -a words $word',
    '    end',
    '  end',
    '  test (count $words) -ge (count $argv); or return 1',
    '  test (count $argv) -eq 0; and test (count $words) -gt 0; and return 1',
    '  test (count $argv) -eq 0; and return 0',
    '  test "$words[1..(count $argv)]" = "$argv"',
    'end',
    'complete -c causeway -f',
    ...lines,
    '',
  ].join('\n');
}
