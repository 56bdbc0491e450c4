import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { encodeOperation, operationId, signOperation } from '../../src/did/prism/operations.ts'
import { apply, type DidState } from '../../src/did/prism/state.ts'
import { openSqlite } from '../../src/storage/sqlite.ts'
import { openSqliteLedger, type SqliteLedgerOptions } from '../../src/vdr/sqlite-ledger.ts'
import { at, key, master, published, secret, signedCreate, signedDeactivate, signedUpdate, suffixOf } from '../did/prism/_make.ts'

const suffix = suffixOf()
const add = (id: string) => [{ action: 'addKey' as const, key: key(id, 'authentication') }]

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'vdr.db')
}

async function open(path: string, options: SqliteLedgerOptions = {}) {
  const ledger = await openSqliteLedger(path, { now: () => at, ...options })
  onTestFinished(() => ledger.close())
  return ledger
}

/** A clock to be moved, in seconds after `at`. */
function clock() {
  const time = { seconds: 0, now: () => new Date(at.getTime() + time.seconds * 1_000) }
  return time
}

const afterSeconds = (seconds: number) => new Date(at.getTime() + seconds * 1_000).toISOString()

describe('without wait', () => {
  test('what is submitted is confirmed in the same call', async () => {
    const ledger = await open(temporaryFile())
    const answer = await ledger.submit(signedCreate())
    expect(answer).toEqual({ operationId: operationId(signedCreate()), transactionId: operationId(signedCreate()) })
    expect(await ledger.getOperation(answer.operationId)).toEqual({
      operationId: answer.operationId,
      status: 'confirmed',
      submittedAt: at.toISOString(),
      confirmsAt: at.toISOString(),
    })
    expect(await ledger.getState(suffix)).toEqual(published())
  })

  test('create, update and deactivate make the state that the rules make', async () => {
    const ledger = await open(temporaryFile())
    await ledger.submit(signedCreate())
    const update = signedUpdate(published(), add('key-2'))
    await ledger.submit(update)
    const changed = apply(published(), update, at)
    expect(await ledger.getState(suffix)).toEqual(changed)
    await ledger.submit(signedDeactivate(changed))
    expect(await ledger.getState(suffix)).toMatchObject({ deactivated: true, publicKeys: [] })
  })

  test('an operation that breaks a rule is rejected with the reason, and changes nothing', async () => {
    const ledger = await open(temporaryFile())
    await ledger.submit(signedCreate())
    const bad: [Uint8Array, RegExp][] = [
      [signedUpdate(published(), [{ action: 'removeKey', id: 'master0' }]), /no master key/],
      [signedUpdate(published(), add('key-2'), { id: 'master0', secret: secret('master', 1) }), /not by the key/],
      [signedUpdate(published({ services: [] }), add('key-2')), /does not exist/],
      [signedCreate({ publicKeys: [key('a', 'authentication')] }), /no master key/],
    ]
    for (const [signed, reason] of bad) {
      const answer = await ledger.submit(signed)
      const operation = await ledger.getOperation(answer.operationId)
      expect(operation).toMatchObject({ status: 'rejected' })
      expect(operation!.details).toMatch(reason)
    }
    expect(await ledger.getState(suffix)).toEqual(published())
    expect(await ledger.getState(suffixOf({ services: [] }))).toBeUndefined()
  })

  test('a rejected operation does not stand in the way of the next', async () => {
    const ledger = await open(temporaryFile())
    await ledger.submit(signedUpdate(published(), add('early')))
    await ledger.submit(signedCreate())
    await ledger.submit(signedUpdate(published(), add('key-2')))
    expect((await ledger.getState(suffix))!.publicKeys.map(({ id }) => id)).toEqual(['auth-1', 'master0', 'key-2'])
  })

  test('the same bytes again change nothing and answer the same', async () => {
    const ledger = await open(temporaryFile())
    const first = await ledger.submit(signedCreate())
    await ledger.submit(signedUpdate(published(), add('key-2')))
    const state = await ledger.getState(suffix)
    expect(await ledger.submit(signedCreate())).toEqual(first)
    expect(await ledger.getOperation(first.operationId)).toMatchObject({ status: 'confirmed' })
    expect(await ledger.getState(suffix)).toEqual(state)
  })

  test('of two creates of one DID in different envelopes, the first counts', async () => {
    const ledger = await open(temporaryFile())
    const publicKeys = [key('master0', 'master'), key('master1', 'master', 1)]
    const bytes = encodeOperation({ operation: 'create', publicKeys, services: [], contexts: [] })
    const [first, second] = [signOperation(bytes, 'master0', master), signOperation(bytes, 'master1', secret('master', 1))]
    await ledger.submit(first)
    const { operationId: id } = await ledger.submit(second)
    expect(await ledger.getOperation(id)).toMatchObject({ status: 'rejected', details: 'the DID exists already' })
  })

  test.each([
    ['nothing', new Uint8Array(0)],
    ['noise', new Uint8Array(40).fill(255)],
    ['an operation without envelope', encodeOperation({ operation: 'deactivate', suffix: 'ab'.repeat(32), previousHash: '' })],
    [
      'an operation on no DID',
      signOperation(encodeOperation({ operation: 'deactivate', suffix: '2', previousHash: '' }), 'master0', master),
    ],
    ['a storage operation', signOperation(Uint8Array.of(0x3a, 0x00), 'master0', master)],
  ])('%s is not taken', async (_name, bytes) => {
    const ledger = await open(temporaryFile())
    await expect(ledger.submit(bytes)).rejects.toSatisfy((error) => error instanceof Problem && error.type === 'BadRequest')
    expect(await ledger.getOperation(operationId(bytes))).toBeUndefined()
  })

  test('an id it does not know is nothing, in capitals it is the same', async () => {
    const ledger = await open(temporaryFile())
    const { operationId: id } = await ledger.submit(signedCreate())
    expect(await ledger.getOperation('00'.repeat(32))).toBeUndefined()
    expect(await ledger.getOperation(id.toUpperCase())).toMatchObject({ operationId: id })
  })
})

