import * as addresses from '../address-values.ts';
import * as values from '../values.ts';
import { optional, seconds, withDefault, worker } from '../variable.ts';

/** How customers are reached and known. */
export const mail = {
  mailUrl: optional(
    'MAIL_URL',
    addresses.mailUrl,
    'SMTP server that sends the widget’s e-mails: `smtps://` for TLS from the start, `smtp://` for STARTTLS, which a server elsewhere has to offer. Without it production knows no customer at the widget by e-mail, and says so when it starts. A sandbox sends none.',
    {
      example: 'smtps://user:…@mail.example.com',
      secret: true,
      refuse: (_, environment) =>
        environment === 'sandbox' ? 'is for production; a sandbox keeps its e-mails to itself' : undefined,
    },
  ),
  mailFrom: optional(
    'MAIL_FROM',
    addresses.mailAddress,
    'Address that the widget’s e-mails come from, beside the name of the partner. Needed with MAIL_URL.',
    { example: 'no-reply@example.com' },
  ),
};

export const documents = {
  documentsFolder: optional(
    'DOCUMENTS_FOLDER',
    values.path,
    'Folder of customers’ documents, encrypted; `documents` in CAUSEWAY_HOME when neither it nor a bucket is set.',
    { example: '/var/lib/causeway/documents' },
  ),
  documentsS3Endpoint: optional(
    'DOCUMENTS_S3_ENDPOINT',
    addresses.httpUrl,
    'S3-compatible store for customers’ documents in place of a folder.',
    { example: 'https://s3.eu-central-1.amazonaws.com' },
  ),
  documentsS3Bucket: optional('DOCUMENTS_S3_BUCKET', values.text, 'Bucket of the documents.'),
  documentsS3Region: withDefault(
    'DOCUMENTS_S3_REGION',
    values.text,
    'us-east-1',
    'Region that requests to the document store are signed for.',
  ),
  documentsS3AccessKeyId: optional(
    'DOCUMENTS_S3_ACCESS_KEY_ID',
    values.text,
    'Access key of the document store.',
    { secret: true },
  ),
  documentsS3SecretAccessKey: optional(
    'DOCUMENTS_S3_SECRET_ACCESS_KEY',
    values.text,
    'Secret key of the document store.',
    { secret: true },
  ),
};

export const kyc = {
  sumsubAppToken: optional(
    'SUMSUB_APP_TOKEN',
    values.text,
    'App token of Sumsub. Without it every KYC submission of production goes to manual review.',
    { secret: true },
  ),
  sumsubSecretKey: optional('SUMSUB_SECRET_KEY', values.text, 'Key that signs requests to Sumsub.', {
    secret: true,
  }),
  sumsubWebhookSecret: optional(
    'SUMSUB_WEBHOOK_SECRET',
    values.text,
    'Secret that signs Sumsub’s webhooks to `/api/v1/kyc/provider/callback`.',
    { secret: true },
  ),
  sumsubLevelName: withDefault(
    'SUMSUB_LEVEL_NAME',
    values.text,
    'basic-kyc-level',
    'Verification level, as it is named in Sumsub.',
  ),
  sumsubBaseUrl: withDefault(
    'SUMSUB_BASE_URL',
    addresses.httpUrl,
    'https://api.sumsub.com',
    'Address of Sumsub’s API.',
  ),
};

export const screening = {
  sanctionsListFile: optional(
    'SANCTIONS_LIST_FILE',
    values.path,
    'Sanctions list (OFAC SDN or OpenSanctions) that recipients, account holders and wallets are screened against. Without it and without YENTE_URL every recipient of production goes to review.',
    { example: '/var/lib/causeway/sdn.xml' },
  ),
  sanctionsAlternatesFile: optional(
    'SANCTIONS_ALTERNATES_FILE',
    values.path,
    'Aliases (alt.csv) that belong to an OFAC sdn.csv.',
    { example: '/var/lib/causeway/alt.csv' },
  ),
  sanctionsAddressesFile: optional(
    'SANCTIONS_ADDRESSES_FILE',
    values.path,
    'File that lists the wallets that may neither pay nor be paid, in any format; those of SANCTIONS_LIST_FILE are read besides. Without it a small selection of the SDN list counts.',
    { example: '/var/lib/causeway/addresses.txt' },
  ),
  yenteUrl: optional(
    'YENTE_URL',
    addresses.httpUrl,
    'OpenSanctions’ matching API (a yente server) that screens the names of recipients and account holders, instead of SANCTIONS_LIST_FILE. While it does not answer, they stay pending.',
    { example: 'http://yente.internal:8000' },
  ),
  yenteDataset: withDefault(
    'YENTE_DATASET',
    values.text,
    'sanctions',
    'Source or collection that the yente server has indexed.',
  ),
  yenteApiKey: optional('YENTE_API_KEY', values.text, 'Sent to YENTE_URL as `Authorization: ApiKey …`.', {
    secret: true,
  }),
  yenteThreshold: withDefault(
    'YENTE_THRESHOLD',
    values.score,
    '0.7',
    'Score from which a result of yente is a match and the name goes to review.',
  ),
  yenteTimeoutSeconds: withDefault(
    'YENTE_TIMEOUT_SECONDS',
    values.wholeNumber(1, 60),
    '5',
    'An answer of yente that takes longer is none; the name is screened again later.',
  ),
  walletScreeningUrl: optional(
    'WALLET_SCREENING_URL',
    addresses.httpUrl,
    'Service that screens wallets, besides the lists. While it does not answer, no new wallet is taken and no send-out is prepared.',
    { example: 'https://wallets.internal' },
  ),
  walletScreeningToken: optional(
    'WALLET_SCREENING_TOKEN',
    values.text,
    'Sent to WALLET_SCREENING_URL as a bearer token.',
    { secret: true },
  ),
  walletRescreenSeconds: withDefault(
    'WALLET_RESCREEN_SECONDS',
    seconds,
    '86400',
    'The wallets of partners and of active vendors are screened again after this long.',
    { roles: worker },
  ),
};
