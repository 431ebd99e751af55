import {
  FAILURE_CODES,
  HOLD_REASON_CODES,
  HOLD_REASONS,
  ORDER_FAILURES,
  ORDER_MACHINES,
  type OrderDirection,
  sourcesOf,
} from '../../packages/protocol/src/index.ts';

/** docs/reference/failures.md: why orders stop and are held, as partners read it. */
export function renderFailures(): string {
  const failures = FAILURE_CODES.map((code) => {
    const { message, retryable, when } = ORDER_FAILURES[code];
    return `| \`${code}\` | ${message} | ${when} | ${stopsOf(code)} | ${retryable ? 'yes' : 'no'} |`;
  });
  const holds = HOLD_REASON_CODES.map((code) => `| \`${code}\` | ${HOLD_REASONS[code].when} |`);
  return `# Failures and holds of orders

<!-- Made by npm run docs from packages/protocol/src/failures and the order machines. Do not edit. -->

An order that is \`cancelled\` or \`failed\` says why in \`failure: { "code", "message", "retryable" }\`, and who cancelled it in
\`cancelled_by\`: \`partner\`, \`customer\` (in the widget), \`vendor\`, \`operator\`, or \`system\` where its time was up. Both are in REST and in every
order event, and null otherwise. Decide by \`code\`; messages may be reworded, and codes may be added. \`retryable\` says whether a new order with the
same request may succeed; the order itself has ended. What is left to do for it is in \`allowed_actions\`. Errors of requests are in the [error catalogue](errors.md).

| Code | Message | When, and what to do | Ends orders in | Retry |
|---|---|---|---|---|
${failures.join('\n')}

## Holds

While an order is held, \`hold: { "reason", "since" }\` says why; facts are still recorded, money stays where it is, and no time-out runs
(\`expires_at\` is null). An operator releases it; then the wait goes on with the time that was left, and one that began
during the hold begins.

| Reason | When, and what to do |
|---|---|
${holds.join('\n')}
`;
}

/** The statuses from which a row with this failure leads. */
function stopsOf(code: (typeof FAILURE_CODES)[number]): string {
  const statuses = (Object.keys(ORDER_MACHINES) as OrderDirection[]).flatMap((direction) => {
    const rows = ORDER_MACHINES[direction].transitions.filter(({ failure }) => failure === code);
    const from = [...new Set(rows.flatMap((row) => sourcesOf(row)))].map((status) => `\`${status}\``);
    return from.length === 0 ? [] : [`${direction}: ${from.join(', ')}`];
  });
  return statuses.join('; ');
}
