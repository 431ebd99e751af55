import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WidgetBuild } from '@causeway/widget-app/build';
import { type PreparedAnswer, prepareBytes } from '../../http/prepared-answer.ts';
import type { Logger } from '../../lib/logger.ts';

/**
 * The built files of the widget, read and compressed once. They are built when they are first asked for: a start does not
 * wait, and later starts find what was built. A production install has no bundler and finds what `npm run widget:build` made.
 */
export interface WidgetFiles {
  build(): Promise<WidgetBuild>;
  /** Undefined where there is no such file. */
  find(name: string): Promise<PreparedAnswer | undefined>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const FILE_NAME = /^[\w-]+\.(js|css)$/;

export function createWidgetFiles(logger: Logger): WidgetFiles {
  let building: Promise<WidgetBuild> | undefined;
  const read = new Map<string, Promise<PreparedAnswer | undefined>>();

  const build = () => {
    building ??= import('@causeway/widget-app/build')
      .then(({ buildWidget }) => buildWidget())
      .catch((error: unknown) => {
        building = undefined;
        logger.error({ err: error }, 'the widget cannot be served: it is not built');
        throw error;
      });
    return building;
  };

  const load = async (name: string): Promise<PreparedAnswer | undefined> => {
    const { folder } = await build();
    try {
      return prepareBytes(await readFile(join(folder, name)), TYPES[name.split('.')[1] ?? ''] ?? '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };

  return {
    build,
    async find(name) {
      if (!FILE_NAME.test(name)) return undefined;
      const reading = read.get(name) ?? load(name);
      read.set(name, reading);
      const found = await reading.catch((error: unknown) => {
        read.delete(name);
        throw error;
      });
      // Names that lead nowhere are without number.
      if (found === undefined) read.delete(name);
      return found;
    },
  };
}
