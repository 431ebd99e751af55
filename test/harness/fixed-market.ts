import pg from 'pg';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';
import { until } from './until.ts';

/** A gateway whose market stands still: the test says what one dollar costs, and nothing else moves it. */
export interface FixedMarket {
  readonly gateway: TestGateway;
  /** Bypasses row-level security: for arranging and for looking. */
  readonly owner: pg.Client;
  /** Units of a currency for one US dollar; every stablecoin is one dollar. */
  setRates(perUsd: Readonly<Record<string, string>>): Promise<void>;
  /** A customer whose KYC is VERIFIED. */
  newCustomer(key?: string): Promise<string>;
  stop(): Promise<void>;
}

// Rates are as old as their publication, so one in the future never grows old.
const FAR_FUTURE = new Date('2100-01-01T00:00:00Z');
const STABLECOINS = ['USDC', 'USDT', 'USDT0'];

export async function startFixedMarket(options: GatewayOptions = {}): Promise<FixedMarket> {
  const gateway = await startGateway({
    ...options,
    env: {
      RATE_LIMIT_PARTNER_PER_MINUTE: '1000000',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '1000000',
      ...options.env,
    },
  });
  // The sandbox's own market would go on moving.
  await gateway.deps.currenciesParts.rateKeeper.stop();
  const owner = new pg.Client({ connectionString: gateway.databaseUrl });
  await owner.connect();
  let customers = 0;

  async function setRates(perUsd: Readonly<Record<string, string>>): Promise<void> {
    const leg = (base: string, quote: string, rate: string) => ({
      base,
      quote,
      rate,
      as_of: FAR_FUTURE.getTime() - 1,
      sources: ['test'],
      status: 'fresh',
    });
    const legs = [
      ...STABLECOINS.map((code) => leg(code, 'USD', '1')),
      ...Object.entries(perUsd).map(([code, rate]) => leg('USD', code, rate)),
    ];
    await owner.query('UPDATE rate_book SET legs = $1, published_at = $2', [
      JSON.stringify(legs),
      FAR_FUTURE,
    ]);
    await until('the rates', () => {
      const { rates } = gateway.deps.currencies.current();
      return Object.entries(perUsd).every(([code, rate]) => {
        const decision = rates.requireRate('USD', code);
        return decision.ok && decision.rate.rate === rate;
      });
    });
  }

  async function newCustomer(key = gateway.partners[0].apiKey): Promise<string> {
    customers += 1;
    const created = await gateway.call('POST', '/api/v1/partner/users', {
      key,
      body: { email: `customer-${customers}@example.com` },
    });
    const userId = created.body.data.id as string;
    await gateway.call('POST', `/api/v1/sandbox/users/${userId}/kyc-status`, {
      key,
      body: { status: 'VERIFIED' },
    });
    return userId;
  }

  return {
    gateway,
    owner,
    setRates,
    newCustomer,
    async stop() {
      await owner.end();
      await gateway.stop();
    },
  };
}
