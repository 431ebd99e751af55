import { Type } from 'typebox';
import { literals } from './common.ts';

export const LiquidityPairSchema = Type.Object({
  crypto_currency_code: Type.String({ examples: ['USDC'] }),
  fiat_currency_code: Type.String({ examples: ['EUR'] }),
  trade_type: literals(['BUY', 'SELL']),
  min_amount: Type.Number(),
  max_amount: Type.Number(),
  min_amount_usd: Type.Number(),
  max_amount_usd: Type.Number(),
  payment_methods: Type.Array(Type.String(), { description: 'Slugs, sorted' }),
});

export const LiquiditySchema = Type.Object({ pairs: Type.Array(LiquidityPairSchema) });
