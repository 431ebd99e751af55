import { EFFECTS, effectOf, INTENT_KINDS } from '../../apps/gateway/src/engine/effects.ts';

/** docs/reference/effects.md: the registry of effects as operators read it. */
export function renderEffects(): string {
  return `# Effects

<!-- Made by npm run docs from apps/gateway/src/engine/effects.ts. Do not edit. -->

Every call that leaves the program is an effect of one of these kinds: an intent, written in the transaction that decided it and carried out by a
worker. What is listed as stuck, and how it is retried or given up, is in [operating](../guides/operating.md#stuck-effects).

After a crash in the middle, a repeatable effect is performed again: that is harmless, or the other side knows it by its key. Any other looks at
what happened first.

| Kind | What it does | Payload | Repeatable | Only with |
|---|---|---|---|---|
${INTENT_KINDS.map(kindRow).join('\n')}

## When one sticks

| Kind | What it means | Retry after a failure | Give up before it has happened |
|---|---|---|---|
${INTENT_KINDS.map(stuckRow).join('\n')}
`;
}

function kindRow(kind: (typeof INTENT_KINDS)[number]): string {
  const payload = Object.keys(EFFECTS[kind].payload.properties).map((name) => `\`${name}\``);
  const needs = effectOf(kind)?.needs;
  const { does, repeatable } = EFFECTS[kind];
  return `| \`${kind}\` | ${does} | ${payload.join(', ')} | ${repeatable ? 'yes' : 'looks first'} | ${needs === undefined ? '' : `a ${needs}`} |`;
}

function stuckRow(kind: (typeof INTENT_KINDS)[number]): string {
  const { stuck, retry, giveUp } = effectOf(kind) ?? EFFECTS[kind];
  return `| \`${kind}\` | ${stuck} | ${retry === true ? 'yes' : `no: ${retry}`} | ${giveUpText(giveUp)} |`;
}

function giveUpText(giveUp: string | readonly string[]): string {
  if (typeof giveUp === 'string') return `no: ${giveUp}`;
  return giveUp.length === 0
    ? 'yes'
    : `yes; its order is told ${giveUp.map((one) => `\`${one}\``).join(', ')}`;
}
