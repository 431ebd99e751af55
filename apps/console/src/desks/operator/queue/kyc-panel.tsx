import type { RevealedUser } from '@causeway/sdk';
import { Badge, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { api } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { Empty } from '../../../ui/states.tsx';
import { Id } from '../../../ui/values.tsx';
import { Document } from './document.tsx';
import { Revealed, WHY } from './reveal.tsx';
import type { PanelProps } from './selection.ts';

/** The documents beside what was submitted, with what does not agree. */
export default function KycPanel({ detail }: PanelProps) {
  const { kyc } = detail;
  const may = useMay();
  if (kyc === null) return <Empty title="There is nothing to review any more" />;
  const canSee = may('revealDocument') && may('revealUser');
  return (
    <Stack gap="md">
      <Text size="sm" component="div">
        Customer <Id value={kyc.user_id} name="customer id" /> handed in {kyc.documents.length}{' '}
        {kyc.documents.length === 1 ? 'document' : 'documents'}
        {kyc.documents.length === 0
          ? ''
          : `: ${kyc.documents.map(({ document_type }) => inWords(document_type)).join(', ')}`}
        .
      </Text>
      <Revealed
        operation={canSee ? 'revealDocument' : 'revealUser'}
        what="documents and data"
        reveal={async () => {
          const [user, ...documents] = await Promise.all([
            api.operator.users.reveal(kyc.user_id, { reason: WHY }),
            ...kyc.documents.map(async ({ document_id, document_type }) => ({
              type: document_type,
              ...(await api.operator.users.revealDocument(kyc.user_id, document_id, { reason: WHY })),
            })),
          ]);
          return { user, documents };
        }}
      >
        {({ user, documents }) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} data-testid="revealed">
            <Stack gap="sm">
              {documents.map(({ type, content_type, content }) => (
                <Document key={type} contentType={content_type} content={content} name={inWords(type)} />
              ))}
            </Stack>
            <Submitted user={user} />
          </SimpleGrid>
        )}
      </Revealed>
    </Stack>
  );
}

const inWords = (name: string) => name.toLowerCase().replaceAll('_', ' ');

const same = (left: string, right: string) =>
  left.trim().toLocaleLowerCase() === right.trim().toLocaleLowerCase();

/** What the partner said of the customer, what the customer submitted, and where the two differ. */
function Submitted({ user }: { readonly user: RevealedUser }) {
  const { profile, kyc, payment_details: accounts } = user;
  const fields = [...new Set([...Object.keys(kyc), ...Object.keys(profile)])].filter(
    (field) => kyc[field] || profile[field],
  );
  const fullName = [kyc.first_name, kyc.last_name].filter(Boolean).join(' ');
  return (
    <div>
      <Title order={3} size="h6">
        Submitted
      </Title>
      <Table.ScrollContainer minWidth={0}>
        <Table fz="xs" verticalSpacing={4} data-testid="submitted">
          <Table.Tbody>
            {fields.map((field) => {
              const [submitted, known] = [kyc[field] ?? '', profile[field] ?? ''];
              const differs = submitted !== '' && known !== '' && !same(submitted, known);
              return (
                <Table.Tr key={field} data-mismatch={differs}>
                  <Table.Th scope="row" fw={400}>
                    {inWords(field)}
                  </Table.Th>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    {submitted || known}
                    {differs ? <Mismatch>partner says {known}</Mismatch> : null}
                  </Table.Td>
                </Table.Tr>
              );
            })}
            {accounts.map(({ id, rail, details }) => {
              const holder = details.full_name ?? details.account_holder_name ?? '';
              const differs = holder !== '' && fullName !== '' && !same(holder, fullName);
              return (
                <Table.Tr key={id} data-mismatch={differs}>
                  <Table.Th scope="row" fw={400}>
                    account ({rail})
                  </Table.Th>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    {Object.values(details).join(', ')}
                    {differs ? <Mismatch>another holder</Mismatch> : null}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
}

function Mismatch({ children }: { readonly children: React.ReactNode }) {
  return (
    <Group gap={4} mt={2}>
      <Badge size="xs" color="red" variant="light" tt="none" data-testid="mismatch">
        {children}
      </Badge>
    </Group>
  );
}
