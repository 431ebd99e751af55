import { crc32 } from 'node:zlib';

export interface ZipEntry {
  readonly path: string;
  readonly text: string;
}

/** A zip file without compression: it is sent compressed anyway, and every program opens it. Equal entries make equal bytes. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, text } of entries) {
    const name = Buffer.from(path);
    const data = Buffer.from(text);
    const described = describe(name, data);
    const head = Buffer.concat([numbers([4, 0x04034b50]), described, name]);
    files.push(head, data);
    directory.push(
      Buffer.concat([
        numbers([4, 0x02014b50], [2, VERSION]),
        described,
        // No comment, first disk, no attributes.
        numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]),
        name,
      ]),
    );
    offset += head.length + data.length;
  }
  const listing = Buffer.concat(directory);
  const count = entries.length;
  const end = numbers(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, listing.length],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...files, listing, end]);
}

const VERSION = 20;
const NAMES_ARE_UTF8 = 0x0800;
/** The first of January 1980: the format knows no earlier day. */
const FIRST_DAY = 0x0021;

/** The fields that a file's own head and the directory have in common. */
function describe(name: Buffer, data: Buffer): Buffer {
  return numbers(
    [2, VERSION],
    [2, NAMES_ARE_UTF8],
    [2, 0],
    [2, 0],
    [2, FIRST_DAY],
    [4, crc32(data)],
    [4, data.length],
    [4, data.length],
    [2, name.length],
    [2, 0],
  );
}

function numbers(...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}
