import { CausewayError, EmptySchema, KycCallbackHeaders, KycCallbackInput } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { SYSTEM } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import { type KycProvider, KycProviderError } from '../../ports/kyc-provider.ts';
import { latestSubmission, submissionByLink } from './kyc.store.ts';
import { MAX_CALLBACK_BYTES } from './provider/callbacks.ts';
import { HOSTED_LINK_PATH, type LoadSubmissionDeps, loadSubmission } from './submission.ts';
import { takeCallback } from './verification.effect.ts';

export interface ProviderRouteDeps extends UnitDeps, LoadSubmissionDeps {
  readonly kycProvider: KycProvider;
}

const TAG = 'KYC provider';

/** The ways in for those who are not partners: the provider's calls, and the customer with a hosted link. */
export function registerProviderRoutes(app: FastifyInstance, deps: ProviderRouteDeps): void {
  app.register(async (scope) => {
    // A signature covers the bytes as they came, so here they stay bytes.
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: MAX_CALLBACK_BYTES },
      (_request, body, done) => done(null, body),
    );
    route(scope, {
      access: 'public',
      transaction: 'none',
      method: 'POST',
      url: '/api/v1/kyc/provider/callback',
      operationId: 'kycProviderCallback',
      tag: TAG,
      summary: 'KYC provider callback',
      description: 'Signed by the provider; calls with another signature are refused.',
      documented: { body: KycCallbackInput, headers: KycCallbackHeaders },
      data: EmptySchema,
      errors: ['UNAUTHORIZED'],
      alwaysAdmitted: true,
      handle: async ({ request }) => {
        const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const answer = await takeCallback(deps, deps.kycProvider, { headers: request.headers, rawBody });
        if (answer === 'bad_signature') throw new CausewayError('UNAUTHORIZED');
        if (answer === 'malformed') throw invalidRequest('body', 'is not a message of the provider');
        return {};
      },
    });
  });
  registerHostedLink(app, deps);
}

const LINK = /^[A-Za-z0-9_-]{43}$/;
const DONE_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Verification</title>
<p>There is nothing to do here. The result of the verification is sent to the partner.</p></html>`;

/** Sends the customer on to the provider's own pages; a provider without any says that nothing is to be done. */
function registerHostedLink(app: FastifyInstance, deps: ProviderRouteDeps): void {
  app.route<{ Params: { link: string } }>({
    method: 'GET',
    url: `${HOSTED_LINK_PATH}/:link`,
    config: { access: 'public' },
    schema: { hide: true },
    async handler(request, reply) {
      const { link } = request.params;
      const [named] = LINK.test(link) ? await deps.db.query(SYSTEM, submissionByLink, [sha256Hex(link)]) : [];
      const [latest] =
        named === undefined ? [] : await deps.db.query(SYSTEM, latestSubmission, [named.user_id]);
      if (named === undefined || latest?.submission_id !== named.submission_id) {
        throw new CausewayError('ROUTE_NOT_FOUND');
      }
      const url = await providerPage(deps, named);
      if (url === null || url === '') return reply.type('text/html; charset=utf-8').send(DONE_PAGE);
      return reply.header('cache-control', 'no-store').redirect(url, 303);
    },
  });
}

async function providerPage(
  deps: ProviderRouteDeps,
  submission: Parameters<typeof loadSubmission>[1],
): Promise<string | null> {
  if (submission.verdict_event !== null) return null;
  const loaded = await loadSubmission(deps, submission);
  if (loaded === undefined) throw new CausewayError('ROUTE_NOT_FOUND');
  try {
    // Starting is safe to repeat, and only the start answers where to go.
    return (await deps.kycProvider.startVerification(loaded)).verificationUrl;
  } catch (error) {
    if (!(error instanceof KycProviderError)) throw error;
    throw new CausewayError('SERVICE_UNAVAILABLE', { cause: error });
  }
}
