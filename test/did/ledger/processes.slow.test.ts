/** Several processes with one ledger file, and one that is killed repeatedly. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { operationId } from '../../../src/did/prism/operations.ts'
import type { DidState } from '../../../src/did/prism/state.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import { published, signedCreate, signedUpdate, suffixOf } from '../prism/_make.ts'
import { openFile, openUrl, temporaryFile } from './_ledgers.ts'
import { bundle, type Script } from '../../support/script.ts'

const suffix = suffixOf()
/** How often the ledger is killed. Long runs set 200. */
const kills = Number(process.env['KILLS'] ?? 5)

let scripts: Record<'submit' | 'publish' | 'host', Script>
beforeAll(async () => {
  const [submit, publish, host] = await Promise.all(
    ['_submit.ts', '_publish.ts', '_host.ts'].map((name) => bundle(new URL(name, import.meta.url))),
  )
  scripts = { submit: submit!, publish: publish!, host: host! }
})
afterAll(() => Object.values(scripts).forEach((script) => script[Symbol.dispose]()))

type Entry = { sequence: number; operationId: string; status: string }

/** Every operation of a ledger file in its order. */
function entriesOf(path: string): Entry[] {
  const database = openSqlite(path, { readonly: true })
  try {
    const query =
      'select sequence, operation_id as operationId, verdict as status from operation order by sequence'
    return database.prepare(query).all() as Entry[]
  } finally {
    database.close()
  }
}

const content = (i: number) => ({ contexts: [`https://example.com/${i}`] })

test('200 publications from 4 processes at once: all applied, none twice, in one order', async () => {
  const path = temporaryFile()
  const operations = Array.from({ length: 200 }, (_, i) => signedCreate(content(i)))
  writeFileSync(
    `${path}.json`,
    JSON.stringify(operations.map((operation) => Buffer.from(operation).toString('hex'))),
  )
  const outputs = await Promise.all(
    [0, 1, 2, 3].map((process) => scripts.publish.run(path, `${path}.json`, String(process * 50), '50')),
  )

  const entries = entriesOf(path)
  const ids = operations.map(operationId)
  expect(entries.map((entry) => entry.operationId).toSorted()).toEqual(ids.toSorted())
  expect(new Set(entries.map(({ status }) => status))).toEqual(new Set(['confirmed']))
  // Every process submits these operations in this order, so the ledger has it too.
  const places = new Map(entries.map((entry) => [entry.operationId, entry.sequence]))
  for (const first of [0, 50, 100, 150]) {
    const own = ids.slice(first, first + 50).map((id) => places.get(id)!)
    expect(own).toEqual(own.toSorted((a, b) => a - b))
  }
  for (const output of outputs) {
    const seen = Object.entries(JSON.parse(output) as Record<string, number>)
    expect(seen).toHaveLength(100)
    for (const [id, sequence] of seen) expect(sequence).toBe(places.get(id))
  }
})

test('updates of one DID from 3 processes at once, from the making of the file on: none is lost', async () => {
  const path = temporaryFile()
  const names = ['a', 'b', 'c']
  const each = 10
  await Promise.all(names.map((name) => scripts.submit.run(path, name, String(each))))

  const state = (await (await openFile(path)).getState(suffix)) as DidState
  const added = state.publicKeys.map(({ id }) => id).slice(2)
  expect(added).toHaveLength(names.length * each)
  for (const name of names) {
    expect(added.filter((id) => id.startsWith(`${name}-`))).toEqual(
      Array.from({ length: each }, (_, i) => `${name}-${i}`),
    )
  }
  const statuses = entriesOf(path).map(({ status }) => status)
  // An operation that came too late is not stored.
  expect(statuses).toEqual(Array.from({ length: 1 + added.length }, () => 'confirmed'))
})

/** Retries until the ledger is available. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Problem) || error.type !== 'error:ServiceUnavailable') throw error
      await sleep(2)
    }
  }
}

/**
 * Alternates between publishing a DID and updating another until `isOver`. Appends acknowledged operation ids
 * in order.
 */
async function publish(ledger: Ledger, acknowledged: string[], isOver: () => boolean): Promise<void> {
  const submit = async (operation: Uint8Array) =>
    acknowledged.push((await insist(() => ledger.submit(operation))).operationId)
  let state = published()
  await submit(signedCreate())
  for (let i = 0; !isOver(); i++) {
    await submit(signedCreate(content(i)))
    await submit(signedUpdate(state, [{ action: 'patchContext', contexts: [`https://example.com/${i}`] }]))
    state = (await insist(() => ledger.getState(suffix)))!
    expect(state.contexts).toEqual([`https://example.com/${i}`])
  }
}

test(
  `a ledger that is killed ${kills} times loses nothing and applies nothing twice`,
  { timeout: 30_000 + 3_000 * kills },
  async () => {
    const path = temporaryFile()
    let host = await scripts.host.start(path, '0')
    const port = host.said
    const ledger = openUrl(`http://127.0.0.1:${port}`)
    let isOver = false
    const acknowledged: string[] = []
    const publishing = publish(ledger, acknowledged, () => isOver)
    try {
      for (let kill = 0; kill < kills; kill++) {
        // During one of the first operations after the start.
        const enough = acknowledged.length + 1 + (kill % 5)
        while (acknowledged.length < enough) await Promise.race([sleep(1), publishing])
        await sleep(Math.random() * 8)
        host.process.kill('SIGKILL')
        await once(host.process, 'exit')
        host = await scripts.host.start(path, port)
      }
      isOver = true
      await publishing
      const entries = entriesOf(path)
      expect(entries.map((entry) => entry.operationId)).toEqual(acknowledged)
      expect(new Set(entries.map(({ status }) => status))).toEqual(new Set(['confirmed']))
      expect((await ledger.getState(suffix))!.lastOperationHash).toBe(
        (await (await openFile(path)).getState(suffix))!.lastOperationHash,
      )
    } finally {
      isOver = true
      host.process.kill('SIGKILL')
    }
  },
)
