/** Something received that is not what it should be; `path` says where. */
export class WireFormatError extends Error {
  override readonly name = 'WireFormatError';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path === '' ? 'the body' : path}: ${problem}`);
    this.path = path;
  }
}
