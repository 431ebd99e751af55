import {
  type Attributes,
  context,
  INVALID_TRACEID,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

const TRACER_NAME = 'causeway';
/** Kept, because asking for it at every span costs more than an unrecorded span; it follows an SDK registered later. */
let tracer = trace.getTracer(TRACER_NAME);
// A collector that does not answer must not hold up a shutdown.
const EXPORT_TIMEOUT_MILLISECONDS = 3000;

/**
 * Runs `fn` inside a span that ends when `fn` returns or its promise settles; spans started within become its children.
 * Without a tracing SDK this is little more than the call itself.
 *
 * @example const quote = await withSpan('quote.create', { 'causeway.direction': 'onramp' }, () => createQuote(input));
 */
export function withSpan<T>(name: string, attributes: Attributes, fn: (span: Span) => T): T {
  const span = tracer.startSpan(name, { attributes });
  // The constant of a span that is not recorded: checking the form of its ids would cost more than the span.
  if (span.spanContext().traceId === INVALID_TRACEID) return fn(span);
  return context.with(trace.setSpan(context.active(), span), () => runInside(span, fn));
}

function runInside<T>(span: Span, fn: (span: Span) => T): T {
  let result: T;
  try {
    result = fn(span);
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then(
    (value: unknown) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      endFailed(span, error);
      throw error;
    },
  ) as T;
}

/** Only the kind of error leaves the process: messages can quote keys, SQL or personal data. */
function endFailed(span: Span, error: unknown): void {
  const type = error instanceof Error ? error.name : typeof error;
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
  span.end();
}

export interface Tracing {
  /** Sends what is left and stops; never rejects, as losing spans must not fail a shutdown. */
  shutdown(): Promise<void>;
}

export interface TracingOptions {
  /** Base address of an OTLP/HTTP collector, such as `http://localhost:4318`; without it nothing is loaded or sent. */
  readonly endpoint: string | undefined;
  readonly serviceName: string;
}

/** Sends the spans of this process to a collector. Call once, before the first span. */
export async function startTracing({ endpoint, serviceName }: TracingOptions): Promise<Tracing> {
  if (endpoint === undefined) return { shutdown: async () => {} };

  const [sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
    ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MILLISECONDS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MILLISECONDS }),
    ],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  if (!trace.setGlobalTracerProvider(provider) || !context.setGlobalContextManager(contexts)) {
    throw new Error('tracing is already started in this process');
  }
  tracer = trace.getTracer(TRACER_NAME);

  return {
    async shutdown() {
      await provider.shutdown().catch(() => undefined);
      trace.disable();
      context.disable();
      tracer = trace.getTracer(TRACER_NAME);
    },
  };
}
