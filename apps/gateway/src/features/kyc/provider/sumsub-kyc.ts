import {
  type KycDocument,
  type KycIdType,
  type KycPerson,
  type KycProvider,
  KycProviderError,
  type KycSubmission,
} from '../../../ports/kyc-provider.ts';
import { isRecord } from './callbacks.ts';
import { readSumsubCallback, readSumsubReview, readSumsubTime } from './sumsub-callback.ts';
import { documentForm, jsonBody, type SumsubClient } from './sumsub-client.ts';

export interface SumsubKycOptions {
  readonly client: SumsubClient;
  /** The verification level as it is named in Sumsub: it decides which documents are asked for. */
  readonly levelName: string;
  readonly webhookSecret: string;
  /** ISO 3166-1 alpha-3 of an alpha-2 code, which is what Sumsub speaks; undefined for an unknown one. */
  readonly alpha3Of: (alpha2: string) => string | undefined;
  readonly linkTtlSeconds?: number;
}

const DEFAULT_LINK_TTL_SECONDS = 24 * 60 * 60;
const CONFLICT = 409;

const ID_DOCUMENTS: Readonly<Record<KycIdType, string>> = {
  PASSPORT: 'PASSPORT',
  NATIONAL_ID: 'ID_CARD',
  DRIVERS_LICENSE: 'DRIVERS',
  RESIDENCE_PERMIT: 'RESIDENCE_PERMIT',
};
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['application/pdf', 'pdf'],
]);
/** Statuses that an applicant has only after a check was asked for. */
const CHECK_REQUESTED = new Set(['pending', 'prechecked', 'queued', 'onHold', 'completed']);

/**
 * Sumsub. One applicant a submission, named by the submission's id, so that a repeated start finds the applicant it
 * made before, sends only the documents that are still missing, and a late verdict cannot meet a newer submission.
 */
export function createSumsubKyc(options: SumsubKycOptions): KycProvider {
  const { client, webhookSecret } = options;
  return {
    name: 'sumsub',
    async startVerification(submission) {
      const { submissionId, person, documents } = submission;
      const { id, isNew } = await createApplicant(options, submission);
      if (submission.method === 'hosted_link') {
        return { submissionId, reference: id, verificationUrl: await hostedLink(options, submission) };
      }
      const uploaded = isNew ? new Set<string>() : await uploadedFiles(client, id);
      for (const document of documents) {
        if (!uploaded.has(fileNameOf(document))) await upload(options, id, person, document);
      }
      await requestCheck(client, id);
      return { submissionId, reference: id, verificationUrl: null };
    },
    async readResult({ submissionId, reference }) {
      const path = `/resources/applicants/${encodeURIComponent(reference)}/status`;
      const { body } = await client.call('GET', path);
      const review = readSumsubReview(body.reviewStatus, body.reviewResult);
      if (review === undefined) return null;
      const decidedAtMs = readSumsubTime(body.reviewDate) ?? readSumsubTime(body.createDate);
      if (decidedAtMs === undefined)
        throw new KycProviderError('unavailable', 'the provider answered no date');
      const eventId = `sumsub_${reference}_${review.outcome}_${decidedAtMs}`;
      return { eventId, submissionId, reference, decidedAtMs, ...review };
    },
    readCallback: (callback) => readSumsubCallback(callback, webhookSecret),
  };
}

function countryCodes({ alpha3Of }: SumsubKycOptions): (alpha2: string) => string {
  return (alpha2) => {
    const country = alpha3Of(alpha2);
    if (country === undefined) throw new KycProviderError('refused', 'a country is not known');
    return country;
  };
}

async function createApplicant(
  options: SumsubKycOptions,
  { submissionId, person }: KycSubmission,
): Promise<{ id: string; isNew: boolean }> {
  const { client, levelName } = options;
  const path = `/resources/applicants?levelName=${encodeURIComponent(levelName)}`;
  const applicant = jsonBody(applicantOf(submissionId, person, countryCodes(options)));
  const created = await client.call('POST', path, applicant, [CONFLICT]);
  if (created.status !== CONFLICT) return { id: idOf(created.body), isNew: true };
  const external = encodeURIComponent(submissionId);
  const existing = await client.call('GET', `/resources/applicants/-;externalUserId=${external}/one`);
  return { id: idOf(existing.body), isNew: false };
}