describe('with a wait', () => {
  test('an operation is pending, says until when, and counts from then on', async () => {
    const time = clock()
    const ledger = await open(temporaryFile(), { confirmAfterSeconds: 60, now: time.now })
    const { operationId: id } = await ledger.submit(signedCreate())
    expect(await ledger.getOperation(id)).toEqual({
      operationId: id,
      status: 'pending',
      submittedAt: at.toISOString(),
      confirmsAt: afterSeconds(60),
    })
    expect(await ledger.getState(suffix)).toBeUndefined()
    time.seconds = 59.999
    expect(await ledger.getState(suffix)).toBeUndefined()
    expect(await ledger.getOperation(id)).toMatchObject({ status: 'pending' })
    time.seconds = 60
    expect(await ledger.getOperation(id)).toMatchObject({ status: 'confirmed', confirmsAt: afterSeconds(60) })
    expect((await ledger.getState(suffix))!.createdAt).toBe(afterSeconds(60))
  })

  test('the state itself confirms what has come due, at the time it came due', async () => {
    const time = clock()
    const ledger = await open(temporaryFile(), { confirmAfterSeconds: 60, now: time.now })
    await ledger.submit(signedCreate())
    time.seconds = 30
    await ledger.submit(signedUpdate(published(), add('key-2')))
    time.seconds = 75
    expect((await ledger.getState(suffix))!.publicKeys).toHaveLength(2)
    time.seconds = 1_000_000
    expect(await ledger.getState(suffix)).toMatchObject({ createdAt: afterSeconds(60), updatedAt: afterSeconds(90) })
  })

  test('what breaks a rule is known to be rejected only when its time has come', async () => {
    const time = clock()
    const ledger = await open(temporaryFile(), { confirmAfterSeconds: 60, now: time.now })
    await ledger.submit(signedCreate())
    const ids = await Promise.all(['one', 'two'].map(async (id) => (await ledger.submit(signedUpdate(published(), add(id)))).operationId))
    time.seconds = 10
    for (const id of ids) expect(await ledger.getOperation(id)).toMatchObject({ status: 'pending' })
    time.seconds = 60
    expect(await Promise.all(ids.map(async (id) => (await ledger.getOperation(id))!.status))).toEqual(['confirmed', 'rejected'])
  })

  test('a later operation on the same DID is never due before an earlier one, whatever each process waits', async () => {
    const path = temporaryFile()
    const time = clock()
    const slow = await open(path, { confirmAfterSeconds: 60, now: time.now })
    const fast = await open(path, { confirmAfterSeconds: 0, now: time.now })
    await slow.submit(signedCreate())
    const { operationId: id } = await fast.submit(signedUpdate(published(), add('key-2')))
    expect(await fast.getOperation(id)).toMatchObject({ status: 'pending', confirmsAt: afterSeconds(60) })
    await fast.submit(signedCreate({ services: [] }))
    expect(await slow.getState(suffixOf({ services: [] }))).toBeDefined()
    time.seconds = 60
    expect((await slow.getState(suffix))!.publicKeys).toHaveLength(3)
  })
})

