import { chains } from './variables/chains.ts';
import { documents, kyc, mail, screening } from './variables/customers.ts';
import { database, deployment, observability, secrets } from './variables/deployment.ts';
import { consoleRules, limits, widgetLimits } from './variables/limits.ts';
import { market, orders, webhooks } from './variables/orders.ts';

/** The whole configuration: one entry in its part is all it takes to add a variable, document it and have it typed. */
export const VARIABLES = {
  ...deployment,
  ...database,
  ...secrets,
  ...chains,
  ...orders,
  ...market,
  ...limits,
  ...widgetLimits,
  ...consoleRules,
  ...webhooks,
  ...mail,
  ...documents,
  ...kyc,
  ...screening,
  ...observability,
};

/** As they are shown to people, in this order. */
export const PARTS = [
  { title: 'Deployment', variables: deployment },
  { title: 'Database', variables: database },
  { title: 'Secrets', variables: secrets },
  { title: 'Chains', variables: chains },
  { title: 'Orders', variables: orders },
  { title: 'Rates and offers', variables: market },
  { title: 'Limits', variables: limits },
  { title: 'Widget', variables: widgetLimits },
  { title: 'Console', variables: consoleRules },
  { title: 'Webhooks and logs of partners', variables: webhooks },
  { title: 'E-mail', variables: mail },
  { title: 'Documents of customers', variables: documents },
  { title: 'KYC', variables: kyc },
  { title: 'Screening', variables: screening },
  { title: 'Metrics, logs and traces', variables: observability },
];
