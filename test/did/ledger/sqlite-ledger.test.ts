/** The file of the embedded ledger. `ledger.test.ts` has the tests of every ledger. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { operationId } from '../../../src/did/prism/operations.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { openSqliteLedger } from '../../../src/did/ledger/sqlite-ledger.ts'
import { at, published, signedCreate, signedUpdate, suffixOf } from '../prism/_make.ts'
import { add, afterSeconds, clock, openFile, temporaryFile } from './_ledgers.ts'

const suffix = suffixOf()

describe('the file', () => {
  test('keeps everything across opening', async () => {
    const path = temporaryFile()
    const first = await openSqliteLedger(path, { now: () => at })
    const { operationId: id } = await first.submit(signedCreate())
    await first.submit(signedUpdate(published(), add('key-2')))
    const state = await first.getState(suffix)
    await first.close()
    const second = await openFile(path)
    expect(await second.getState(suffix)).toEqual(state)
    expect(await second.getOperation(id)).toMatchObject({ status: 'confirmed' })
  })

  test('another process sees new operations, though both cache states', async () => {
    const path = temporaryFile()
    const [one, two] = [await openFile(path), await openFile(path)]
    expect(await two.getState(suffix)).toBeUndefined()
    await one.submit(signedCreate())
    expect(await two.getState(suffix)).toEqual(published())
    await two.submit(signedUpdate(published(), add('key-2')))
    expect((await one.getState(suffix))!.publicKeys).toHaveLength(3)
  })

  test('a state is computed once, then cached', async () => {
    const ledger = await openFile(temporaryFile())
    await ledger.submit(signedCreate())
    expect(await ledger.getState(suffix)).toBe(await ledger.getState(suffix))
  })

  test('an operation that could not be stored is not cached', async () => {
    const path = temporaryFile()
    const ledger = await openFile(path)
    const other = openSqlite(path)
    onTestFinished(() => void other.close())
    other.exec("create trigger refuse before insert on master_key begin select raise(abort, 'no'); end")
    await expect(ledger.submit(signedCreate())).rejects.toThrow('no')
    expect(await ledger.getState(suffix)).toBeUndefined()
    expect(await ledger.getOperation(operationId(signedCreate()))).toBeUndefined()
    other.exec('drop trigger refuse')
    await ledger.submit(signedCreate())
    expect(await ledger.getState(suffix)).toEqual(published())
  })

  test('operations without verdict, from an earlier version, are checked on read, and rejected ones stay rejected', async () => {
    const path = temporaryFile()
    const ledger = await openFile(path)
    const [create, update] = [signedCreate(), signedUpdate(published(), add('key-2'))]
    await ledger.submitAll([create, update])
    const other = openSqlite(path)
    onTestFinished(() => void other.close())
    const damaged = Buffer.from(update)
    damaged[20]! ^= 1
    const change = other.prepare(
      'update operation set verdict = ?, signed_operation = ? where operation_id = ?',
    )
    change.run(null, Buffer.from(create).toString('hex'), operationId(create))
    change.run(null, damaged.toString('hex'), operationId(update))
    const fresh = await openFile(path)
    expect(await fresh.getOperation(operationId(create))).toMatchObject({ status: 'confirmed' })
    expect(await fresh.getOperation(operationId(update))).toMatchObject({
      status: 'rejected',
      details: expect.stringContaining('the signature is not by the key'),
    })
    expect(await fresh.getState(suffix)).toEqual(published())
    change.run('rejected', Buffer.from(update).toString('hex'), operationId(update))
    expect(await (await openFile(path)).getState(suffix)).toEqual(published())
  })

  test('an operation without delay stays confirmed when the clock is set back', async () => {
    const path = temporaryFile()
    await (await openFile(path)).submit(signedCreate())
    const earlier = await openFile(path, { now: () => new Date(at.getTime() - 60_000) })
    expect(await earlier.getState(suffix)).toEqual(published())
    expect(await earlier.getOperation(operationId(signedCreate()))).toMatchObject({ status: 'confirmed' })
  })

  test('a file that is not a database, or in a missing folder, is refused', async () => {
    await expect(openSqliteLedger(fileURLToPath(import.meta.url))).rejects.toThrow(/not a database/)
    await expect(openSqliteLedger(join(temporaryFile(), 'nowhere', 'vdr.db'))).rejects.toThrow()
  })

  test('a later operation on the same DID is never due before an earlier one, whatever delay each process uses', async () => {
    const path = temporaryFile()
    const time = clock()
    const slow = await openFile(path, { confirmAfterSeconds: 60, now: time.now })
    const fast = await openFile(path, { confirmAfterSeconds: 0, now: time.now })
    await slow.submit(signedCreate())
    const { operationId: id } = await fast.submit(signedUpdate(published(), add('key-2')))
    expect(await fast.getOperation(id)).toMatchObject({ status: 'pending', confirmsAt: afterSeconds(60) })
    await fast.submit(signedCreate({ services: [] }))
    expect(await slow.getState(suffixOf({ services: [] }))).toBeDefined()
    time.seconds = 60
    expect((await slow.getState(suffix))!.publicKeys).toHaveLength(3)
  })

  test('operations submitted together are one transaction, all or none', async () => {
    const ledger = await openFile(temporaryFile())
    const [first, second] = [signedCreate(), signedUpdate(published(), add('key-2'))]
    await expect(ledger.submitAll([first, new Uint8Array(3)])).rejects.toMatchObject({ type: 'BadRequest' })
    expect(await ledger.findEntry(operationId(first))).toBeUndefined()
    const answer = await ledger.submitAll([first, second])
    expect(answer.operationIds).toEqual([first, second].map(operationId))
    expect(await ledger.listTransaction(answer.transactionId)).toMatchObject([
      {
        operationId: operationId(first),
        sequence: 1,
        position: 0,
        suffix,
        signedOperation: Buffer.from(first),
      },
      { operationId: operationId(second), sequence: 2, position: 1, status: 'confirmed' },
    ])
    expect(await ledger.submitAll([first, second])).toEqual(answer)
    expect(await ledger.submit(second)).toEqual({
      operationId: operationId(second),
      transactionId: answer.transactionId,
    })
    expect(await ledger.findLast()).toMatchObject({ sequence: 2 })
  })

  test('its location is its path', async () => {
    const path = temporaryFile()
    expect((await openFile(path)).location).toBe(path)
  })
})
