import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take seconds: most mutants are noticed by others first. */
const SLOW = /(order-actions|customer-phase|random-walks|price\.property|receipt-base)\.test\.ts$/;

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted(
      (left, right) =>
        Number(SLOW.test(left.moduleId)) - Number(SLOW.test(right.moduleId)) ||
        left.moduleId.localeCompare(right.moduleId),
    );
  }
}

/** The tests of one area, which scripts/mutation.ts names; properties draw the same cases for every mutant. */
export default defineConfig({
  test: {
    include: (process.env.MUTATION_TESTS ?? '').split(' '),
    setupFiles: ['scripts/mutation/fixed-seed.ts'],
    sequence: { sequencer: QuickFirst },
    // A quarter quicker. The first run, without a mutant, fails where files depend on each other's state.
    isolate: false,
    // Stryker has a limit of its own. A slow machine must not look like a mutant that was noticed.
    testTimeout: 600_000,
  },
});
