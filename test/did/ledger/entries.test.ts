/** Storage entries on every ledger, embedded or served by another agent. */
import { describe, expect, test } from 'vitest'
import type { StorageOperation } from '../../../src/did/prism/model.ts'
import { encodeOperation, operationHash, signOperation } from '../../../src/did/prism/operations.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import type { SqliteLedgerOptions } from '../../../src/did/ledger/sqlite-ledger.ts'
import {
  key,
  masterKey,
  published,
  secret,
  signedCreate,
  signedDeactivate,
  signedUpdate,
} from '../prism/_make.ts'
import { clock, openFile, openServed, temporaryFile } from './_ledgers.ts'

const ledgers: [string, (options?: SqliteLedgerOptions) => Promise<Ledger>][] = [
  ['the embedded ledger', (options) => openFile(temporaryFile(), options)],
  ['the same over HTTP', openServed],
]

const keys = { publicKeys: [key('vdr-1', 'vdr'), masterKey] }
const owner = published(keys)
const { suffix } = owner
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

/** A signed operation, and its hash. */
function event(operation: StorageOperation) {
  const encoded = encodeOperation(operation)
  return { signed: signOperation(encoded, 'vdr-1', secret('vdr')), hash: operationHash(encoded) }
}
const creation = (content: string, nonce = '00') =>
  event({ operation: 'createEntry', suffix, nonce: bytes(nonce), content: bytes(content) })
const update = (previousHash: string, content: string) =>
  event({ operation: 'updateEntry', previousHash, content: bytes(content) })
const end = (previousHash: string) => event({ operation: 'deactivateEntry', previousHash })

const refusal = (reason: string) => ({ type: 'BadRequest', message: expect.stringContaining(reason) })
const submit = (ledger: Ledger, { signed }: { signed: Uint8Array }) => ledger.submit(signed)

describe.each(ledgers)('%s', (_name, open) => {
  async function openCreated(): Promise<Ledger> {
    const ledger = await open()
    await ledger.submit(signedCreate(keys))
    return ledger
  }

  test('an entry is created, changed and ended by a chain of operations', async () => {
    const ledger = await openCreated()
    const first = creation('112233')
    const { operationId } = await submit(ledger, first)
    expect(await ledger.getOperation(operationId)).toMatchObject({ status: 'confirmed' })
    const entryId = first.hash
    expect(await ledger.getEntry(entryId)).toEqual({
      entryId,
      lastHash: first.hash,
      suffix,
      content: Buffer.from(bytes('112233')),
    })
    const second = update(first.hash, '445566')
    const third = update(second.hash, '')
    for (const next of [second, third]) await submit(ledger, next)
    expect(await ledger.getEntry(entryId)).toMatchObject({ lastHash: third.hash, content: Buffer.alloc(0) })
    await submit(ledger, end(third.hash))
    expect(await ledger.getEntry(entryId)).toBeUndefined()
    await expect(submit(ledger, update(third.hash, '00'))).rejects.toMatchObject(
      refusal('is not the hash of the last event'),
    )
    const last = end(third.hash)
    await expect(submit(ledger, update(last.hash, '00'))).rejects.toMatchObject(refusal('is deactivated'))
  })

  test('the ids of updates, and other ids, name no entry', async () => {
    const ledger = await openCreated()
    const first = creation('00')
    await submit(ledger, first)
    const second = update(first.hash, '01')
    await submit(ledger, second)
    for (const id of [second.hash, 'f'.repeat(64), 'x', '']) expect(await ledger.getEntry(id)).toBeUndefined()
  })

  test('an operation that follows no last event, or repeats one, is refused', async () => {
    const ledger = await openCreated()
    const first = creation('00')
    await submit(ledger, first)
    await submit(ledger, update(first.hash, '01'))
    for (const [operation, reason] of [
      [update(first.hash, '02'), 'is not the hash of the last event'],
      [end(first.hash), 'is not the hash of the last event'],
      [update('0'.repeat(64), '02'), 'is not an event of a storage entry'],
    ] as const)
      await expect(submit(ledger, operation)).rejects.toMatchObject(refusal(reason))
    // The same bytes have no effect.
    await submit(ledger, first)
    expect((await ledger.getEntry(first.hash))?.content).toEqual(Buffer.from(bytes('01')))
  })

  test('entries and the DID have chains of their own', async () => {
    const ledger = await openCreated()
    const [one, other] = [creation('01', '01'), creation('02', '02')]
    await submit(ledger, one)
    await submit(ledger, other)
    await ledger.submit(signedUpdate(owner, [{ action: 'removeKey', id: 'vdr-1' }]))
    expect((await ledger.getState(suffix))?.publicKeys.map(({ id }) => id)).toEqual([masterKey.id])
    // An entry stays when the key that has signed it is removed, and cannot be changed any more.
    expect((await ledger.getEntry(one.hash))?.content).toEqual(Buffer.from(bytes('01')))
    expect((await ledger.getEntry(other.hash))?.content).toEqual(Buffer.from(bytes('02')))
    await expect(submit(ledger, update(one.hash, '03'))).rejects.toMatchObject(refusal('no active vdr key'))
    await ledger.submit(signedDeactivate((await ledger.getState(suffix))!))
    expect(await ledger.getEntry(one.hash)).toBeUndefined()
  })

  test('an operation takes effect when the ledger confirms it', async () => {
    const time = clock()
    const ledger = await open({ confirmAfterSeconds: 60, now: time.now })
    await ledger.submit(signedCreate(keys))
    time.seconds = 60
    const first = creation('01')
    const { operationId } = await submit(ledger, first)
    const second = update(first.hash, '02')
    time.seconds = 90
    await submit(ledger, second)
    expect(await ledger.getEntry(first.hash)).toBeUndefined()
    expect(await ledger.getOperation(operationId)).toMatchObject({ status: 'pending' })
    time.seconds = 120
    expect((await ledger.getEntry(first.hash))?.content).toEqual(Buffer.from(bytes('01')))
    time.seconds = 150
    expect((await ledger.getEntry(first.hash))?.lastHash).toBe(second.hash)
  })

  test('an operation of a DID that is not on the ledger is refused', async () => {
    const ledger = await open()
    await expect(submit(ledger, creation('00'))).rejects.toMatchObject(refusal('the DID does not exist'))
  })
})

test('a ledger file of the first version gets the table of entries, and keeps its DIDs', async () => {
  const file = temporaryFile()
  const ledger = await openFile(file)
  await ledger.submit(signedCreate(keys))
  await ledger.close()
  const database = openSqlite(file)
  database.exec('drop table storage_event; pragma user_version = 1')
  database.close()
  const again = await openFile(file)
  const first = creation('01')
  await submit(again, first)
  expect((await again.getEntry(first.hash))?.content).toEqual(Buffer.from(bytes('01')))
})
