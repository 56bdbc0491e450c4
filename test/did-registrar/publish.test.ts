/** Publication of DIDs: an event when the ledger confirms it, a failure on the DID when it does not. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { createDid } from '../../src/did-registrar/create.ts'
import { getDidRow, toDetail } from '../../src/did-registrar/dids.ts'
import { publishDid } from '../../src/did-registrar/operation.ts'
import { submitTask } from '../../src/did-registrar/submit.ts'
import { deactivateDid, updateDid } from '../../src/did-registrar/update.ts'
import type { Ledger } from '../../src/vdr/ledger.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { LaterError } from '../../src/wallet/task.ts'
import { startAgent, type TestAgent } from '../_agent.ts'

const template = { documentTemplate: { publicKeys: [], internalKeys: [], services: [], contexts: [] } }
const down = new Problem('error:ServiceUnavailable', 'The ledger at http://ledger.example does not answer.')

/** The same wallet before the agent's ledger, which behaves differently in one respect. */
function before(wallet: Wallet, strange: Partial<Ledger>): Wallet {
  return { ...wallet, env: { ...wallet.env, ledger: { ...wallet.env.ledger, ...strange } } }
}

let agent: TestAgent
beforeAll(async () => {
  agent = await startAgent()
  await agent.agent.worker[Symbol.asyncDispose]()
})
afterAll(() => agent[Symbol.asyncDispose]())

/** A new wallet, which no worker serves, and one DID of it that is about to be published. */
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

async function shown(wallet: Wallet, did: string) {
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
    expect(await shown(wallet, did)).toMatchObject({
      did: { status: 'PUBLICATION_PENDING', pendingOperation: id },
      events: [],
    })
    for (let times = 0; times < 2; times++) await wallet.transaction(await submitTask(wallet, id))
    expect(await shown(wallet, did)).toEqual({
      did: { did, status: 'PUBLISHED' },
      events: [['DIDStatusUpdated', { did, status: 'PUBLISHED' }]],
    })
  }))

