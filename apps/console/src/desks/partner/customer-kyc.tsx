import type { KycDocumentInput, KycSubmissionInput, User } from '@causeway/sdk';
import {
  Alert,
  Badge,
  Collapse,
  FileInput,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useCan, useMay, useSession } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { base64Of } from '../../ui/files.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Status, Time } from '../../ui/values.tsx';

/** Where a customer stands, what it means, and the way on. */
const WORDS: Readonly<Record<string, readonly [what: string, next: string]>> = {
  NOT_INITIATED: [
    'Nothing was handed in yet.',
    'Submit the data you have, or send the customer a link. Until then no order can be opened.',
  ],
  PENDING_DOCUMENTS: [
    'The data is here; documents are missing.',
    'Upload what is listed below. Corrected data may be submitted again meanwhile.',
  ],
  IN_PROGRESS: [
    'The check is running.',
    'Nothing to do: the outcome comes by webhook (user.kyc.updated). With a link, the customer has to finish it there.',
  ],
  UNDER_REVIEW: ['A person at the operator looks at it.', 'Nothing to do until it is decided.'],
  VERIFIED: ['The customer is verified.', 'Orders can be opened.'],
  VERIFICATION_REJECTED: [
    'The check was refused, and a new submission may cure it.',
    'Read the reasons, correct the data or the documents, and submit again.',
  ],
  REJECTED: [
    'The customer is refused for good.',
    'No order can be opened. Ask the operator if it is a mistake.',
  ],
};
const CAN_SUBMIT = ['NOT_INITIATED', 'PENDING_DOCUMENTS', 'VERIFICATION_REJECTED'];
const CAN_UPLOAD = ['PENDING_DOCUMENTS'];
const DOCUMENTS: Readonly<Record<string, string>> = {
  ID_FRONT: 'Front of the identity document',
  ID_BACK: 'Back of the identity document',
  SELFIE: 'Photo of the person',
  PROOF_OF_ADDRESS: 'Proof of address',
};

export function CustomerKyc({ user }: { readonly user: User }) {
  const may = useMay();
  const { environment } = useSession();
  const { status, rejection_reasons: reasons = [] } = user.kyc;
  const [what, next] = WORDS[status] ?? ['', ''];
  const query = useQuery({
    queryKey: ['kyc', user.id],
    queryFn: ({ signal }) => api.kyc.submissions(user.id, { signal }),
  });
  return (
    <Panel
      title="KYC"
      testId="kyc"
      actions={
        <>
          {may('submitKyc') && CAN_SUBMIT.includes(status) ? <SubmitKyc user={user} /> : null}
          {may('uploadKycDocument') && CAN_UPLOAD.includes(status) ? (
            <UploadDocument userId={user.id} wanted={query.data?.submissions[0]?.required_documents ?? []} />
          ) : null}
          {environment === 'sandbox' && may('sandboxKycStatus') && status !== 'VERIFIED' ? (
            <Action
              variant="default"
              run={() => api.sandbox.kycStatus(user.id, { status: 'VERIFIED' })}
              done="The customer is verified."
              testId="sandbox-verify"
            >
              Verify (sandbox)
            </Action>
          ) : null}
        </>
      }
    >
      <Stack gap="sm">
        <Group>
          <Status value={status} />
          <Text size="sm">{what}</Text>
        </Group>
        <Text size="sm" c="dimmed" data-testid="kyc-next">
          {next}
        </Text>
        {reasons.length === 0 ? null : (
          <Alert color="red" title="Reasons">
            {reasons.join(', ')}
          </Alert>
        )}
        <Loaded query={query}>
          {({ missing_fields, submissions }) => (
            <>
              {missing_fields.length === 0 || status === 'VERIFIED' ? null : (
                <Text size="sm">Not known yet: {missing_fields.map(wordsOf).join(', ')}.</Text>
              )}
              {submissions.map((submission, index) => (
                <Submission key={submission.submission_id} submission={submission} isLatest={index === 0} />
              ))}
            </>
          )}
        </Loaded>
        <Identity userId={user.id} />
      </Stack>
    </Panel>
  );
}

type Submissions = Awaited<ReturnType<typeof api.kyc.submissions>>['submissions'];

function Submission({
  submission,
  isLatest,
}: {
  readonly submission: Submissions[number];
  readonly isLatest: boolean;
}) {
  const { method, documents, required_documents: missing, created_at } = submission;
  return (
    <div data-testid="submission">
      <Text size="sm" fw={600}>
        {method === 'hosted_link' ? 'By link' : 'By data'}, <Time at={created_at} />
        {isLatest ? '' : ' (earlier)'}
      </Text>
      {documents.map(({ document_id, document_type, state, size_bytes }) => (
        <Group key={document_id} gap="xs">
          <Text size="sm">{DOCUMENTS[document_type] ?? document_type}</Text>
          <Badge variant="light" tt="none" color={state === 'replaced' ? 'gray' : 'teal'}>
            {state}
          </Badge>
          <Text size="xs" c="dimmed">
            {Math.ceil(size_bytes / 1024)} kB
          </Text>
        </Group>
      ))}
      {isLatest && missing.length > 0 ? (
        <Text size="sm" data-testid="missing-documents">
          Still missing: {missing.map((type) => DOCUMENTS[type] ?? type).join(', ')}
        </Text>
      ) : null}
    </div>
  );
}

