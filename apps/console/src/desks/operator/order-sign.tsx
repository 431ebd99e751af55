import type { OrderAuditTrail } from '@causeway/sdk';
import {
  type EscrowOwners,
  escrowAddress,
  reviewEscrowPayout,
  SigningRefusedError,
} from '@causeway/sdk/signing';
import { SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { type PreparedSignature, SignTypedData } from '../../wallet/signing.tsx';
import { loadSigningTrust, trustFor } from '../../wallet/trust.ts';
import { firstThatFits, type Payout, payoutsOf, walletsSince } from './owner-payouts.ts';

export type Purpose = 'release' | 'refund';
type Side = 'seller' | 'buyer';

/** Of the partner’s terms, since the order was opened. */
const MOST_CHANGES = 100;

/**
 * A signature of one of the escrow’s owners, given here with its wallet. What is signed is built from the order and the
 * owners, held against what the service answers, and shown in words; what does not match has no button.
 */
export function OwnerSignature({
  trail,
  purpose,
}: {
  readonly trail: OrderAuditTrail;
  readonly purpose: Purpose;
}) {
  const [side, setSide] = useState<Side>('buyer');
  const [reason, setReason] = useState('');
  const { order } = trail;
  return (
    <Stack gap="sm" data-testid={`owner-signature-${purpose}`}>
      <Text size="sm">
        The escrow pays on two signatures of three; the service adds its own. Choose whose wallet signs here.
      </Text>
      <SegmentedControl
        aria-label="Whose wallet signs"
        value={side}
        onChange={(value) => setSide(value as Side)}
        data={[
          {
            value: 'buyer',
            label: order.direction === 'onramp' ? 'Buyer (partner or customer)' : 'Buyer (vendor)',
          },
          {
            value: 'seller',
            label: order.direction === 'onramp' ? 'Seller (vendor)' : 'Seller (partner or customer)',
          },
        ]}
        data-testid="sign-side"
      />
      <SignTypedData
        queryKey={[order.order_id, purpose, side, order.status]}
        network={order.chain}
        label={purpose === 'release' ? 'Sign the payout' : 'Sign the refund'}
        done="The signature is handed in"
        disabled={reason.trim() === ''}
        testId="owner-sign"
        before={() => (
          <Textarea
            label="Reason"
            description="Kept in the audit log"
            required
            maxLength={500}
            autosize
            minRows={2}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-testid="sign-reason"
          />
        )}
        prepare={() => prepareOwnerPayout(trail, purpose, side)}
        submit={(signature) =>
          api.operator.orders.submitSignature(order.order_id, { purpose, signature, reason: reason.trim() })
        }
      />
    </Stack>
  );
}

async function prepareOwnerPayout(
  { order, funds }: OrderAuditTrail,
  purpose: Purpose,
  side: Side,
): Promise<PreparedSignature> {
  const [parameters, trusted, partner, changes] = await Promise.all([
    api.operator.orders.signingParameters(order.order_id, { purpose }),
    loadSigningTrust(order.order_id),
    api.operator.partners.get(order.partner_id),
    api.operator.audit.list({
      subject: `partners/${order.partner_id}`,
      action: 'partner.change',
      from: order.created_at,
      limit: MOST_CHANGES,
    }),
  ]);
  if (funds.escrow === null)
    throw new SigningRefusedError('EXPECTATION_MISSING', 'funds.escrow', 'an escrow', null);
  const { owners, expected_amount: deposit } = funds.escrow;
  const trust = trustFor(trusted, order.chain, owners[side]);
  if (owners.service.toLowerCase() !== trust.service.toLowerCase())
    throw new SigningRefusedError('OWNER_MISMATCH', 'owners.service', trust.service, owners.service);
  const escrow = escrowAddress(trust.contracts, order.order_id, owners as EscrowOwners);
  const token = trust.tokens[order.crypto_currency];
  const { treasury } = trust;
  if (token === undefined || treasury === undefined)
    throw new SigningRefusedError(
      'EXPECTATION_MISSING',
      'trust',
      'token and treasury',
      order.crypto_currency,
    );
  const wallets = walletsSince(partner.wallet_address, changes.entries);
  const payouts = payoutsOf({ order, deposit, owners, token, treasury, wallets }, purpose);
  const { fitting, reviewed } = firstThatFits(payouts, ({ transfers }: Payout) =>
    reviewEscrowPayout(parameters, escrow, transfers, trust),
  );
  const { feeWallet } = fitting;
  return {
    reviewed,
    trust,
    names: {
      ...(feeWallet === undefined
        ? {}
        : { [feeWallet]: feeWalletInWords(feeWallet, partner.wallet_address) }),
      [owners.seller]: order.direction === 'onramp' ? 'the vendor' : 'who paid in',
      [owners.buyer]: order.direction === 'onramp' ? 'the buyer' : 'the vendor',
      [treasury]: 'the platform, as its fee',
      [escrow]: 'the order’s escrow',
    },
  };
}

function feeWalletInWords(wallet: string, current: string): string {
  return wallet.toLowerCase() === current.toLowerCase()
    ? 'the partner, as its fee'
    : 'the partner, as its fee, at the wallet that it had when the escrow was made';
}
