import { createHmac, randomBytes } from 'node:crypto';
import { kycMachine } from '@causeway/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KycSubmission } from '../../../ports/kyc-provider.ts';
import { readSumsubReview, readSumsubTime } from './sumsub-callback.ts';
import { createSumsubClient } from './sumsub-client.ts';
import { createSumsubKyc } from './sumsub-kyc.ts';
import { type LocalSumsub, startLocalSumsub } from './testing/local-sumsub.ts';

const appToken = 'sbx:token';
const secretKey = 'secret-key';
const webhookSecret = 'webhook-secret';
const unixSeconds = () => 1_790_000_000;
const levelName = 'basic kyc+level';
const COUNTRIES: Record<string, string> = { GB: 'GBR', DE: 'DEU', FR: 'FRA' };

const submission: KycSubmission = {
  submissionId: '0198c0de-0000-7000-8000-000000000001',
  method: 'direct_data',
  person: {
    firstName: 'Zoë',
    lastName: 'Lovelace',
    dateOfBirth: '1990-12-10',
    nationality: 'GB',
    idType: 'NATIONAL_ID',
    idNumber: 'L01X00T47',
    idIssueCountry: 'DE',
    address: '1 Sample Street',
    city: 'Köln',
    postalCode: '50667',
    countryCode: 'FR',
    email: 'zoe@example.com',
  },
  documents: [
    {
      documentId: 'doc-front',
      documentType: 'ID_FRONT',
      contentType: 'image/jpeg',
      content: randomBytes(3_000),
    },
    {
      documentId: 'doc-back',
      documentType: 'ID_BACK',
      contentType: 'image/png',
      content: Buffer.from('--x\r\n\r\n--'),
    },
    { documentId: 'doc-selfie', documentType: 'SELFIE', contentType: 'image/jpeg', content: randomBytes(10) },
  ],
};

let sumsub: LocalSumsub;
beforeEach(async () => {
  sumsub = await startLocalSumsub({ appToken, secretKey, unixSeconds, documentsNeeded: 3 });
});
afterEach(() => sumsub.close());

const providerWith = (overrides: object = {}) =>
  createSumsubKyc({
    client: createSumsubClient({
      baseUrl: sumsub.baseUrl,
      appToken,
      secretKey,
      unixSeconds,
      timeoutMs: 5_000,
      ...overrides,
    }),
    levelName,
    webhookSecret,
    alpha3Of: (alpha2) => COUNTRIES[alpha2],
  });
const onlyApplicant = () => {
  expect(sumsub.applicants.size).toBe(1);
  return [...sumsub.applicants.values()][0]!;
};

