import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { allConfigured, ofVariable } from './config/problems.ts';
import type { Config } from './config.ts';
import type { UnitDeps } from './engine/unit-of-work.ts';
import { createLocalDiskDocuments, createS3Documents } from './features/kyc/documents/document-stores.ts';
import { createSimulatedKyc } from './features/kyc/provider/simulated-kyc.ts';
import { createSumsubClient } from './features/kyc/provider/sumsub-client.ts';
import { createSumsubKyc } from './features/kyc/provider/sumsub-kyc.ts';
import { createManualKyc, takeCallback } from './features/kyc/verification.effect.ts';
import { createListScreening, createSimulatedScreening } from './features/screening/names/list-screening.ts';
import { loadSanctionsList } from './features/screening/names/load-sanctions-list.ts';
import { createYenteScreening } from './features/screening/names/yente-screening.ts';
import {
  httpWalletScreening,
  loadListedWallets,
  SHIPPED_ADDRESSES,
} from './features/screening/wallets/wallet-screening.ts';
import { createSandboxMailbox } from './features/widget/mail/sandbox-mailbox.ts';
import { machineNow } from './lib/clock.ts';
import type { Sealer } from './lib/crypto.ts';
import type { BankingPort } from './ports/banking.ts';
import type { DocumentStore } from './ports/documents.ts';
import type { KycProvider } from './ports/kyc-provider.ts';
import type { MailPort } from './ports/mail.ts';
import type { ScreeningPort } from './ports/name-screening.ts';
import { screenByAll, testWallets, type WalletScreeningPort } from './ports/wallet-screening.ts';
import { createBankRecord } from './upstream/banking/bank-record.store.ts';
import { createSimulatedBank, type SimulatedBank } from './upstream/banking/simulated-bank.ts';
import { createSmtpMail } from './upstream/mail/smtp-mail.ts';
import type { BlindIndex } from './vault/vault.ts';

/** What names and wallets are screened against. */
export interface Screenings {
  readonly screening: ScreeningPort;
  readonly walletScreening: WalletScreeningPort;
}

/** The adapters that customers' features stand on: chosen by the configuration, built once. */
export interface CustomerAdapters extends Screenings {
  readonly documents: DocumentStore;
  readonly kycProvider: KycProvider;
  /** Opens accounts for customers; none where no bank is configured. */
  readonly bank: BankingPort | undefined;
  /** The bank again where it is the sandbox's own, into which a sandbox user can pay. */
  readonly simulatedBank: SimulatedBank | undefined;
  /** Sends e-mails to customers at the widget; none where no server is configured. */
  readonly mail: MailPort | undefined;
  /** Makes the simulated provider call back; nothing where the provider is real. */
  readonly deliverSimulatedKyc: () => Promise<unknown>;
}

export interface CustomerAdapterDeps extends UnitDeps {
  readonly config: Config;
  readonly screenings: Screenings;
  readonly encryptionKey: Uint8Array;
  readonly sealer: Sealer;
  readonly blindIndex: BlindIndex;
  readonly alpha3Of: (alpha2: string) => string | undefined;
}

/** Reads the lists that the configuration names, which needs nothing else of the deployment. */
export async function loadScreenings(config: Config): Promise<Screenings> {
  const sandbox = config.environment === 'sandbox';
  const isSimulated = sandbox && config.sanctionsListFile === undefined && config.yenteUrl === undefined;
  const [screening, wallets] = await allConfigured([
    isSimulated ? Promise.resolve(createSimulatedScreening()) : screeningOf(config),
    walletScreeningsOf(config),
  ]);
  return { screening, walletScreening: screenByAll(sandbox ? [testWallets, ...wallets] : wallets) };
}

export function createCustomerAdapters(deps: CustomerAdapterDeps): CustomerAdapters {
  const { config, screenings } = deps;
  const documents = documentStoreOf(config);
  if (config.environment !== 'sandbox') {
    return {
      ...screenings,
      documents,
      kycProvider: providerOf(deps),
      bank: undefined,
      mail: mailOf(config),
      simulatedBank: undefined,
      deliverSimulatedKyc: async () => {},
    };
  }
  const kycProvider = createSimulatedKyc({
    now: () => deps.clock.now(),
    secret: sharedSecret(deps, 'simulated KYC'),
    seed: 'sandbox',
    hostedUrl: () => '',
    deliver: async (callback) => {
      const answer = await takeCallback(deps, kycProvider, callback);
      return answer === 'taken' ? 200 : 400;
    },
  });
  const bank = createSimulatedBank({
    now: () => deps.clock.now(),
    secret: sharedSecret(deps, 'simulated bank'),
    record: createBankRecord(deps),
  });
  return {
    ...screenings,
    documents,
    kycProvider,
    bank,
    mail: createSandboxMailbox(deps),
    simulatedBank: bank,
    deliverSimulatedKyc: () => kycProvider.deliverDue(),
  };
}

