/** Finding the record of a message, with and without a connection. */
import { expect, test } from 'vitest'
import { connection } from '../../../src/exchange/protocols/connection/model.ts'
import { findPeers, bindSender, findRecordFor, peersOf } from '../../../src/exchange/protocols/peers.ts'
import { issueCredential } from '../../../src/exchange/issuance/model.ts'
import { advance, begin } from '../../../src/exchange/engine/record.ts'
import type { Tx } from '../../../src/foundation/storage/database.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const invitation = { id: 'i', type: 't', from: 'did:me', invitationUrl: 'u' }
const terms = {
  credentialFormat: 'JWT' as const,
  claims: {},
  schemaIds: [],
  challenge: 'c',
  domain: 'd',
  metaRetries: 5,
}

/** A wallet with a connection and two records: one over the connection, one by an invitation. */
async function start() {
  const wallet = await temporaryWalletDb()
  const { db } = wallet
  const own = (tx: Tx, did: string, record_id: string) =>
    tx.insertInto('peer_did').values({ did, record_id, keys: '', created_at: '' }).execute()
  await db.transaction().execute(async (tx) => {
    const connected = await begin(tx, connection, 'Inviter', 'POST /connections', {
      thid: 'k',
      data: { invitation, metaRetries: 5 },
    })
    await advance(tx, connection, connected, 'received request', { myDid: 'did:us', theirDid: 'did:them' })
    await own(tx, 'did:us', connected.id)
    const over = { thid: 'over', data: { ...terms, connectionId: connected.id } }
    const message = { type: 'offer' as const, from: 'did:us', to: 'did:them', body: {} }
    await begin(tx, issueCredential, 'Issuer', 'POST /issue-credentials/credential-offers', over, message)
    const invited = { thid: 'invited', data: { ...terms, myDid: 'did:me', invitation } }
    const { id } = await begin(
      tx,
      issueCredential,
      'Issuer',
      'POST /issue-credentials/credential-offers/invitation',
      invited,
    )
    await own(tx, 'did:me', id)
  })
  const find = async (from: string, to: string, thid: string, mayAnswer = false) =>
    (await findRecordFor(db, issueCredential, 'Issuer', { from, to, thid }, { mayAnswer }))?.thid
  return { ...wallet, find }
}

test('over a connection a record is found by its thread and both DIDs, before and after the answer', async () => {
  await using wallet = await start()
  for (const mayAnswer of [false, true]) {
    expect(await wallet.find('did:them', 'did:us', 'over', mayAnswer)).toBe('over')
    expect(await wallet.find('did:other', 'did:us', 'over', mayAnswer)).toBeUndefined()
    expect(await wallet.find('did:them', 'did:me', 'over', mayAnswer)).toBeUndefined()
    expect(await wallet.find('did:them', 'did:nobody', 'over', mayAnswer)).toBeUndefined()
    expect(await wallet.find('did:them', 'did:us', 'other', mayAnswer)).toBeUndefined()
  }
})

test('an invitation is found for any sender of an answer to its DID only', async () => {
  await using wallet = await start()
  expect(await wallet.find('did:anybody', 'did:me', 'invited', true)).toBe('invited')
  expect(await wallet.find('did:anybody', 'did:me', 'invited')).toBeUndefined()
  expect(await wallet.find('did:anybody', 'did:us', 'invited', true)).toBeUndefined()
  expect(await wallet.find('did:them', 'did:us', 'invited', true)).toBeUndefined()
  expect(await findPeers(wallet.db, 'did:anybody', 'did:me')).toBeUndefined()
})

test('an answered invitation is found for the sender of the answer only', async () => {
  await using wallet = await start()
  const { db } = wallet
  const answer = { from: 'did:first', to: 'did:me', thid: 'invited' }
  const record = (await findRecordFor(db, issueCredential, 'Issuer', answer, { mayAnswer: true }))!
  await expect(peersOf(db, record)).rejects.toThrow('no other side')
  const bound = await db
    .transaction()
    .execute((tx) => advance(tx, issueCredential, record, 'received request', bindSender(answer, record)))
  expect(await peersOf(db, bound)).toEqual({ myDid: 'did:me', theirDid: 'did:first' })
  for (const mayAnswer of [false, true]) {
    expect(await wallet.find('did:first', 'did:me', 'invited', mayAnswer)).toBe('invited')
    expect(await wallet.find('did:second', 'did:me', 'invited', mayAnswer)).toBeUndefined()
    expect(await wallet.find('did:first', 'did:us', 'invited', mayAnswer)).toBeUndefined()
  }
  expect(await findPeers(db, 'did:first', 'did:me')).toBeUndefined()
})

test('over a connection an answer does not set the other DID', () => {
  expect(bindSender({ from: 'did:them' }, { connectionId: 'c' })).toEqual({})
})
