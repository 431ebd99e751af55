import { isTerminal, ORDER_MACHINES, type OrderStatus } from '@causeway/protocol';
import type { Hex } from 'viem';
import { expect } from 'vitest';
import { describeEscrow } from '../../apps/gateway/src/chain/escrow/escrow.ts';
import type { Answer } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { atomic, type PartnerAction } from '../scenarios/orders-driver.ts';
import { type OperatorAction, signSafeTransaction } from '../scenarios/orders-parties.ts';
import { type Actors, actorsOf } from './actors.ts';
import { CHAIN, type Fixture, type Lane } from './fixture.ts';
import type { Plan, Stage, Trouble, TroubleName } from './plan.ts';

// biome-ignore lint/suspicious/noExplicitAny: orders and funds are read as the wire has them
type Wire = any;

interface Sight {
  readonly order: Wire;
  readonly funds: Wire;
  /** Undefined where the service or the chain is about to do something. */
  readonly stage: Stage | undefined;
}

const STAGE_OF: Readonly<Partial<Record<OrderStatus, Stage>>> = {
  awaiting_vendor_escrow_funding: 'unfunded',
  awaiting_crypto_transfer_authorization: 'unfunded',
  awaiting_fiat_transfer: 'funded',
  crypto_received: 'funded',
  fiat_transfer_pending: 'claimed',
  fiat_payment_started: 'claimed',
  fiat_payment_review_started: 'claimed',
  awaiting_fiat_received_confirmation: 'claimed',
};
const OPEN_DEPOSITS = ['held_for_review', 'return_pending', 'returning'];
/** Sandbox events answer once the order shows them, or after a long time where it never will. */
const TIMEOUT_MS = 3_000;
const MOST_IDLE_TURNS = 60;
const MOST_TURNS = 400;

/** An order and everything that happens to it. */
export class History {
  readonly plan: Plan;
  readonly lane: Lane;
  /** What was done and answered, to be told where something does not agree. */
  readonly told: string[] = [];
  readonly troublesMet: TroubleName[] = [];
  orderId = '';
  /** Transactions that paid something odd into its escrow. */
  readonly #paid = new Set<string>();
  readonly #fixture: Fixture;
  readonly #troubles: Trouble[];
  #actors!: Actors;
  #hasEnded: boolean;
  #isForBuyer: boolean;

  constructor(fixture: Fixture, lane: Lane, plan: Plan) {
    this.#fixture = fixture;
    this.lane = lane;
    this.plan = plan;
    this.#troubles = [...plan.troubles];
    this.#hasEnded = plan.ending === 'completed';
    this.#isForBuyer = plan.ending !== 'dispute for the seller';
  }