/** Every process of a sandbox signs and checks with the same one. */
function sharedSecret({ encryptionKey }: CustomerAdapterDeps, purpose: string): string {
  return createHmac('sha256', encryptionKey).update(purpose).digest('hex');
}

function mailOf({ mailUrl, mailFrom }: Config): MailPort | undefined {
  return mailUrl === undefined
    ? undefined
    : createSmtpMail({ url: mailUrl, from: needed(mailFrom, 'MAIL_FROM') });
}

function documentStoreOf(config: Config): DocumentStore {
  const endpoint = config.documentsS3Endpoint;
  if (endpoint === undefined) {
    return createLocalDiskDocuments(config.documentsFolder ?? join(config.causewayHome, 'documents'));
  }
  return createS3Documents({
    endpoint,
    bucket: needed(config.documentsS3Bucket, 'DOCUMENTS_S3_BUCKET'),
    region: config.documentsS3Region,
    accessKeyId: needed(config.documentsS3AccessKeyId, 'DOCUMENTS_S3_ACCESS_KEY_ID'),
    secretAccessKey: needed(config.documentsS3SecretAccessKey, 'DOCUMENTS_S3_SECRET_ACCESS_KEY'),
    now: () => new Date(machineNow()),
  });
}

function providerOf({ config, alpha3Of, clock }: CustomerAdapterDeps): KycProvider {
  const appToken = config.sumsubAppToken;
  if (appToken === undefined) return createManualKyc(() => clock.now());
  return createSumsubKyc({
    client: createSumsubClient({
      baseUrl: config.sumsubBaseUrl,
      appToken,
      secretKey: needed(config.sumsubSecretKey, 'SUMSUB_SECRET_KEY'),
      unixSeconds: () => Math.floor(machineNow() / 1_000),
    }),
    levelName: config.sumsubLevelName,
    webhookSecret: needed(config.sumsubWebhookSecret, 'SUMSUB_WEBHOOK_SECRET'),
    alpha3Of,
  });
}

/** Without a list no name can be cleared by a machine, so each goes to a reviewer. */
const REVIEW_EVERY_NAME: ScreeningPort = {
  screen: async () => ({ status: 'review', hits: [], listVersion: 'none' }),
};

/** A yente server knows more spellings than a list in memory; the list is the fallback of deployments without one. */
async function screeningOf(config: Config): Promise<ScreeningPort> {
  if (config.yenteUrl !== undefined) {
    return createYenteScreening({
      url: config.yenteUrl,
      dataset: config.yenteDataset,
      apiKey: config.yenteApiKey,
      threshold: config.yenteThreshold,
      timeoutMs: config.yenteTimeoutSeconds * 1_000,
      now: machineNow,
    });
  }
  const { sanctionsListFile: path, sanctionsAlternatesFile: alternatesPath } = config;
  if (path === undefined) return REVIEW_EVERY_NAME;
  return ofVariable(
    `SANCTIONS_LIST_FILE (${path})`,
    async () => createListScreening(await loadSanctionsList({ path, alternatesPath })),
    { SANCTIONS_ALTERNATES_FILE: alternatesPath },
  );
}

/** The lists first: they are in memory, and what they name needs no second opinion. */
async function walletScreeningsOf(config: Config): Promise<WalletScreeningPort[]> {
  const { sanctionsAddressesFile: addresses = SHIPPED_ADDRESSES, sanctionsListFile: names } = config;
  const listed = await ofVariable(
    `SANCTIONS_ADDRESSES_FILE (${addresses})`,
    () => loadListedWallets({ addresses, names }),
    { SANCTIONS_LIST_FILE: names },
  );
  const { walletScreeningUrl: url, walletScreeningToken: accessToken } = config;
  return url === undefined ? [listed] : [listed, httpWalletScreening({ url, accessToken })];
}

function needed(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} is needed as well`);
  return value;
}
