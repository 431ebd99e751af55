/** The part of autocannon 8 that benches use; the package ships no types. */
declare module 'autocannon' {
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    /** Milliseconds between samples; a run ends on a sample. */
    sampleInt?: number;
    pipelining?: number;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    /** In turn, over and over, on every connection. */
    requests?: Request[];
  }

  /** Kept between the requests of one turn. */
  type Context = Record<string, string>;

  export interface Request {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string;
    setupRequest?: (request: Request, context: Context) => Request;
    onResponse?: (status: number, body: string, context: Context) => void;
  }

  interface Result {
    /** Seconds. */
    duration: number;
    errors: number;
    timeouts: number;
    non2xx: number;
    '2xx': number;
    /** Milliseconds. */
    latency: { p50: number; p90: number; p99: number; max: number };
  }

  export default function autocannon(options: Options): Promise<Result>;
}