describe('the file', () => {
  test('keeps everything for the next opening', async () => {
    const path = temporaryFile()
    const first = await openSqliteLedger(path, { now: () => at })
    const { operationId: id } = await first.submit(signedCreate())
    await first.submit(signedUpdate(published(), add('key-2')))
    const state = await first.getState(suffix)
    await first.close()
    const second = await open(path)
    expect(await second.getState(suffix)).toEqual(state)
    expect(await second.getOperation(id)).toMatchObject({ status: 'confirmed' })
  })

  test('shows one opening what another wrote, though both remember states', async () => {
    const path = temporaryFile()
    const [one, two] = [await open(path), await open(path)]
    expect(await two.getState(suffix)).toBeUndefined()
    await one.submit(signedCreate())
    expect(await two.getState(suffix)).toEqual(published())
    await two.submit(signedUpdate(published(), add('key-2')))
    expect((await one.getState(suffix))!.publicKeys).toHaveLength(3)
  })

  test('a state is folded once, then remembered', async () => {
    const ledger = await open(temporaryFile())
    await ledger.submit(signedCreate())
    expect(await ledger.getState(suffix)).toBe(await ledger.getState(suffix))
  })

  test('a verdict that could not be written is not remembered', async () => {
    const path = temporaryFile()
    const ledger = await open(path)
    const other = openSqlite(path)
    onTestFinished(() => void other.close())
    other.exec("create trigger refuse before update on operation begin select raise(abort, 'no'); end")
    await expect(ledger.submit(signedCreate())).rejects.toThrow('no')
    expect(await ledger.getState(suffix)).toBeUndefined()
    expect(await ledger.getOperation(operationId(signedCreate()))).toBeUndefined()
    other.exec('drop trigger refuse')
    await ledger.submit(signedCreate())
    expect(await ledger.getState(suffix)).toEqual(published())
  })

  test('a file that is no database is refused, and a missing folder', async () => {
    await expect(openSqliteLedger(fileURLToPath(import.meta.url))).rejects.toThrow(/not a database/)
    await expect(openSqliteLedger(join(temporaryFile(), 'nowhere', 'vdr.db'))).rejects.toThrow()
  })
})

describe('several processes', () => {
  const run = promisify(execFile)
  const writer = fileURLToPath(new URL('_submit.ts', import.meta.url))

  test('write one file at once, from its making on, and lose nothing', { timeout: 60_000 }, async () => {
    const path = temporaryFile()
    const names = ['a', 'b', 'c']
    const each = 10
    const outputs = await Promise.all(names.map((name) => run(process.execPath, ['--import', 'tsx', writer, path, name, String(each)])))
    const rejected = outputs.reduce((sum, { stdout }) => sum + Number(stdout), 0)

    const ledger = await open(path)
    const state = (await ledger.getState(suffix)) as DidState
    const added = names.flatMap((name) => Array.from({ length: each }, (_, i) => `${name}-${i}`))
    expect(
      state.publicKeys
        .map(({ id }) => id)
        .slice(2)
        .toSorted(),
    ).toEqual(added.toSorted())
    for (const name of names) {
      const own = state.publicKeys.map(({ id }) => id).filter((id) => id.startsWith(`${name}-`))
      expect(own).toEqual(Array.from({ length: each }, (_, i) => `${name}-${i}`))
    }

    const database = openSqlite(path, { readonly: true })
    onTestFinished(() => void database.close())
    const counts = database.prepare('select verdict, count(*) as n from operation group by verdict order by verdict').all()
    expect(counts).toEqual([{ verdict: 'confirmed', n: 1 + added.length }, ...(rejected > 0 ? [{ verdict: 'rejected', n: rejected }] : [])])
  })
})