  /** From the quote until everything that can be settled is settled. */
  async live(): Promise<void> {
    this.#actors = await actorsOf(this.#fixture, this.lane, this.plan);
    this.orderId = await this.#actors.open();
    this.#tell(`order ${this.orderId}`);
    // The next history of the lane has the same partner and may get the same vendor.
    await this.settle().finally(() => this.#actors.lift(this.orderId));
  }

  /** Goes on until nothing is left to do; again where something has arrived meanwhile. */
  async settle(): Promise<void> {
    let idle = 0;
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const sight = await this.#look();
      if (await this.#isOver(sight)) return;
      const before = keyOf(sight);
      await this.#step(sight);
      const hasMoved = await until('a change', async () => keyOf(await this.#look()) !== before, 500).then(
        () => true,
        () => false,
      );
      idle = hasMoved ? 0 : idle + 1;
      if (idle > MOST_IDLE_TURNS) break;
    }
    const { order, funds } = await this.#look();
    throw new Error(`it does not come to an end: ${JSON.stringify({ order, funds })}`);
  }

  async #look(): Promise<Sight> {
    const { driver } = this.lane;
    const [order, funds] = await Promise.all([driver.read(this.orderId), driver.funds(this.orderId)]);
    const isOver = isTerminal(ORDER_MACHINES[this.plan.direction], order.status);
    const isEmpty = ['none', 'emptied', undefined].includes(funds.escrow?.state);
    const stage = STAGE_OF[order.status as OrderStatus] ?? (isOver && isEmpty ? 'over' : undefined);
    return { order, funds, stage };
  }

  async #isOver({ stage, funds, order }: Sight): Promise<boolean> {
    if (stage !== 'over' || order.status === 'dispute_started') return false;
    if (funds.escrow !== null && this.#troubles.some(({ at }) => at === 'over')) return false;
    const { deposits } = funds;
    const seen = new Set(deposits.map(({ tx_hash }: Wire) => tx_hash));
    if ([...this.#paid].some((hash) => !seen.has(hash))) return false;
    if (deposits.some(({ status }: Wire) => OPEN_DEPOSITS.includes(status))) return false;
    return (await this.#actors.openEffects(this.orderId)) === 0;
  }

  async #step(sight: Sight): Promise<void> {
    const { stage, funds } = sight;
    const next = this.#troubles.findIndex(({ at }) => at === stage);
    if (next >= 0 && funds.escrow !== null) {
      const [trouble] = this.#troubles.splice(next, 1);
      return this.#play(trouble!, sight);
    }
    if (await this.#tendDeposits(sight)) return;
    if (!this.#hasEnded && stage === this.plan.endsAt) {
      this.#hasEnded = true;
      return this.#end(sight);
    }
    if (funds.held_for_review) return this.#releaseHold(sight);
    return this.#goOn(sight);
  }

  #tell(what: string, answer?: Answer | undefined): void {
    const refused = answer === undefined || answer.status === 200 ? '' : ` → ${answer.body?.error?.code}`;
    this.told.push(`${what}${refused}`);
  }

  async #act(action: PartnerAction, body?: object): Promise<Answer> {
    const answer = await this.lane.driver.act(this.orderId, action, body);
    this.#tell(action, answer);
    return answer;
  }

  async #event(event: string, more?: object): Promise<Answer | undefined> {
    const answer = await this.#actors.event(this.orderId, event, more, TIMEOUT_MS);
    this.#tell(event, answer);
    return answer;
  }

  async #operate(what: OperatorAction, body: object): Promise<Answer> {
    const answer = await this.#fixture.parties.operate(this.orderId, what, body);
    this.#tell(`operator: ${what} ${JSON.stringify(body)}`, answer);
    return answer;
  }