/** Names of files that arrived before; a repeated upload would add the same image once more. */
async function uploadedFiles(client: SumsubClient, applicantId: string): Promise<ReadonlySet<string>> {
  const { body } = await client.call('GET', `/resources/applicants/${applicantId}/metadata/resources`);
  const items = Array.isArray(body.items) ? body.items : [];
  const names = items.map((item) =>
    isRecord(item) && isRecord(item.fileMetadata) ? item.fileMetadata.fileName : '',
  );
  return new Set(names.filter((name) => typeof name === 'string'));
}

async function upload(
  options: SumsubKycOptions,
  applicantId: string,
  person: KycPerson,
  document: KycDocument,
): Promise<void> {
  const form = documentForm(metadataOf(document, person, countryCodes(options)), {
    fileName: fileNameOf(document),
    // It becomes a header of the form, so only types that are known may.
    contentType: EXTENSIONS.has(document.contentType) ? document.contentType : 'application/octet-stream',
    content: document.content,
  });
  await options.client.call('POST', `/resources/applicants/${applicantId}/info/idDoc`, form);
}

async function requestCheck(client: SumsubClient, applicantId: string): Promise<void> {
  const path = `/resources/applicants/${applicantId}/status/pending`;
  const answer = await client.call('POST', path, undefined, [CONFLICT]);
  if (answer.status !== CONFLICT) return;
  // A conflict is either a check that runs already or an applicant that lacks something.
  const { body } = await client.call('GET', `/resources/applicants/${applicantId}/status`);
  if (!CHECK_REQUESTED.has(String(body.reviewStatus))) {
    throw new KycProviderError('refused', 'the provider lacks documents or data of the applicant');
  }
}

async function hostedLink(
  { client, levelName, linkTtlSeconds = DEFAULT_LINK_TTL_SECONDS }: SumsubKycOptions,
  { submissionId, person }: KycSubmission,
): Promise<string> {
  const { body } = await client.call(
    'POST',
    '/resources/sdkIntegrations/levels/-/websdkLink',
    jsonBody({
      levelName,
      userId: submissionId,
      ttlInSecs: linkTtlSeconds,
      applicantIdentifiers: { email: person.email, phone: person.phoneNumber },
    }),
  );
  if (typeof body.url !== 'string' || !URL.canParse(body.url)) {
    throw new KycProviderError('unavailable', 'the provider answered no link');
  }
  return body.url;
}

function idOf(body: Readonly<Record<string, unknown>>): string {
  // It becomes part of paths that are signed and called.
  if (typeof body.id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(body.id)) return body.id;
  throw new KycProviderError('unavailable', 'the provider answered no applicant');
}

const fileNameOf = ({ documentId, contentType }: KycDocument): string =>
  `${documentId.replace(/[^A-Za-z0-9_-]/g, '')}.${EXTENSIONS.get(contentType) ?? 'bin'}`;

/** What is not known is left out: the pages of a hosted link ask for it. */
function applicantOf(submissionId: string, person: KycPerson, countryOf: (alpha2: string) => string): object {
  const known = (value: string) => (value === '' ? undefined : value);
  const countryIfKnown = (alpha2: string) => (alpha2 === '' ? undefined : countryOf(alpha2));
  const address = {
    street: known(person.address),
    town: known(person.city),
    postCode: known(person.postalCode),
    country: countryIfKnown(person.countryCode),
  };
  const hasAddress = Object.values(address).some((part) => part !== undefined);
  return {
    externalUserId: submissionId,
    email: person.email,
    phone: person.phoneNumber,
    fixedInfo: {
      firstName: known(person.firstName),
      lastName: known(person.lastName),
      dob: known(person.dateOfBirth),
      gender: person.gender,
      nationality: countryIfKnown(person.nationality),
      country: countryIfKnown(person.countryCode),
      ...(hasAddress ? { addresses: [address] } : {}),
    },
  };
}

function metadataOf(document: KycDocument, person: KycPerson, countryOf: (alpha2: string) => string): object {
  switch (document.documentType) {
    case 'SELFIE':
      return { idDocType: 'SELFIE', country: countryOf(person.idIssueCountry) };
    case 'PROOF_OF_ADDRESS':
      return { idDocType: 'UTILITY_BILL', country: countryOf(person.countryCode) };
    default:
      return {
        idDocType: ID_DOCUMENTS[person.idType],
        country: countryOf(person.idIssueCountry),
        number: person.idNumber,
        // A passport's page has no other side.
        ...(person.idType !== 'PASSPORT' && {
          idDocSubType: document.documentType === 'ID_FRONT' ? 'FRONT_SIDE' : 'BACK_SIDE',
        }),
      };
  }
}
