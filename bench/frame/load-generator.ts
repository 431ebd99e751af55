import autocannon from 'autocannon';
import type { LoadOptions, LoadReply } from './load.ts';

// A process of its own, started by load.ts: one message in, one message out.
process.once('message', (options: LoadOptions) => {
  void generate(options).then((reply) => process.send?.(reply, () => process.disconnect()));
});

async function generate(options: LoadOptions): Promise<LoadReply> {
  const { url, connections, durationSeconds, request = {} } = options;
  try {
    const result = await autocannon({
      url,
      connections,
      duration: durationSeconds,
      sampleInt: 200,
      ...request,
    });
    return {
      ok: true,
      result: {
        requestsPerSecond: result['2xx'] / result.duration,
        succeeded: result['2xx'],
        // autocannon counts a time-out among the errors too.
        failed: result.non2xx + result.errors,
        latencyMs: { p50: result.latency.p50, p99: result.latency.p99, max: result.latency.max },
      },
    };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
