/** Publication of DIDs: an event when the ledger confirms it, a failure on the DID when it does not. */
import { expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { createPrismDid as createDid } from '../../../src/wallet/did-registrar/prism.ts'
import { getDidRow, toDetail } from '../../../src/wallet/did-registrar/dids.ts'
import { submitTask } from '../../../src/wallet/did-registrar/submit.ts'
import { deactivateDid, publishDid, updateDid } from '../../../src/wallet/did-registrar/registrar.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import { LaterError, type Wallet } from '../../../src/wallet/wallet.ts'
import { startAgent } from '../../support/agent.ts'
import { withDetail } from '../../support/detail.ts'
import { untilEnd } from '../../support/shared.ts'

const template = { documentTemplate: { publicKeys: [], internalKeys: [], services: [], contexts: [] } }
const down = new Problem('error:ServiceUnavailable', 'The ledger at http://ledger.example does not answer.')

/** The same wallet, with changes to the agent's ledger. */
function withLedger(wallet: Wallet, changes: Partial<Ledger>): Wallet {
  return { ...wallet, env: { ...wallet.env, ledger: { ...wallet.env.ledger, ...changes } } }
}

const agent = await untilEnd(startAgent())
await agent.agent.worker[Symbol.asyncDispose]()

/** A new wallet without a worker, and a DID in it that is about to be published. */
async function pending(
  use: (wallet: Wallet, did: string, operationId: string) => Promise<void>,
): Promise<void> {
  const { walletId } = await agent.newTenant()
  await agent.agent.wallets.use(walletId, async (wallet) => {
    const { did } = await getDidRow(wallet.db, await createDid(wallet, template))
    const { scheduledOperation } = await publishDid(wallet, did)
    await use(wallet, did, scheduledOperation.id)
  })
}

async function stateOf(wallet: Wallet, did: string) {
  const events = await wallet.db.selectFrom('event').selectAll().execute()
  return {
    did: toDetail(await getDidRow(wallet.db, did)),
    events: events.map(({ type, data }) => [type, JSON.parse(data)]),
  }
}

const status = (operationId: string, status: 'pending' | 'confirmed' | 'rejected', more: object = {}) => ({
  getOperation: () => Promise.resolve({ operationId, status, ...more }),
})

test('a confirmed publication is announced once', () =>
  pending(async (wallet, did, id) => {
    expect(await stateOf(wallet, did)).toMatchObject({
      did: { status: 'PUBLICATION_PENDING', pendingOperation: id },
      events: [],
    })
    for (let times = 0; times < 2; times++) await wallet.transaction(await submitTask(wallet, id))
    expect(await stateOf(wallet, did)).toEqual({
      did: { did, status: 'PUBLISHED' },
      events: [['DIDStatusUpdated', { did, status: 'PUBLISHED' }]],
    })
  }))

test('a rejected publication counts as confirmed if the ledger has the DID: another wallet of the seed was faster', () =>
  pending(async (wallet, did, id) => {
    await wallet.transaction(await submitTask(withLedger(wallet, status(id, 'rejected')), id))
    expect(await stateOf(wallet, did)).toMatchObject({
      did: { status: 'PUBLISHED' },
      events: [['DIDStatusUpdated', { did }]],
    })
  }))

test('a rejected publication can be repeated', () =>
  pending(async (wallet, did, id) => {
    const nowhere = {
      submit: () => Promise.resolve({ operationId: id, transactionId: id }),
      getState: () => Promise.resolve(undefined),
    }
    const refusing = withLedger(wallet, {
      ...nowhere,
      ...status(id, 'rejected', { details: 'of the weather' }),
    })
    await wallet.transaction(await submitTask(refusing, id))
    expect(await stateOf(wallet, did)).toMatchObject({
      did: {
        status: 'CREATED',
        metaLastFailure: withDetail(422, 'of the weather'),
      },
      events: [],
    })
    expect(await publishDid(wallet, did)).toEqual({ scheduledOperation: { id, didRef: did } })
    await wallet.transaction(await submitTask(wallet, id))
    expect((await stateOf(wallet, did)).did).toEqual({ did, status: 'PUBLISHED' })
  }))

test('an operation that the ledger refuses is rejected', () =>
  pending(async (wallet, did, id) => {
    const submit = () => Promise.reject(new Problem('BadRequest', 'too large'))
    await wallet.transaction(
      await submitTask(withLedger(wallet, { submit, getState: () => Promise.resolve(undefined) }), id),
    )
    expect((await stateOf(wallet, did)).did).toMatchObject({
      status: 'CREATED',
      metaLastFailure: { detail: expect.stringContaining('too large') },
    })
  }))

test('an unavailable ledger delays a publication, and the DID has the reason until then', () =>
  pending(async (wallet, did, id) => {
    const away = withLedger(wallet, {
      submit: () => Promise.reject(down),
      getOperation: () => Promise.reject(down),
    })
    await expect(submitTask(away, id)).rejects.toThrow(down)
    expect((await stateOf(wallet, did)).did).toMatchObject({
      status: 'PUBLICATION_PENDING',
      metaLastFailure: { status: 503, type: 'error:ServiceUnavailable', detail: down.message },
    })
    await wallet.transaction(await submitTask(wallet, id))
    expect((await stateOf(wallet, did)).did).toEqual({ did, status: 'PUBLISHED' })
  }))

test('a pending operation is submitted once, and read when it is due', () =>
  pending(async (wallet, _did, id) => {
    const confirmsAt = new Date(Date.now() + 60_000).toISOString()
    let submissions = 0
    const submit = () => Promise.resolve({ operationId: id, transactionId: String(submissions++) })
    const error = await submitTask(
      withLedger(wallet, { submit, ...status(id, 'pending', { confirmsAt }) }),
      id,
    ).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(LaterError)
    // The delay is measured with the steady clock, which may differ from the system clock by some
    // milliseconds.
    expect(Math.abs((error as LaterError).at.getTime() - Date.parse(confirmsAt))).toBeLessThan(1_000)
    // This ledger returns no due time: between one second and half a minute from now.
    const withoutTime = withLedger(wallet, { submit, getOperation: () => Promise.resolve(undefined) })
    const undated = (await submitTask(withoutTime, id).catch((error: unknown) => error)) as LaterError
    expect(undated.at.getTime() - Date.now()).toBeGreaterThan(500)
    expect(undated.at.getTime() - Date.now()).toBeLessThan(31_000)
    expect(submissions).toBe(1)
  }))

test('an operation is not submitted again when the answer of the ledger was lost', () =>
  pending(async (wallet, did, id) => {
    let submissions = 0
    const submit = () => Promise.resolve({ operationId: id, transactionId: String(submissions++) })
    const unanswered = withLedger(wallet, { submit, getOperation: () => Promise.reject(down) })
    for (let times = 0; times < 3; times++) await expect(submitTask(unanswered, id)).rejects.toThrow(down)
    expect(submissions).toBe(1)
    expect((await stateOf(wallet, did)).did.status).toBe('PUBLICATION_PENDING')
  }))

test('a confirmation without the changed state is not trusted', () =>
  pending(async (wallet, did, id) => {
    const lying = withLedger(wallet, {
      ...status(id, 'confirmed'),
      getState: () => Promise.resolve(undefined),
    })
    await expect(submitTask(lying, id)).rejects.toThrow(/does not return the changed state/)
    expect(await stateOf(wallet, did)).toMatchObject({ did: { status: 'PUBLICATION_PENDING' }, events: [] })

    await wallet.transaction(await submitTask(wallet, id))
    const { scheduledOperation } = await deactivateDid(wallet, did)
    const submit = () => Promise.resolve({ operationId: scheduledOperation.id, transactionId: '' })
    const stale = withLedger(wallet, { submit, ...status(scheduledOperation.id, 'confirmed') })
    await expect(submitTask(stale, scheduledOperation.id)).rejects.toThrow(
      /does not return the changed state/,
    )
    expect((await stateOf(wallet, did)).did).toMatchObject({
      pendingOperation: scheduledOperation.id,
      metaLastFailure: { status: 503 },
    })
  }))

const patch = (context: string) => ({
  actions: [{ actionType: 'PATCH_CONTEXT' as const, patchContext: { contexts: [context] } }],
})

/** Submits an operation as the worker does, before the worker records it. */
async function submitUnrecorded(wallet: Wallet, id: string): Promise<void> {
  const { signed_operation } = await wallet.db
    .selectFrom('did_operation')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await wallet.env.ledger.submit(Buffer.from(signed_operation, 'hex'))
}

test('a change is accepted once the ledger has confirmed the previous one, even if the wallet has not recorded that', () =>
  pending(async (wallet, did, id) => {
    await submitUnrecorded(wallet, id)
    const { scheduledOperation: first } = await updateDid(wallet, did, patch('https://example.com/1'))
    expect((await stateOf(wallet, did)).events).toEqual([['DIDStatusUpdated', { did, status: 'PUBLISHED' }]])
    await expect(updateDid(wallet, did, patch('https://example.com/2'))).rejects.toMatchObject({
      status: 409,
    })

    await submitUnrecorded(wallet, first.id)
    const noteFirst = await submitTask(wallet, first.id)
    const { scheduledOperation: second } = await updateDid(wallet, did, patch('https://example.com/2'))
    // The worker records the result that was recorded in the meantime.
    await wallet.transaction(noteFirst)
    expect(await stateOf(wallet, did)).toMatchObject({
      did: { status: 'PUBLISHED', pendingOperation: second.id },
    })

    await submitUnrecorded(wallet, second.id)
    const away = withLedger(wallet, { getOperation: () => Promise.reject(down) })
    await expect(updateDid(away, did, patch('https://example.com/3'))).rejects.toMatchObject({ status: 409 })
    await deactivateDid(wallet, did)
  }))