describe('starting a verification', () => {
  it('creates the applicant, uploads every document unharmed and asks for the check', async () => {
    const started = await providerWith().startVerification(submission);
    const applicant = onlyApplicant();
    expect(started).toEqual({
      submissionId: submission.submissionId,
      reference: applicant.id,
      verificationUrl: null,
    });
    expect(applicant).toMatchObject({
      levelName,
      reviewStatus: 'pending',
      data: {
        externalUserId: submission.submissionId,
        fixedInfo: { firstName: 'Zoë', nationality: 'GBR', country: 'FRA', addresses: [{ town: 'Köln' }] },
      },
    });
    expect(applicant.files.map(({ content }) => content)).toEqual(
      submission.documents.map(({ content }) => Buffer.from(content)),
    );
    expect(applicant.files.map(({ metadata }) => metadata)).toEqual([
      { idDocType: 'ID_CARD', country: 'DEU', number: 'L01X00T47', idDocSubType: 'FRONT_SIDE' },
      { idDocType: 'ID_CARD', country: 'DEU', number: 'L01X00T47', idDocSubType: 'BACK_SIDE' },
      { idDocType: 'SELFIE', country: 'DEU' },
    ]);
  });

  it('gives a hosted link for the same applicant and uploads nothing', async () => {
    const started = await providerWith().startVerification({
      ...submission,
      method: 'hosted_link',
      documents: [],
    });
    expect(started.verificationUrl).toBe(`https://in.example/websdk/p/${submission.submissionId}`);
    expect(onlyApplicant()).toMatchObject({ id: started.reference, reviewStatus: 'init', files: [] });
  });

  it('gives a hosted link for somebody of whom only the e-mail is known, and makes nothing up', async () => {
    const { email } = submission.person;
    const nobody = { firstName: '', lastName: '', dateOfBirth: '', nationality: '', idNumber: '' };
    const nowhere = { idIssueCountry: '', address: '', city: '', postalCode: '', countryCode: '' };
    await providerWith().startVerification({
      ...submission,
      method: 'hosted_link',
      person: { idType: 'PASSPORT', ...nobody, ...nowhere, gender: undefined, email, phoneNumber: undefined },
      documents: [],
    });
    expect(onlyApplicant().data).toEqual({ externalUserId: submission.submissionId, email, fixedInfo: {} });
  });

  const steps: readonly [string, RegExp][] = [
    ['creating the applicant', /^POST \/resources\/applicants\?/],
    ['an upload', /idDoc$/],
    ['asking for the check', /status\/pending$/],
  ];
  it.each(steps)(
    'repeated after the answer to %s was lost, it leaves one applicant, three documents, one check',
    async (_step, path) => {
      sumsub.interfere(path, 'cut');
      await expect(providerWith().startVerification(submission)).rejects.toMatchObject({
        failure: 'unavailable',
      });
      await providerWith().startVerification(submission);
      await providerWith().startVerification(submission);
      expect(onlyApplicant()).toMatchObject({ reviewStatus: 'pending' });
      expect(onlyApplicant().files.map(({ fileName }) => fileName)).toEqual([
        'doc-front.jpg',
        'doc-back.png',
        'doc-selfie.jpg',
      ]);
    },
  );

  it('tells a lack of documents from a check that runs already', async () => {
    await expect(providerWith().startVerification({ ...submission, documents: [] })).rejects.toMatchObject({
      failure: 'refused',
    });
  });

  it.each([
    [429, 'unavailable', 7],
    [503, 'unavailable', 7],
    [400, 'refused', undefined],
    [403, 'misconfigured', undefined],
  ])(
    'an answer of %i is %s, and tells nothing of the person or of what was written',
    async (status, failure, seconds) => {
      sumsub.interfere(/applicants/, {
        status,
        body: { description: 'Lovelace is bad' },
        headers: { 'retry-after': '7' },
      });
      const error = await providerWith()
        .startVerification(submission)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ failure, retryAfterSeconds: seconds });
      expect(String(error)).not.toMatch(/Lovelace|L01X00T47/);
    },
  );

  it('a wrong key or a moved clock is refused by the signature', async () => {
    for (const wrong of [
      { secretKey: 'other' },
      { unixSeconds: () => unixSeconds() + 3_600 },
      { appToken: 'x' },
    ]) {
      await expect(providerWith(wrong).startVerification(submission)).rejects.toMatchObject({
        failure: 'misconfigured',
      });
    }
    expect(sumsub.applicants.size).toBe(0);
  });

  it('an answer without an applicant, or with a path for one, is not used', async () => {
    for (const id of [undefined, 7, '../../evil', 'a/b']) {
      sumsub.interfere(/^POST \/resources\/applicants\?/, { status: 201, body: { id } });
      await expect(providerWith().startVerification(submission)).rejects.toMatchObject({
        failure: 'unavailable',
      });
    }
    expect(sumsub.calls.every((call) => call.startsWith('POST /resources/applicants?'))).toBe(true);
  });

  it('an unknown country is refused before anything is sent', async () => {
    const person = { ...submission.person, nationality: 'XX' };
    await expect(providerWith().startVerification({ ...submission, person })).rejects.toMatchObject({
      failure: 'refused',
    });
    expect(sumsub.calls).toEqual([]);
  });

  it('personal data is never sent in clear', () => {
    expect(() => providerWith({ baseUrl: 'http://api.example' })).toThrow(/https/);
  });

  it('a provider that does not answer is unavailable', async () => {
    await sumsub.close();
    await expect(providerWith().startVerification(submission)).rejects.toMatchObject({
      failure: 'unavailable',
    });
  });
});

describe('reading a result', () => {
  it('answers null until there is one, then the verdict with the provider’s date', async () => {
    const provider = providerWith();
    const started = await provider.startVerification(submission);
    expect(await provider.readResult(started)).toBeNull();
    Object.assign(onlyApplicant(), {
      reviewStatus: 'completed',
      reviewDate: '2026-01-31 07:13:02+0000',
      reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'RETRY', rejectLabels: ['BAD_SELFIE'] },
    });
    expect(await provider.readResult(started)).toMatchObject({
      submissionId: submission.submissionId,
      outcome: 'resubmission_requested',
      rejectionReasons: ['BAD_SELFIE'],
      decidedAtMs: Date.UTC(2026, 0, 31, 7, 13, 2),
    });
  });
});

const body = {
  applicantId: '5cb56e8e0a975a35f333cb83',
  externalUserId: submission.submissionId,
  type: 'applicantReviewed',
  reviewStatus: 'completed',
  reviewResult: { reviewAnswer: 'GREEN' },
  createdAtMs: '2026-01-31 07:13:02.123',
};
function signed(
  value: unknown,
  { secret = webhookSecret, hash = 'sha256', algorithm = 'HMAC_SHA256_HEX' } = {},
) {
  const rawBody = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const digest = createHmac(hash, secret).update(rawBody).digest('hex');
  return { rawBody, headers: { 'x-payload-digest': digest, 'x-payload-digest-alg': algorithm } };
}

