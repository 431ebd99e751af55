import { TEST_VALUE_KINDS, type TestValueKind, testValuesOf } from '../../packages/protocol/src/index.ts';

/** docs/reference/test-values.md: the table that the simulators of a sandbox read. */
export function renderTestValues(): string {
  const kinds = Object.keys(TEST_VALUE_KINDS) as TestValueKind[];
  return `# Test values

<!-- Made by npm run docs from packages/protocol/src/test-values. Do not edit. -->

In a sandbox these values bring about an outcome by themselves: nothing has to be switched. What is not listed goes well. They mean nothing in
production. Every other call of a sandbox is in [the sandbox](../guides/sandbox.md).

- An amount counts by its end: \`113.01\` and \`2013.01\` both end in \`13.01\`. It must be the amount that you ask for, in a currency with at least two decimals;
  one that is computed from a \`crypto_amount\` is never a test value.
- Where an outcome takes minutes or hours, move the clock: \`POST /sandbox/clock/advance\`.
- Simulated vendors, reviewers and the bridge act by themselves while \`auto_advance\` is on, which it is at first. An event that you ask for
  (\`POST /sandbox/orders/{order_id}/events\`) does what it says, whatever the amount. KYC, screening and the bank act always.
${kinds.map(section).join('')}`;
}

function section(kind: TestValueKind): string {
  const { title, field, otherwise } = TEST_VALUE_KINDS[kind];
  const rows = testValuesOf(kind).map(
    ({ value, outcome, next }) => `| \`${value.trim()}\` | ${outcome} | ${next} |`,
  );
  return `
## ${title}

Enter as: ${field}

| Value | Outcome | Then |
|---|---|---|
${rows.join('\n')}

${otherwise}
`;
}
