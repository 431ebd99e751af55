import Fastify from 'fastify';
import { startDiscoveryGateway } from '../apps/gateway/src/features/discovery/testing/discovery-gateway.ts';
import { generateLoad } from './frame/load.ts';
const g = await startDiscoveryGateway();
const bare = Fastify({ logger: false });
const paths = ['/api/v1/supported/crypto-currencies','/api/v1/supported/fiat-currencies','/api/v1/supported/institutions?rail=nip-nigeria'];
for (const [i,p] of paths.entries()) { const body = Buffer.from(await (await fetch(g.baseUrl + p)).arrayBuffer()); bare.get('/same'+i, (_r, reply) => reply.type('application/json; charset=utf-8').send(body)); }
const bu = await bare.listen({ host: '127.0.0.1', port: 0 });
async function cpu(url: string) { const a = process.cpuUsage(); const r = await generateLoad({ url, connections: 16, durationSeconds: 1 }); const d = process.cpuUsage(a); return (d.user + d.system) / r.succeeded; }
const b: number[][] = paths.map(() => []), c: number[][] = paths.map(() => []);
for (let k=0;k<6;k++) for (const [i,p] of paths.entries()) { b[i].push(await cpu(bu+'/same'+i)); c[i].push(await cpu(g.baseUrl+p)); }
for (const [i,p] of paths.entries()) console.log(p, 'min us/req bare', Math.min(...b[i].slice(1)).toFixed(1), 'gateway', Math.min(...c[i].slice(1)).toFixed(1), 'ratio', (Math.min(...b[i].slice(1))/Math.min(...c[i].slice(1))).toFixed(2));
process.exit(0);
