import { describe, expect, it } from 'vitest';
import { hidesCommand, pastingFaults, readBlocks } from './guide-blocks.ts';

const PAGE = `Text
\`\`\`bash
api GET /x
\`\`\`

1. A step:

   \`\`\`bash no-run: it needs a production database
   npm start
   \`\`\`

<!-- no-run: the tests run it elsewhere -->
\`\`\`sh
cat body
\`\`\`

\`\`\`bash needs: curl, openssl
curl x
\`\`\`

\`\`\`js examples/sign.mjs
sign();
\`\`\`
`;

const faultsOf = (text: string) => readBlocks('p.md', `\`\`\`bash\n${text}\n\`\`\``).flatMap(pastingFaults);

describe('blocks of a guide', () => {
  it('are found with their place, also in lists, with what their markers say', () => {
    const read = readBlocks('p.md', PAGE).map(({ line, language, text, notRun, needs, shows }) => [
      line,
      language,
      text,
      notRun ?? shows ?? needs.join(),
    ]);
    expect(read).toEqual([
      [3, 'bash', 'api GET /x\n', ''],
      [9, 'bash', 'npm start\n', 'it needs a production database'],
      [14, 'sh', 'cat body\n', 'the tests run it elsewhere'],
      [18, 'bash', 'curl x\n', 'curl,openssl'],
      [22, 'js', 'sign();\n', 'examples/sign.mjs'],
    ]);
    expect(() => readBlocks('p.md', '```bash\nnever ended')).toThrow('p.md:1');
  });

  it.each([
    ['USER=$(api POST /x .id)', 'USER'],
    ['api GET /x; status=1', 'status'],
    ['export path=/x', 'path'],
    ['api GET /x  # the order', 'comment'],
    ['echo "done!"', 'history'],
    ['$ npm start', 'prompt'],
    ['KEY=cw_test_…', 'placeholder'],
    ['npm run chain:inspect -- <order id>', 'placeholder'],
    ['api GET /x | jq .id', 'jq'],
    ['api POST /partner/users email=ada@example.com', 'second time'],
    ['api POST /operator/vendors name="Acme"', 'second time'],
  ])('%s is a fault', (text, fault) => expect(faultsOf(text).join()).toContain(fault));

  it.each([
    'CUSTOMER=$(api POST /partner/users email="ada.$(date +%s)@example.com" .id)',
    'api POST "/sandbox/users/$CUSTOMER/kyc-status" status=VERIFIED',
    `api POST /vendor/offers countries:='["DE"]' recipient_name='Lin Chen'`,
  ])('%s is none', (text) => expect(faultsOf(text)).toEqual([]));

  it('without a language may show anything but a command', () => {
    const hidden = (text: string) => readBlocks('p.md', `\`\`\`\n${text}\n\`\`\``).some(hidesCommand);
    expect([hidden('npm start'), hidden('$ curl -N x'), hidden('{ "a": 1 }')]).toEqual([true, true, false]);
  });
});
