import { afterEach, expect, it, vi } from 'vitest';
import { createSandbox, type PartnerEvent } from './sandbox.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('events are heard whole that hold what JavaScript takes for the end of a line', async () => {
  const names = ['Ada\u2028data: {"wrong":1}\u2029', 'Grace'];
  const text = names.map(
    (name, at) => `id: ${at + 5}\nevent: test\ndata: ${JSON.stringify({ event_type: 'test', name })}\n\n`,
  );
  const body = `retry: 1000\nid: 4\n: open\n\n${text.join('')}`;
  vi.stubGlobal('fetch', async () => new Response(body));
  const heard: PartnerEvent[] = [];
  let stop = () => {};
  await new Promise<void>((resolve) => {
    stop = createSandbox('cw_test_1').follow((event) => {
      heard.push(event);
      if (heard.length === names.length) resolve();
    });
  });
  stop();
  expect(heard).toEqual(names.map((name) => ({ event_type: 'test', name })));
});