describe('a webhook', () => {
  it.each([
    ['sha256', 'HMAC_SHA256_HEX'],
    ['sha512', 'HMAC_SHA512_HEX'],
  ])('signed with %s is read, and every delivery of it has one event id', (hash, algorithm) => {
    const reading = providerWith().readCallback(signed(body, { hash, algorithm }));
    expect(reading).toMatchObject({
      kind: 'verdict',
      verdict: {
        submissionId: submission.submissionId,
        reference: body.applicantId,
        outcome: 'verification_passed',
        decidedAtMs: Date.UTC(2026, 0, 31, 7, 13, 2, 123),
      },
    });
    expect(providerWith().readCallback(signed({ ...body }, { hash, algorithm }))).toEqual(reading);
  });

  it.each([
    ['another secret', signed(body, { secret: 'other' })],
    ['SHA-1', signed(body, { hash: 'sha1', algorithm: 'HMAC_SHA1_HEX' })],
    ['an algorithm other than it names', signed(body, { hash: 'sha512' })],
    ['no digest', { ...signed(body), headers: { 'x-payload-digest-alg': 'HMAC_SHA256_HEX' } }],
    [
      'no algorithm',
      { ...signed(body), headers: { 'x-payload-digest': signed(body).headers['x-payload-digest'] } },
    ],
    [
      'a changed body',
      { ...signed(body), rawBody: Buffer.from(JSON.stringify({ ...body, externalUserId: 'x' })) },
    ],
    ['half a digest', { ...signed(body), headers: { ...signed(body).headers, 'x-payload-digest': 'abc' } }],
  ])('with %s is refused', (_name, callback) => {
    expect(providerWith().readCallback(callback)).toEqual({ kind: 'refused', reason: 'bad_signature' });
  });

  it.each([
    ['that is not JSON', 'nonsense'],
    ['without a type', { ...body, type: 1 }],
    ['without an applicant', { ...body, applicantId: undefined }],
    ['without a date', { ...body, createdAtMs: 'yesterday' }],
  ])('%s is malformed', (_name, value) => {
    expect(providerWith().readCallback(signed(value))).toEqual({ kind: 'refused', reason: 'malformed' });
  });

  it.each(['applicantCreated', 'applicantPending', 'applicantPersonalInfoChanged', 'somethingNew'])(
    '%s is acknowledged and changes nothing',
    (type) => {
      expect(providerWith().readCallback(signed({ ...body, type }))).toEqual({ kind: 'irrelevant' });
    },
  );

  it('of any signed content never throws', () => {
    const provider = providerWith();
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.record({ type: fc.constant('applicantReviewed'), applicantId: fc.anything() }),
        ),
        (value) => {
          expect(provider.readCallback(signed(value ?? null)).kind).toMatch(/verdict|irrelevant|refused/);
        },
      ),
    );
  });
});

describe('review answers', () => {
  it.each([
    ['completed', { reviewAnswer: 'GREEN' }, 'verification_passed'],
    ['completed', { reviewAnswer: 'RED', reviewRejectType: 'FINAL' }, 'verification_refused'],
    ['completed', { reviewAnswer: 'RED', reviewRejectType: 'RETRY' }, 'resubmission_requested'],
    ['completed', { reviewAnswer: 'RED' }, 'review_requested'],
    ['completed', { reviewAnswer: 'YELLOW' }, 'review_requested'],
    ['completed', undefined, 'review_requested'],
    ['onHold', undefined, 'review_requested'],
  ])('%s with %j is %s, which the machine knows', (status, result, outcome) => {
    expect(readSumsubReview(status, result)?.outcome).toBe(outcome);
    expect(kycMachine.transitions.some(({ on, by }) => on === outcome && by.includes('provider'))).toBe(true);
  });
  it.each(['init', 'pending', 'prechecked', 'queued', undefined])('%s decides nothing', (status) => {
    expect(readSumsubReview(status, { reviewAnswer: 'GREEN' })).toBeUndefined();
  });
  it('labels are kept within bounds, comments are not kept', () => {
    const review = readSumsubReview('completed', {
      reviewAnswer: 'RED',
      reviewRejectType: 'FINAL',
      rejectLabels: ['FORGERY', 'free text', 7, ...Array(100).fill('X')],
      clientComment: 'private',
    });
    expect(review?.rejectionReasons).toHaveLength(20);
    expect(review?.rejectionReasons[0]).toBe('FORGERY');
    expect(JSON.stringify(review)).not.toMatch(/private|free text/);
  });
  it.each(['', '2026-13-40 00:00:00', '2026-01-31', 7, null])('%j is no date', (text) => {
    expect(readSumsubTime(text)).toBeUndefined();
  });
});
