import { expect, it } from 'vitest';
import { EMPTY_DRAFT } from '../session/steps.ts';
import { qrPath } from '../ui/qr.tsx';
import { handoffAddress } from './handoff.tsx';

it('the address for the phone carries the key and the choices, and nothing personal', () => {
  const draft = {
    ...EMPTY_DRAFT,
    side: 'offramp' as const,
    fiatCurrency: 'EUR',
    amount: '100',
    country: 'DE',
    walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    paymentDetailsId: 7,
    orderId: '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10',
  };
  expect(handoffAddress('https://ramp.example', 'cw_widget_abc', draft, 'fr')).toBe(
    'https://ramp.example/widget/checkout?key=cw_widget_abc&side=offramp&locale=fr&fiatCurrency=EUR&country=DE&amount=100',
  );
  const crypto = handoffAddress('https://ramp.example', 'k', { ...draft, anchor: 'crypto' }, 'en');
  expect(new URL(crypto).searchParams.has('amount'), 'an amount of the other currency').toBe(false);
});

it('a QR code is drawn run by run', () => {
  const rows = [
    [true, true, false],
    [false, false, true],
  ];
  expect(qrPath(rows)).toBe('M0 0h2v1H0zM2 1h1v1H2z');
});
