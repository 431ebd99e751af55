import { ERROR_CODES, ERROR_KEY_CATALOGUE, errorEntry } from '../../packages/protocol/src/index.ts';

/** docs/reference/errors.md: the catalogue as partners read it. */
export function renderErrors(): string {
  const rows = ERROR_CODES.map((code) => ({ code, ...errorEntry(code) })).sort(
    (left, right) => left.status - right.status || left.code.localeCompare(right.code, 'en'),
  );
  const partnerRows = rows.map(({ code, status, message, details, retryable, doc, retired }) => {
    const fields =
      details === null
        ? ''
        : Object.keys(details.properties)
            .map((field) => `\`${field}\``)
            .join(', ');
    const name = retired ? `${code} (retired)` : code;
    return `| ${status} | \`${name}\` | ${message} | ${doc} | ${fields} | ${retryable ? 'yes' : 'no'} |`;
  });
  const keyRows = Object.entries(ERROR_KEY_CATALOGUE).map(
    ([key, { status, doc }]) => `| ${status} | \`${key}\` | ${doc} |`,
  );
  return `# Error catalogue

<!-- Made by npm run docs from packages/protocol/src/errors. Do not edit. -->

Partner endpoints answer \`{ "success": false, "error": { "code", "message", "details" } }\`. Decide by \`code\`; messages may
be reworded. \`details\` is always an object. "Retry" says whether the same request can succeed later with nothing changed.
Why an order was cancelled or failed is not an error but part of the order: [failures](failures.md).
Every answer carries \`X-Request-Id\`: quote it when you ask for help. Operators find it in the log, see
[metrics and logs](../guides/observability.md#finding-a-request). It is a header, not part of the body; send one of your own and it comes back.

| Status | Code | Message | When, and what to do | Details | Retry |
|---|---|---|---|---|---|
${partnerRows.join('\n')}

## Keys

A key goes into \`X-API-Key\` or into \`Authorization: Bearer\`; two that differ are 401. \`UNAUTHORIZED\` names the class of key that the
route takes: a partner's secret key (\`cw_test_…\`, \`cw_live_…\`), a widget key (\`cw_widget_…\`), a vendor's (\`cw_vendor_…\`) or an operator's (\`cw_operator_…\`).

## Supported resources

\`GET /api/v1/supported/*\` answers \`{ "success": false, "data": { "error_key" } }\`.

| Status | error_key | When, and what to do |
|---|---|---|
${keyRows.join('\n')}
`;
}