  /** Signing asks for parameters first, which may be refused by then. */
  async #sign(what: string, work: () => Promise<Answer>): Promise<Answer | undefined> {
    const answer = await work().catch((error: Error) => {
      this.#tell(`${what}: ${error.message.slice(0, 300)}`);
      return undefined;
    });
    if (answer !== undefined) this.#tell(what, answer);
    return answer;
  }

  async #play({ what, isAwaited, size }: Trouble, sight: Sight): Promise<void> {
    this.#tell(`TROUBLE ${what} in ${sight.order.status}`);
    this.troublesMet.push(what);
    const { escrow } = sight.funds;
    const { thirdParty } = this.#fixture;
    const expected = atomic(escrow.expected_amount);
    const { settings } = this.#fixture.gateway.deps.chains.get(CHAIN);
    const { deploymentCall } = describeEscrow(settings, this.orderId, escrow.owners);
    switch (what) {
      case 'pays short':
        return this.#pay(sight, this.#seller(sight), expected - BigInt(size), isAwaited);
      case 'pays one unit short':
        return this.#pay(sight, this.#seller(sight), expected - 1n, isAwaited);
      case 'pays too much':
        return this.#pay(sight, this.#seller(sight), expected + BigInt(size), isAwaited);
      case 'pays twice':
        return this.#pay(sight, this.#seller(sight), expected, isAwaited);
      case 'a foreign sender pays':
        return this.#pay(sight, this.#fixture.payer, size % 2 ? expected : BigInt(size), isAwaited);
      case 'pays the wrong token':
        return this.#pay(sight, this.#seller(sight), BigInt(size), isAwaited, true);
      case 'a third party deploys the escrow':
        this.#tell(`deployed: ${await thirdParty.send(deploymentCall)}`);
        return;
      case 'a third party executes first':
        return thirdParty.overtake(escrow.address);
      case 'a third party deploys first':
        return thirdParty.overtake(escrow.address, deploymentCall);
      case 'the chain is reorganised':
        return this.#fixture.reorganise(1 + (size % 2));
      case 'the operator holds it':
        await this.#operate('hold', { decision: 'place' });
        return;
      case 'the proof is rejected':
        for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_rejected']) {
          if (this.plan.direction === 'offramp') await this.#event(event);
        }
        return;
      default:
        this.#tell(await this.#actors.lose(what, this.orderId));
    }
  }

  /** Who pays an order's crypto in. */
  #seller({ funds }: Sight): string {
    return funds.escrow.owners.seller;
  }

  async #pay(sight: Sight, from: string, amount: bigint, isAwaited: boolean, isWrong = false): Promise<void> {
    if (amount <= 0n) return;
    const { escrow, crypto_currency: own } = sight.funds;
    const { tokens, pay } = this.#fixture;
    const token = tokens.find(({ code }) => (code === own) !== isWrong)!;
    const hash = await pay({ token: token.address, from, to: escrow.address, amount });
    this.#paid.add(hash);
    this.#tell(`${from} paid ${amount} ${token.code}: ${hash}`);
    if (!isAwaited) return;
    await until('the deposit to be seen', async () => {
      const { deposits } = await this.lane.driver.funds(this.orderId);
      return deposits.some(({ tx_hash }: Wire) => tx_hash === hash);
    });
  }

  /** The operator's queue and the partner's signature; true where something was done. */
  async #tendDeposits(sight: Sight): Promise<boolean> {
    const { deposits } = (await this.#fixture.operate('GET', `deposits?order_id=${this.orderId}`)).body.data;
    for (const deposit of deposits as Wire[]) {
      if (deposit.status === 'held_for_review') {
        await this.#decideDeposit(deposit, deposits, sight);
        return true;
      }
      if (deposit.status === 'return_pending' && deposit.return.waiting_for === 'signature') {
        await this.#actors.lift(this.orderId);
        await this.#sign(`return of ${deposit.deposit_id}`, () => this.#signReturn(deposit.deposit_id));
        return true;
      }
    }
    return false;
  }

  async #decideDeposit(deposit: Wire, deposits: readonly Wire[], sight: Sight): Promise<void> {
    const decide = async (decision: string) => {
      const path = `deposits/${deposit.deposit_id}/decision`;
      const answer = await this.#fixture.operate('POST', path, { decision, reason: 'a history' });
      this.#tell(`operator: ${decision} ${deposit.kind} deposit ${deposit.deposit_id}`, answer);
      return answer.status === 200;
    };
    const { accepts, topsUp } = this.plan;
    if (accepts && sight.stage === 'unfunded') {
      await this.#actors.lift(this.orderId);
      if (await decide('accept')) return;
      const missing = atomic(sight.funds.escrow.expected_amount) - BigInt(deposit.amount_atomic);
      if (topsUp && deposit.kind === 'short' && deposits.length === 1 && missing > 0n) {
        await this.#pay(sight, this.#seller(sight), missing, true);
        if (await decide('accept')) return;
      }
    }
    if (!(await decide('return'))) await this.#actors.lift(this.orderId);
  }

  async #signReturn(depositId: string): Promise<Answer> {
    const path = `partner/deposits/${depositId}`;
    const asked = await this.lane.call('GET', `${path}/return-authorization-parameters`);
    expect(asked.body).toMatchObject({ success: true });
    const key = this.lane.partner.walletPrivateKey as Hex;
    const signature = await signSafeTransaction(key, asked.body.data.typed_data);
    return this.lane.call('POST', `${path}/authorize-return`, { signature });
  }

  async #end({ order }: Sight): Promise<void> {
    this.#tell(`ENDING ${this.plan.ending} in ${order.status}`);
    const { driver } = this.lane;
    switch (this.plan.ending) {
      case 'cancelled':
        await this.#act('cancel');
        return;
      case 'cancelled while it is funded': {
        const fund = () =>
          this.plan.direction === 'offramp'
            ? this.#sign('fund', () => driver.fund(this.orderId))
            : this.#event('escrow_funded');
        await Promise.all([fund(), this.#act('cancel')]);
        return;
      }
      case 'expired':
        await this.#event('order_expires');
        return;
      case 'escrow error':
        await this.#event('escrow_error');
        return;
      case 'cost beyond its bound':
        await this.#event('reprice', { cost_multiplier: '1.25' });
        return;
      default:
        await this.#operate('dispute', { decision: 'open' });
    }
  }

  /** Whatever was lost is there again, unless it is lost for good: then the order is stopped, or the operator answers for it. */
  async #releaseHold({ order, stage }: Sight): Promise<void> {
    await this.#actors.lift(this.orderId);
    const { isLostForGood, isKycLost } = this.#actors;
    if (isLostForGood() && stage === 'funded' && this.plan.direction === 'offramp') {
      await this.#act('cancel');
    }
    const mayWaive = ['fiat_received_confirmed', 'dispute_started'].includes(order.status);
    const override = mayWaive && isKycLost() ? { override_kyc: true } : {};
    const released = await this.#operate('hold', { decision: 'release', ...override });
    if (released.status !== 200 && 'override_kyc' in override) {
      await this.#operate('hold', { decision: 'release' });
    }
  }

  async #goOn({ order, stage }: Sight): Promise<void> {
    const { driver } = this.lane;
    const { isLostForGood } = this.#actors;
    if (isLostForGood() && (stage === 'unfunded' || stage === 'funded')) {
      await this.#act('cancel');
      return;
    }
    if (order.allowed_actions.includes('authorize-refund')) {
      await this.#actors.lift(this.orderId);
      await this.#sign('refund', () => driver.refund(this.orderId));
      return;
    }
    switch (order.status as OrderStatus) {
      case 'awaiting_liquidity_provider':
        await this.#actors.lift(this.orderId);
        await this.#event('vendor_accepts');
        return;
      case 'awaiting_vendor_escrow_funding':
        await this.#event('escrow_funded');
        return;
      case 'awaiting_fiat_transfer':
        await this.#act('confirm-payment-sent');
        return;
      case 'fiat_transfer_pending':
        await this.#event('vendor_confirms_fiat');
        return;
      case 'awaiting_crypto_transfer_authorization':
        await this.#actors.lift(this.orderId);
        await this.#sign('fund', () => driver.fund(this.orderId));
        return;
      case 'crypto_received':
        await this.#event('buyer_submits_proof');
        return;
      case 'fiat_payment_started':
        if ((await this.#event('admin_reviews_proof'))?.status !== 200)
          await this.#event('buyer_submits_proof');
        return;
      case 'fiat_payment_review_started':
        await this.#event('proof_accepted');
        return;
      case 'awaiting_fiat_received_confirmation':
        await this.#act('confirm-fiat-received');
        return;
      case 'dispute_started':
        return this.#decideDispute(order);
      default:
    }
  }

  async #decideDispute(order: Wire): Promise<void> {
    const { driver, partner } = this.lane;
    if (order.allowed_actions.includes('authorize-release')) {
      await this.#actors.lift(this.orderId);
      await this.#sign('release', async () => {
        const path = `partner/orders/${this.orderId}/release-authorization-parameters`;
        const { data } = (await this.lane.call('GET', path)).body;
        const signature = await signSafeTransaction(partner.walletPrivateKey as Hex, data.typed_data);
        return driver.act(this.orderId, 'authorize-release', { signature });
      });
      return;
    }
    await this.#actors.lift(this.orderId);
    const decision = this.#isForBuyer ? 'for_buyer' : 'for_seller';
    const decided = await this.#operate('dispute', { decision });
    if (decided.status === 200 && decided.body.data.status !== 'dispute_started') return;
    if (!this.#isForBuyer || this.plan.direction === 'onramp') return;
    const vendor = await this.#fixture.parties.vendorOf(this.orderId);
    await this.#sign('the vendor’s release', async () =>
      vendor.post('sign-release', { release_signature: await vendor.sign('release') }),
    );
  }
}

function keyOf({ order, funds }: Sight): string {
  const deposits = funds.deposits.map(({ deposit_id, status, return: back }: Wire) => [
    deposit_id,
    status,
    back?.waiting_for,
  ]);
  const { held_for_review, escrow } = funds;
  return JSON.stringify([order.status, order.allowed_actions, held_for_review, escrow?.state, deposits]);
}
