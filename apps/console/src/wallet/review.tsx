import type { Decoded, DecodedCall } from '@causeway/sdk/signing';
import { Badge, Box, Button, Code, Group, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Json } from '../ui/code.tsx';
import { Copy, Fact, formatAmount, Time } from '../ui/values.tsx';
import type { Words } from './words.ts';

/** In words: what happens, to whom, and what the wallet’s own screen must say. */
export function Review({
  words,
  decoded,
  typedData,
  call,
  from,
  network,
}: {
  readonly words: Words;
  /** Where something is signed, and not sent. */
  readonly decoded?: Decoded;
  readonly typedData?: unknown;
  readonly call?: DecodedCall;
  readonly from?: string;
  readonly network: string;
}) {
  return (
    <Box bd="1px solid var(--mantine-color-default-border)" p="sm" style={{ borderRadius: 6 }}>
      <Text fw={600} data-testid="sign-words">
        {words.sentence}
      </Text>
      <Table.ScrollContainer minWidth={520}>
        <Table verticalSpacing={4} mt="xs" fz="sm" withRowBorders={false}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Amount</Table.Th>
              <Table.Th scope="col">{call?.kind === 'approve' ? 'May be taken by' : 'To'}</Table.Th>
              <Table.Th scope="col">Address</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {words.movements.map(({ amount, to, whom }) => (
              <Table.Tr key={`${to} ${amount}`} data-testid="movement">
                <Table.Td style={{ whiteSpace: 'nowrap' }}>{amountShown(amount)}</Table.Td>
                <Table.Td>{whom}</Table.Td>
                <Table.Td>
                  <Whole value={to} name="address" />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Box component="dl" m={0}>
        <Fact label="Network">
          {network}
          {decoded === undefined ? null : ` (${decoded.chainId})`}
        </Fact>
        <Fact label={decoded === undefined ? 'Sent by' : 'Out of'}>
          <Whole value={decoded?.from ?? from ?? ''} name="address" />
        </Fact>
        {decoded?.deadline ? (
          <Fact label="Good until">
            <Time at={new Date(decoded.deadline * 1_000).toISOString()} />
          </Fact>
        ) : null}
        {decoded === undefined ? null : <Contracts decoded={decoded} />}
      </Box>
      {decoded === undefined ? null : <Hashes hashes={decoded.hashes} />}
      {typedData === undefined ? null : <AsSigned typedData={typedData} />}
    </Box>
  );
}

function Contracts({ decoded: { verifyingContract, multiSend } }: { readonly decoded: Decoded }) {
  return (
    <>
      <Fact label="Checked by the contract">
        <Whole value={verifyingContract} name="contract" />
      </Fact>
      {multiSend === null ? null : (
        <Fact label="All or nothing, through">
          <Whole value={multiSend} name="contract" />
        </Fact>
      )}
    </>
  );
}

function Hashes({ hashes }: Pick<Decoded, 'hashes'>) {
  return (
    <>
      <Badge variant="light" tt="none" mt={6}>
        Compare with your device
      </Badge>
      <Box component="dl" m={0}>
        <Fact label="Domain hash">
          <Whole value={hashes.domain} name="domain hash" testId="hash-domain" />
        </Fact>
        <Fact label="Message hash">
          <Whole value={hashes.message} name="message hash" testId="hash-message" />
        </Fact>
        <Fact label="Hash that is signed">
          <Whole value={hashes.digest} name="signed hash" testId="hash-digest" />
        </Fact>
      </Box>
    </>
  );
}

/** For those who compare field by field. */
function AsSigned({ typedData }: { readonly typedData: unknown }) {
  const [isShown, { toggle }] = useDisclosure(false);
  return (
    <>
      <Button variant="subtle" size="compact-xs" mt={6} onClick={toggle} aria-expanded={isShown}>
        {isShown ? 'Hide the data' : 'Show the data as it is signed'}
      </Button>
      {isShown ? <Json value={typedData} label="EIP-712" /> : null}
    </>
  );
}

function Whole({
  value,
  name,
  testId,
}: {
  readonly value: string;
  readonly name: string;
  readonly testId?: string;
}) {
  return (
    <Group gap={2} wrap="nowrap" component="span" display="inline-flex">
      <Code style={{ overflowWrap: 'anywhere' }} data-testid={testId}>
        {value}
      </Code>
      <Copy value={value} label={`Copy ${name}`} />
    </Group>
  );
}

function amountShown(amount: string): string {
  const [number = '', code = ''] = amount.split(' ');
  return `${formatAmount(number)} ${code}`;
}