test('a rejected publication of a DID that the ledger shows all the same is one: another wallet of the seed was quicker', () =>
  pending(async (wallet, did, id) => {
    await wallet.transaction(await submitTask(before(wallet, status(id, 'rejected')), id))
    expect(await shown(wallet, did)).toMatchObject({
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
    const refusing = before(wallet, { ...nowhere, ...status(id, 'rejected', { details: 'of the weather' }) })
    await wallet.transaction(await submitTask(refusing, id))
    expect(await shown(wallet, did)).toMatchObject({
      did: {
        status: 'CREATED',
        metaLastFailure: { status: 422, detail: expect.stringContaining('of the weather') },
      },
      events: [],
    })
    expect(await publishDid(wallet, did)).toEqual({ scheduledOperation: { id, didRef: did } })
    await wallet.transaction(await submitTask(wallet, id))
    expect((await shown(wallet, did)).did).toEqual({ did, status: 'PUBLISHED' })
  }))

test('an operation that the ledger refuses is rejected', () =>
  pending(async (wallet, did, id) => {
    const submit = () => Promise.reject(new Problem('BadRequest', 'too large'))
    await wallet.transaction(
      await submitTask(before(wallet, { submit, getState: () => Promise.resolve(undefined) }), id),
    )
    expect((await shown(wallet, did)).did).toMatchObject({
      status: 'CREATED',
      metaLastFailure: { detail: expect.stringContaining('too large') },
    })
  }))

test('a ledger that is away delays it, and the DID says so until it is back', () =>
  pending(async (wallet, did, id) => {
    const away = before(wallet, {
      submit: () => Promise.reject(down),
      getOperation: () => Promise.reject(down),
    })
    await expect(submitTask(away, id)).rejects.toThrow(down)
    expect((await shown(wallet, did)).did).toMatchObject({
      status: 'PUBLICATION_PENDING',
      metaLastFailure: { status: 503, type: 'error:ServiceUnavailable', detail: down.message },
    })
    await wallet.transaction(await submitTask(wallet, id))
    expect((await shown(wallet, did)).did).toEqual({ did, status: 'PUBLISHED' })
  }))

test('an operation that waits at the ledger is handed in once, and asked for when it is due', () =>
  pending(async (wallet, _did, id) => {
    const confirmsAt = new Date(Date.now() + 60_000).toISOString()
    let handedIn = 0
    const submit = () => Promise.resolve({ operationId: id, transactionId: String(handedIn++) })
    const told = await submitTask(
      before(wallet, { submit, ...status(id, 'pending', { confirmsAt }) }),
      id,
    ).catch((error: unknown) => error)
    expect(told).toBeInstanceOf(LaterError)
    // As many milliseconds from now by the clock that is not set, which may be a few away from the system's.
    expect(Math.abs((told as LaterError).at.getTime() - Date.parse(confirmsAt))).toBeLessThan(1_000)
    // This ledger does not say when: between a second and half a minute from now.
    const vague = before(wallet, { submit, getOperation: () => Promise.resolve(undefined) })
    const untold = (await submitTask(vague, id).catch((error: unknown) => error)) as LaterError
    expect(untold.at.getTime() - Date.now()).toBeGreaterThan(500)
    expect(untold.at.getTime() - Date.now()).toBeLessThan(31_000)
    expect(handedIn).toBe(1)
  }))

test('a ledger whose answer gets lost after it took an operation in does not get it again', () =>
  pending(async (wallet, did, id) => {
    let handedIn = 0
    const submit = () => Promise.resolve({ operationId: id, transactionId: String(handedIn++) })
    const deaf = before(wallet, { submit, getOperation: () => Promise.reject(down) })
    for (let times = 0; times < 3; times++) await expect(submitTask(deaf, id)).rejects.toThrow(down)
    expect(handedIn).toBe(1)
    expect((await shown(wallet, did)).did.status).toBe('PUBLICATION_PENDING')
  }))

test('a confirmation without the changed state is not trusted', () =>
  pending(async (wallet, did, id) => {
    const lying = before(wallet, { ...status(id, 'confirmed'), getState: () => Promise.resolve(undefined) })
    await expect(submitTask(lying, id)).rejects.toThrow(/does not return the changed state/)
    expect(await shown(wallet, did)).toMatchObject({ did: { status: 'PUBLICATION_PENDING' }, events: [] })

    await wallet.transaction(await submitTask(wallet, id))
    const { scheduledOperation } = await deactivateDid(wallet, did)
    const submit = () => Promise.resolve({ operationId: scheduledOperation.id, transactionId: '' })
    const stale = before(wallet, { submit, ...status(scheduledOperation.id, 'confirmed') })
    await expect(submitTask(stale, scheduledOperation.id)).rejects.toThrow(
      /does not return the changed state/,
    )
    expect((await shown(wallet, did)).did).toMatchObject({
      pendingOperation: scheduledOperation.id,
      metaLastFailure: { status: 503 },
    })
  }))

const patch = (context: string) => ({
  actions: [{ actionType: 'PATCH_CONTEXT' as const, patchContext: { contexts: [context] } }],
})

/** Brings an operation to the ledger, as the worker does, which has not noted it yet. */
async function bringUnnoted(wallet: Wallet, id: string): Promise<void> {
  const { signed_operation } = await wallet.db
    .selectFrom('did_operation')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await wallet.env.ledger.submit(Buffer.from(signed_operation, 'hex'))
}

test('a change is accepted as soon as the ledger shows the one before it, also when the wallet has not noted that yet', () =>
  pending(async (wallet, did, id) => {
    await bringUnnoted(wallet, id)
    const { scheduledOperation: first } = await updateDid(wallet, did, patch('https://example.com/1'))
    expect((await shown(wallet, did)).events).toEqual([['DIDStatusUpdated', { did, status: 'PUBLISHED' }]])
    await expect(updateDid(wallet, did, patch('https://example.com/2'))).rejects.toMatchObject({
      status: 409,
    })

    await bringUnnoted(wallet, first.id)
    const noteFirst = await submitTask(wallet, first.id)
    const { scheduledOperation: second } = await updateDid(wallet, did, patch('https://example.com/2'))
    // The worker was about to note what has been noted since.
    await wallet.transaction(noteFirst)
    expect(await shown(wallet, did)).toMatchObject({
      did: { status: 'PUBLISHED', pendingOperation: second.id },
    })

    await bringUnnoted(wallet, second.id)
    const away = before(wallet, { getOperation: () => Promise.reject(down) })
    await expect(updateDid(away, did, patch('https://example.com/3'))).rejects.toMatchObject({ status: 409 })
    await deactivateDid(wallet, did)
  }))
