import type { Order } from '@causeway/sdk';
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Loaded } from '../../ui/states.tsx';
import { SignTypedData } from '../../wallet/signing.tsx';
import { titleOfAction } from './order-calls.ts';
import { useFunds } from './order-money.tsx';
import { type Destination, prepareSignature, type SignedAction } from './order-signing.ts';

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
  const funds = useFunds(order.order_id, false);
  return (
    <Modal opened onClose={onClose} title={titleOfAction(action)} size="xl" centered>
      <div data-testid="sign-dialog">
        {action === 'authorize-bridge' && destination === undefined ? (
          <DestinationForm onChosen={setDestination} />
        ) : (
          <Loaded query={funds}>
            {({ chain }) => (
              <SignTypedData
                queryKey={[order.order_id, action, destination]}
                prepare={() => prepareSignature(order.order_id, action, destination)}
                submit={(signature, { handIn }) => handIn(signature)}
                label="Sign with your wallet"
                done="Signed and handed in"
                onDone={onClose}
                network={chain}
                before={({ meaning }) => (
                  <Text size="sm" data-testid="sign-meaning">
                    {meaning}
                  </Text>
                )}
              />
            )}
          </Loaded>
        )}
      </div>
    </Modal>
  );
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
