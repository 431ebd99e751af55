import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compileMessageFiles } from './apps/widget/message-catalogue.ts';

const gateway = 'apps/gateway/src';

/** Files of a worker share a process: importing the gateway anew for each was half of a run's work. */
const SHARED = { isolate: false };

/** Tests may import the widget: its messages are compiled as in its build. */
const WIDGET = [compileMessageFiles()];

/** Rules that need no server, in folders of which most do. */
const PURE = [
  ...['payment-details/validation', 'screening/names', 'kyc/provider'].map(
    (folder) => `${gateway}/features/${folder}/**/*.test.ts`,
  ),
  `${gateway}/features/widget/widget-origins.test.ts`,
  `${gateway}/features/fiat-accounts/deposit-matching.test.ts`,
  `${gateway}/upstream/mail/*.test.ts`,
  `${gateway}/chain/signers/signature.test.ts`,
];

/** Files that mostly wait for processes to start and die: begun last, one of them would be waited for alone. */
const LONG = [
  'test/faults/sandbox-start',
  'test/faults/shutdown',
  'local/local-services',
  'test/failpoints/',
  'test/faults/several-processes',
  'test/faults/crash',
  'test/faults/toxics',
  'test/faults/hostile-partner',
  'test/races/',
  'test/model/',
  'test/histories/',
  'test/scenarios/',
  'test/examples/',
  'test/invariants/',
  'test/browser/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const position = LONG.findIndex((part) => moduleId.includes(part));
      return position < 0 ? LONG.length : position;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}

/** Two projects by what a test needs around it: pure rules run without a database or a chain. */
export default defineConfig({
  test: {
    // One more than small machines have cores: tests wait for browsers, chains and processes, and two left a third of the
    // time unused. With three hardly any is.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/vitest.json' },
    projects: [
      {
        plugins: WIDGET,
        test: {
          name: 'unit',
          ...SHARED,
          include: [
            'packages/*/src/**/*.test.ts',
            'apps/{widget,console}/**/*.test.{ts,tsx}',
            'backends/*/src/**/*.test.ts',
            `${gateway}/*.test.ts`,
            `${gateway}/lib/**/*.test.ts`,
            ...PURE,
            'test/harness/**/*.test.ts',
            'bench/**/*.test.ts',
            'scripts/**/*.test.ts',
            'test/simulation/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        plugins: WIDGET,
        test: {
          name: 'served',
          ...SHARED,
          include: [
            'contracts/src/**/*.test.ts',
            `${gateway}/{chain,local,db,engine,http,upstream,features}/**/*.test.ts`,
            'test/{scenarios,examples,invariants,faults,browser,races,model,histories,failpoints}/**/*.test.ts',
          ],
          exclude: PURE,
          // One server and one template of the chains for all of them.
          globalSetup: ['test/harness/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
