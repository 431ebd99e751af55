import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** What every name leads to. */
export const PUBLIC_ADDRESS = [93, 184, 216, 34];

/** A name server on loopback: says nothing about names under `silent.test`, and one address for every other. */
export async function startNameServer(): Promise<{ address: string; asked: string[]; socket: Socket }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const isA = query.readUInt16BE(at + 1) === 1;
    asked.push(`${name} ${isA ? 'A' : 'AAAA'}`);
    if (name.endsWith('silent.test')) return;
    const question = query.subarray(12, at + 5);
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
    const isMissing = name.endsWith('missing.test');
    if (isMissing) header[3] = 0x83;
    if (isMissing) header[7] = 0;
    const answer =
      isA && !isMissing
        ? Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...PUBLIC_ADDRESS])
        : Buffer.alloc(0);
    socket.send(Buffer.concat([header, question, answer]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked, socket };
}
