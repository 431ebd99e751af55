import {
  decodeTransaction,
  decodeTypedData,
  eip1193Signer,
  type Reviewed,
  SigningRefusedError,
  signReviewed,
  type Trust,
} from '@causeway/sdk/signing';
import { Alert, Button, Code, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading, Problem } from '../ui/states.tsx';
import { WalletFailure, WalletGate } from './gate.tsx';
import { Review } from './review.tsx';
import { askWallet, WalletProblem } from './wallet.ts';
import { type Names, wordsOf } from './words.ts';

interface Prepared {
  readonly trust: Trust;
  readonly names: Names;
}

/** What a review found to fit; it throws for anything else, and then there is no button. */
export interface PreparedSignature extends Prepared {
  readonly reviewed: Reviewed;
}

/**
 * Something to sign, all the way: read and held against the order, decoded into words with full addresses and the hashes that
 * a device shows, signed by the right wallet on the right network, handed in. A signature that could not be handed in is
 * handed in again, not asked for again.
 */
export function SignTypedData<P extends PreparedSignature>({
  queryKey,
  prepare,
  submit,
  label,
  done,
  onDone,
  network,
  disabled = false,
  before,
  testId = 'sign',
}: {
  readonly queryKey: readonly unknown[];
  readonly prepare: () => Promise<P>;
  readonly submit: (signature: string, prepared: P) => Promise<unknown>;
  readonly label: string;
  /** Told when it is handed in. */
  readonly done: string;
  readonly onDone?: () => void;
  readonly network: string;
  /** Something else is missing yet: a form above, say. */
  readonly disabled?: boolean;
  /** Said above the button. */
  readonly before?: (prepared: P) => ReactNode;
  readonly testId?: string;
}) {
  const prepared = usePrepared(['to-sign', ...queryKey], async () => {
    const toSign = await prepare();
    const { reviewed, trust, names } = toSign;
    const decoded = decodeTypedData(reviewed.typedData);
    const words = wordsOf(decoded.call, { tokens: trust.tokens, names, from: decoded.from });
    return { toSign, decoded, words };
  });
  const client = useQueryClient();
  const sign = useMutation({
    mutationFn: async (provider: Parameters<typeof eip1193Signer>[0]) => {
      const { toSign } = prepared.data ?? {};
      if (toSign === undefined) return;
      const { reviewed } = toSign;
      const key = ['signature', reviewed.digest];
      const kept = client.getQueryData<string>(key);
      const signature = kept ?? (await signReviewed(reviewed, eip1193Signer(provider, reviewed.signer)));
      client.setQueryData(key, signature);
      await submit(signature, toSign);
    },
    onSuccess: async () => {
      notifications.show({ message: done, color: 'teal' });
      onDone?.();
      await client.invalidateQueries();
    },
  });
  if (prepared.isPending) return <Loading what="Preparing what is to be signed" />;
  if (prepared.isError) return <Refusal error={prepared.error} />;
  const { toSign, decoded, words } = prepared.data;
  return (
    <Stack gap="sm" data-testid={testId}>
      <Review words={words} decoded={decoded} typedData={toSign.reviewed.typedData} network={network} />
      {before?.(toSign)}
      <WalletGate address={toSign.reviewed.signer} chainId={decoded.chainId} networkName={network}>
        {(connection) => (
          <Button
            loading={sign.isPending}
            disabled={disabled}
            onClick={() =>
              sign.mutate({
                request: ({ params }: { readonly params: readonly unknown[] }) =>
                  askWallet(connection, 'eth_signTypedData_v4', params),
              })
            }
            data-testid={`${testId}-button`}
          >
            {label}
          </Button>
        )}
      </WalletGate>
      <Failure error={sign.error} />
    </Stack>
  );
}

export interface PreparedTransaction extends Prepared {
  readonly chainId: number;
  readonly transaction: {
    readonly from: string;
    readonly to: string;
    readonly data: string;
    readonly value: '0x0';
  };
}

/** Something to send, all the way: as above, but the wallet sends a transaction and tells its hash. */
export function SendTransaction({
  queryKey,
  prepare,
  once,
  label,
  network,
  testId = 'send',
}: {
  readonly queryKey: readonly unknown[];
  readonly prepare: () => Promise<PreparedTransaction>;
  /** Has it sent, and remembers its hash, unless that has been done. */
  readonly once: (send: () => Promise<string>) => Promise<void>;
  readonly label: string;
  readonly network: string;
  readonly testId?: string;
}) {
  const prepared = usePrepared(['to-send', ...queryKey], async () => {
    const { transaction, chainId, trust, names } = await prepare();
    const call = decodeTransaction(transaction);
    const words = wordsOf(call, { tokens: trust.tokens, names, from: transaction.from });
    return { transaction, chainId, call, words };
  });
  const send = useMutation({
    mutationFn: async (connection: Parameters<typeof askWallet>[0]) => {
      const { transaction } = prepared.data ?? {};
      if (transaction === undefined) return;
      await once(async () => {
        const hash = await askWallet(connection, 'eth_sendTransaction', [transaction]);
        if (typeof hash !== 'string') throw new WalletProblem('The wallet told no transaction. Look there.');
        return hash;
      });
    },
  });
  if (prepared.isPending) return <Loading what="Preparing the transaction" />;
  if (prepared.isError) return <Refusal error={prepared.error} />;
  const { transaction, chainId, call, words } = prepared.data;
  return (
    <Stack gap="sm" data-testid={testId}>
      <Review words={words} call={call} from={transaction.from} network={network} />
      <WalletGate address={transaction.from} chainId={chainId} networkName={network}>
        {(connection) => (
          <Button
            loading={send.isPending}
            onClick={() => send.mutate(connection)}
            data-testid={`${testId}-button`}
          >
            {label}
          </Button>
        )}
      </WalletGate>
      <Failure error={send.error} />
    </Stack>
  );
}

function usePrepared<T>(queryKey: readonly unknown[], queryFn: () => Promise<T>) {
  return useQuery({ queryKey, queryFn, retry: false, staleTime: 30_000, gcTime: 0 });
}

function Failure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  if (error instanceof WalletProblem) return <WalletFailure error={error} />;
  if (error instanceof SigningRefusedError) return <Refusal error={error} />;
  return <Problem error={error} />;
}

/** Not what the order says: nothing can be signed here, and somebody has to be told. */
function Refusal({ error }: { readonly error: unknown }) {
  if (!(error instanceof SigningRefusedError)) return <Problem error={error} />;
  if (error.reason === 'SIGNATURE_MISMATCH') {
    return (
      <Alert color="red" role="alert" data-testid="signature-wrong">
        The wallet signed with another account or something else. Choose the right account and try again.
      </Alert>
    );
  }
  return (
    <Alert
      color="red"
      role="alert"
      title="This does not match the order, so it cannot be signed here"
      data-testid="sign-refused"
    >
      <Text size="sm">
        Do not sign it anywhere else. Tell the operator: <Code>{error.reason}</Code> at{' '}
        <Code>{error.field}</Code>, expected <Code>{error.expected}</Code>, found <Code>{error.actual}</Code>.
      </Text>
    </Alert>
  );
}
