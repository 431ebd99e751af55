import type { Order } from '@causeway/sdk';
import { eip1193Signer } from '@causeway/sdk/signing';
import { findWallets, type Wallets } from '@causeway/widget/wallets';
import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { Json } from '../../ui/code.tsx';
import { Loaded, Problem } from '../../ui/states.tsx';
import { Fact, Id } from '../../ui/values.tsx';
import { titleOfAction } from './order-calls.ts';
import { type Destination, prepareSignature, type SignedAction, type ToSign } from './order-signing.ts';

/** Shows what is signed in words, then asks a wallet of the browser. What cannot be decoded has no button. */
export default function SignDialog({
  order,
  action,
  onClose,
}: {
  readonly order: Order;
  readonly action: SignedAction;
  readonly onClose: () => void;
}) {
  const [destination, setDestination] = useState<Destination | undefined>(undefined);
  const isReady = action !== 'authorize-bridge' || destination !== undefined;
  const query = useQuery({
    queryKey: ['order', order.order_id, 'to-sign', action, destination],
    queryFn: () => prepareSignature(order.order_id, action, destination),
    enabled: isReady,
    retry: false,
    gcTime: 0,
  });
  return (
    <Modal opened onClose={onClose} title={titleOfAction(action)} size="lg" centered>
      <div data-testid="sign-dialog">
        {isReady ? (
          <Loaded query={query}>
            {(toSign) => <Review orderId={order.order_id} toSign={toSign} onClose={onClose} />}
          </Loaded>
        ) : (
          <DestinationForm onChosen={setDestination} />
        )}
      </div>
    </Modal>
  );
}

function Review({
  orderId,
  toSign,
  onClose,
}: {
  readonly orderId: string;
  readonly toSign: ToSign;
  readonly onClose: () => void;
}) {
  const { sentence, facts, reviewed, wallet } = toSign;
  const [showsData, setShowsData] = useState(false);
  const client = useQueryClient();
  const { wallets, names } = useWallets();
  const sign = useMutation({
    mutationFn: (chosen: string) => signWith(wallets, chosen, toSign),
    onSuccess: async () => {
      notifications.show({ message: 'Signed and handed in', color: 'teal' });
      onClose();
      await client.invalidateQueries({ queryKey: ['order', orderId] });
    },
  });
  return (
    <Stack>
      <Alert variant="light" color="blue" title="What you sign">
        <Text size="sm" data-testid="sign-sentence">
          {sentence}
        </Text>
      </Alert>
      <dl>
        {facts.map(([label, value]) => (
          <Fact key={label} label={label}>
            {value}
          </Fact>
        ))}
        <Fact label="Wallet that signs">{wallet}</Fact>
        <Fact label="Hash that your device shows">
          <Id value={reviewed.digest} whole name="hash" />
        </Fact>
      </dl>
      <Button
        variant="subtle"
        size="compact-xs"
        onClick={() => setShowsData(!showsData)}
        aria-expanded={showsData}
      >
        {showsData ? 'Hide the data' : 'Show the data as it is signed'}
      </Button>
      {showsData ? <Json value={reviewed.typedData} label="EIP-712" /> : null}
      {sign.isError ? <Problem error={sign.error} /> : null}
      {names.length === 0 ? (
        <Alert color="orange" variant="light" title="No wallet in this browser">
          Open this page in a browser with the wallet {wallet}, or sign with the SDK: the code is under “Next
          call”.
        </Alert>
      ) : (
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          {names.map(({ uuid, name }) => (
            <Button
              key={uuid}
              loading={sign.isPending}
              onClick={() => sign.mutate(uuid)}
              data-testid="sign-with"
            >
              Sign with {name}
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  );
}

function useWallets() {
  const found = useRef<Wallets | undefined>(undefined);
  const [names, setNames] = useState<readonly { readonly uuid: string; readonly name: string }[]>([]);
  useEffect(() => {
    const wallets = findWallets(window, { changed: setNames, event: () => undefined });
    found.current = wallets;
    setNames(wallets.list());
    return () => wallets.stop();
  }, []);
  return { wallets: found, names };
}

async function signWith(
  wallets: { readonly current: Wallets | undefined },
  chosen: string,
  toSign: ToSign,
): Promise<unknown> {
  const { current } = wallets;
  if (current === undefined) throw new Error('There is no wallet any more; close this and try again.');
  const accounts = (await current.request(chosen, 'eth_requestAccounts', [])) as readonly string[];
  if (!accounts.some((one) => one.toLowerCase() === toSign.wallet.toLowerCase())) {
    throw new Error(
      `The wallet has ${accounts.join(', ') || 'no account'} open; this needs ${toSign.wallet}. Switch the account and try again.`,
    );
  }
  const chainId = `0x${toSign.chainId.toString(16)}`;
  if ((await current.request(chosen, 'eth_chainId', [])) !== chainId) {
    await current.request(chosen, 'wallet_switchEthereumChain', [{ chainId }]);
  }
  const provider = {
    request: ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }) =>
      current.request(chosen, method, params),
  };
  return toSign.signAndSend(eip1193Signer(provider, toSign.wallet));
}

function DestinationForm({ onChosen }: { readonly onChosen: (destination: Destination) => void }) {
  const query = useQuery({
    queryKey: ['bridge-chains'],
    queryFn: ({ signal }) => api.reference.bridgeCryptocurrencies({ signal }),
  });
  const [chain, setChain] = useState<string | null>(null);
  const [address, setAddress] = useState('');
  return (
    <Loaded query={query}>
      {(tokens) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (chain !== null) onChosen({ destination_chain: chain, destination_address: address.trim() });
          }}
        >
          <Stack>
            <Select
              label="Network"
              data={[...new Set(tokens.map(({ blockchain }) => blockchain))]}
              value={chain}
              onChange={setChain}
              required
              data-testid="destination-chain"
            />
            <TextInput
              label="Wallet there"
              value={address}
              onChange={({ currentTarget }) => setAddress(currentTarget.value)}
              required
              pattern="0x[0-9a-fA-F]{40}"
              title="0x and 40 hexadecimal digits"
              data-testid="destination-address"
            />
            <Group justify="flex-end">
              <Button type="submit" data-testid="destination-done">
                Show what is signed
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Loaded>
  );
}
