/** Transitions of records in a wallet database. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { dueJobs } from '../../../src/wallet/outbox/job.ts'
import { connection } from '../../../src/exchange/protocols/connection/model.ts'
import { getRecord } from '../../../src/exchange/engine/find.ts'
import { isPast, type SendsOf } from '../../../src/definitions/machine.ts'
import { advance, updateData, begin, confirmSent } from '../../../src/exchange/engine/record.ts'
import { connectionStates } from '../../../src/definitions/connection.ts'
import { credentialStates } from '../../../src/definitions/issue-credential.ts'
import type { Db, Tx } from '../../../src/foundation/storage/database.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const write = <T>(db: Db, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)
const invitation = { id: 'i', type: 't', from: 'did:peer:2.x', invitationUrl: 'u' }
const invite = (tx: Tx, thid = 'thread') =>
  begin(tx, connection, 'Inviter', 'POST /connections', { thid, data: { invitation, metaRetries: 5 } })
const response = { type: 'response' as const, from: 'did:a', to: 'did:b', body: {} }
const events = async (db: Db) =>
  (await db.selectFrom('event').select('data').orderBy('sequence').execute()).map(
    ({ data }) => JSON.parse(data).state,
  )

test('a transition writes the state, the event and the job, or nothing', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const record = await write(db, invite)
  const received = await write(db, (tx) =>
    advance(tx, connection, record, 'received request', { theirDid: 'did:b' }),
  )
  await expect(
    write(db, async (tx) => {
      await advance(tx, connection, received, 'accept', {}, response)
      throw new Error('power cut')
    }),
  ).rejects.toThrow('power cut')
  expect(await getRecord(db, connection, record.id)).toEqual(received)
  expect((await dueJobs(db)).jobs).toEqual([])

  await write(db, (tx) => advance(tx, connection, received, 'accept', {}, response))
  expect(await events(db)).toEqual([
    'InvitationGenerated',
    'ConnectionRequestReceived',
    'ConnectionResponsePending',
  ])
  expect((await dueJobs(db)).jobs.map(({ body }) => body)).toEqual([
    {
      kind: 'message',
      protocol: 'connection',
      recordId: record.id,
      from: 'did:a',
      to: 'did:b',
      message: { type: 'https://atalaprism.io/mercury/connections/1.0/response', thid: 'thread', body: {} },
    },
  ])
})

test('one of two concurrent transitions succeeds, and the other fails as it would later', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const record = await write(db, (tx) => invite(tx))
  const both = await Promise.allSettled(
    [1, 2].map(() => write(db, (tx) => advance(tx, connection, record, 'received request', {}))),
  )
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { type: 'error:ConnectionServiceError:InvalidStateForOperation', status: 400 },
  })
  expect(await events(db)).toEqual(['InvitationGenerated', 'ConnectionRequestReceived'])
})

test('a second confirmation changes nothing', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const record = await write(db, async (tx) =>
    advance(
      tx,
      connection,
      await advance(tx, connection, await invite(tx), 'received request', {}),
      'accept',
      {},
      response,
    ),
  )
  const sent = await write(db, (tx) => confirmSent(tx, connection, record))
  expect(sent.state).toBe('ConnectionResponseSent')
  expect(await write(db, (tx) => confirmSent(tx, connection, sent))).toEqual(sent)
})

test('a change of data is not a transition: no event, same state', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const record = await write(db, (tx) => invite(tx))
  await write(db, (tx) => updateData(tx, record, { metaRetries: 4 }))
  expect(await getRecord(db, connection, record.id)).toEqual({ ...record, metaRetries: 4 })
  expect(await events(db)).toEqual(['InvitationGenerated'])
})

test('a thread has one record for each role', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const thid = randomUUID()
  await write(db, (tx) => invite(tx, thid))
  await expect(write(db, (tx) => invite(tx, thid))).rejects.toThrow(/UNIQUE/)
})

test('stored data is parsed when it is read', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const { id } = await write(db, (tx) => invite(tx))
  await db.updateTable('record').set({ data: '{}' }).execute()
  await expect(getRecord(db, connection, id)).rejects.toThrow(/invitation/)
})

test('a trigger has passed in every later state, and in no other', () => {
  const accept = 'POST /issue-credentials/records/{recordId}/accept-offer'
  const past = (state: string) => isPast(credentialStates, 'Holder', accept, state)
  expect(
    ['OfferReceived', 'RequestPending', 'RequestSent', 'CredentialReceived', 'OfferPending'].map(past),
  ).toEqual([false, true, true, true, false])
})

test('the compiler knows which transition sends which message', () => {
  const name: SendsOf<typeof connectionStates, 'accept'> = 'response'
  expect(name).toBe('response')
  const never = async (tx: Tx, db: Db) => {
    const record = await invite(tx)
    // @ts-expect-error the transition sends a message
    await advance(tx, connection, record, 'accept', {})
    // @ts-expect-error another message
    await advance(tx, connection, record, 'accept', {}, { ...response, type: 'request' })
    // @ts-expect-error the transition sends no message
    await advance(tx, connection, record, 'received request', {}, response)
    // @ts-expect-error no such trigger
    await advance(tx, connection, record, 'acept', {})
    // @ts-expect-error not in a transaction
    await advance(db, connection, record, 'received request', {})
    // @ts-expect-error no such field
    await advance(tx, connection, record, 'received request', { lable: 'x' })
  }
  expect(never).toBeTypeOf('function')
})