/** What is known of the person; never the values, which stay where they are. */
function Identity({ userId }: { readonly userId: string }) {
  const isAllowed = useCan('personal.reveal');
  const query = useQuery({
    queryKey: ['identity', userId],
    queryFn: ({ signal }) => api.kyc.identity(userId, { signal }),
    enabled: isAllowed,
  });
  if (!isAllowed) return null;
  return (
    <Loaded query={query}>
      {({ items }) => (
        <div data-testid="identity">
          <Text size="sm" fw={600}>
            What is known of the person
          </Text>
          <Group gap={6}>
            {items.map(({ field, status, source }) => (
              <Badge
                key={field}
                variant={status === 'present' ? 'light' : 'outline'}
                color={status === 'present' ? 'teal' : 'gray'}
                tt="none"
                title={source === null ? 'missing' : `from ${source}`}
              >
                {wordsOf(field)}
                {status === 'present' ? ' ✓' : ''}
              </Badge>
            ))}
          </Group>
        </div>
      )}
    </Loaded>
  );
}

const wordsOf = (field: string): string => field.replaceAll('_', ' ');

const TEXTS = [
  ['first_name', 'First name', ''],
  ['last_name', 'Last name', ''],
  ['date_of_birth', 'Date of birth', '1990-12-31'],
  ['nationality', 'Nationality', 'DE'],
  ['id_number', 'Number of the document', ''],
  ['id_issue_country', 'Country that issued it', 'DE'],
  ['address', 'Street and number', ''],
  ['city', 'City', ''],
  ['postal_code', 'Postal code', ''],
  ['country_code', 'Country of residence', 'DE'],
  ['phone_number', 'Phone number', '+4915112345678'],
] as const;
const CHOICES = [
  ['gender', 'Gender', ['M', 'F']],
  ['id_type', 'Kind of document', ['PASSPORT', 'NATIONAL_ID', 'DRIVERS_LICENSE', 'RESIDENCE_PERMIT']],
  [
    'source_of_funds',
    'Source of funds',
    [
      ...['SALARY', 'BUSINESS_INCOME', 'SAVINGS', 'INVESTMENTS', 'INHERITANCE', 'GIFT', 'LOAN'],
      ...['SALE_OF_ASSETS', 'PENSION', 'OTHER'],
    ],
  ],
] as const;

function SubmitKyc({ user }: { readonly user: User }) {
  const [method, setMethod] = useState<'direct_data' | 'hosted_link'>('hosted_link');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const set = (name: string, value: string | null) => setValues({ ...values, [name]: value ?? '' });
  const said = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));
  return (
    <FormDialog
      label="Submit KYC"
      testId="submit-kyc"
      done="Submitted."
      onOpen={() => setValues({})}
      run={() => api.kyc.submit(user.id, { method, ...said } as KycSubmissionInput)}
      result={({ verification_url: url, required_documents: missing }) =>
        url === undefined ? (
          <Text size="sm">
            {missing.length === 0
              ? 'Everything is here; the check is running.'
              : `Now upload: ${missing.map((type) => DOCUMENTS[type] ?? type).join(', ')}.`}
          </Text>
        ) : (
          <>
            <Text size="sm">Send this link to the customer, who goes on there. It is shown this once.</Text>
            <CodeBlock code={url} label="link" />
          </>
        )
      }
    >
      <Select
        label="How"
        data={[
          { value: 'hosted_link', label: 'The customer does it, by a link' },
          { value: 'direct_data', label: 'I have the data and the documents' },
        ]}
        value={method}
        allowDeselect={false}
        onChange={(value) => setMethod(value === 'direct_data' ? 'direct_data' : 'hosted_link')}
        data-testid="kyc-method"
      />
      <Collapse expanded={method === 'direct_data'}>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {TEXTS.map(([name, label, placeholder]) => (
            <TextInput
              key={name}
              label={label}
              placeholder={placeholder}
              value={values[name] ?? ''}
              onChange={({ currentTarget }) => set(name, currentTarget.value)}
              data-testid={`kyc-${name}`}
            />
          ))}
          {CHOICES.map(([name, label, options]) => (
            <Select
              key={name}
              label={label}
              data={[...options]}
              value={values[name] ?? null}
              onChange={(value) => set(name, value)}
              data-testid={`kyc-${name}`}
            />
          ))}
        </SimpleGrid>
      </Collapse>
    </FormDialog>
  );
}

const FILE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'application/pdf'];

function UploadDocument({ userId, wanted }: { readonly userId: string; readonly wanted: readonly string[] }) {
  const [type, setType] = useState<string | null>(null);
  const [file, setFile] = useState<File | null>(null);
  const chosen = type ?? wanted[0] ?? 'ID_FRONT';
  return (
    <FormDialog
      label="Upload a document"
      submit="Upload"
      testId="upload-document"
      done="The document is received."
      isReady={file !== null}
      onOpen={() => {
        setType(null);
        setFile(null);
      }}
      run={async () => {
        if (file === null) throw new Error('Choose a file first.');
        const content = await base64Of(file);
        return api.kyc.uploadDocument(userId, {
          document_type: chosen,
          content_type: file.type,
          content,
        } as KycDocumentInput);
      }}
    >
      <Select
        label="What it shows"
        data={Object.entries(DOCUMENTS).map(([value, label]) => ({ value, label }))}
        value={chosen}
        allowDeselect={false}
        onChange={setType}
        data-testid="document-type"
      />
      <FileInput
        label="File"
        description="JPEG, PNG, WebP or PDF, up to 7 MB. A document sent again replaces the first."
        accept={FILE_TYPES.join(',')}
        value={file}
        onChange={setFile}
        data-testid="document-file"
      />
    </FormDialog>
  );
}
