/** The served ledger stores only operations with a valid signature, within the operator's limits. */
import { statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { encodeOperation, signOperation } from '../../../src/did/prism/operations.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { LedgerServerLimits } from '../../../src/did/ledger/ledger-server.ts'
import { createBytes, key, master, published, secret, signedCreate, signedUpdate } from '../prism/_make.ts'
import { startServer } from '../../support/server.ts'
import { add, openFile, temporaryFile } from './_ledgers.ts'
import { ledgerApp } from './_serve.ts'

async function serve(limits?: Partial<LedgerServerLimits>) {
  const path = temporaryFile()
  const ledger = await openFile(path)
  const server = await startServer(ledgerApp(ledger, limits))
  onTestFinished(() => server[Symbol.asyncDispose]())
  const submit = async (...operations: Uint8Array[]) => {
    const response = await fetch(`${server.url}/api/submissions/signed-operations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        signed_operations: operations.map((bytes) => Buffer.from(bytes).toString('hex')),
      }),
    })
    return { status: response.status, body: (await response.json()) as { error?: string } }
  }
  return { path, ledger, submit }
}

const fresh = (n: number) => ({ contexts: [`https://example.com/${n}`] })
const sizes = (path: string) => ['', '-wal', '-shm'].map((end) => statSync(path + end).size)

/** The same operation, with one bit of its signature changed. */
function damaged(signed: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(signed)
  // Skip `signed_with` ("master0" with its two header bytes), and the headers of the signature, of its DER
  // and of r.
  copy[20]! ^= 1
  return copy
}

test('1,000 operations without a valid signature do not grow the files, and each is refused with a reason', async () => {
  const { path, ledger, submit } = await serve()
  const other = { id: 'master0', secret: secret('master', 1) }
  const state = published()
  expect((await submit(signedCreate())).status).toBe(200)
  const before = sizes(path)

  const deactivate = encodeOperation({
    operation: 'deactivate',
    suffix: state.suffix,
    previousHash: state.lastOperationHash,
  })
  const kinds: [Uint8Array, RegExp][] = [
    // An invalid signature.
    [signedCreate(fresh(1)).map((byte, i) => (i > 11 && i < 80 ? 0x30 : byte)), /bad request: /],
    [damaged(signedCreate(fresh(1))), /the signature is not by the key that signed_with names/],
    [
      signOperation(createBytes(fresh(1)), 'master0', other.secret),
      /the signature is not by the key that signed_with names/,
    ],
    [
      signOperation(createBytes(fresh(1)), 'auth-1', secret('authentication')),
      /signed_with names no active master key/,
    ],
    [signedUpdate(state, add('key-2'), other), /the signature is not by the key that signed_with names/],
    [
      signedUpdate(state, add('key-2'), { id: 'auth-1', secret: secret('authentication') }),
      /signed_with names no active master key/,
    ],
    [damaged(signedUpdate(state, add('key-2'))), /the signature is not by the key that signed_with names/],
    [signedUpdate(published(fresh(1)), add('key-2')), /the DID does not exist/],
    [signOperation(deactivate, 'master1', master), /signed_with names no active master key/],
    // A stored operation with a valid signature.
    [signedCreate(), /the DID exists already/],
  ]
  const count = 1_000 / kinds.length
  for (let n = 0; n < count; n++) {
    // The envelope beside the operation is not signed: an unknown field changes its bytes each time.
    const answers = kinds.map(([signed]) => submit(Buffer.concat([signed, Uint8Array.of(0x7a, 2, n, n)])))
    for (const [i, { status, body }] of (await Promise.all(answers)).entries()) {
      expect([status, body.error]).toEqual([400, expect.stringMatching(kinds[i]![1])])
    }
  }
  expect(sizes(path)).toEqual(before)
  const file = openSqlite(path, { readonly: true })
  onTestFinished(() => void file.close())
  expect(file.prepare('select count(*) from operation').pluck().get()).toBe(1)

  expect((await submit(signedUpdate(state, add('key-2')))).status).toBe(200)
  expect((await ledger.getState(state.suffix))!.publicKeys).toHaveLength(3)
})

test('an operation too large for the served ledger is refused with both sizes', async () => {
  const { submit } = await serve({ operationBytes: 1_024 })
  const publicKeys = [
    key('master0', 'master'),
    ...Array.from({ length: 20 }, (_, n) => key(`auth-${n}`, 'authentication')),
  ]
  const large = signedCreate({ publicKeys })
  expect(await submit(signedCreate(), large)).toMatchObject({
    status: 400,
    body: { error: `bad request: an operation has ${large.length} bytes, more than 1024` },
  })
  expect((await submit(signedCreate())).status).toBe(200)
})

test('a full served ledger refuses operations of others (507), and stores those of its own agent', async () => {
  const { path, ledger, submit } = await serve({ bytes: 131_072 })
  let n = 0
  for (; n < 1_000; n++) if ((await submit(signedCreate(fresh(n)))).status !== 200) break
  expect(n).toBeGreaterThan(10)
  const before = sizes(path)
  expect(await submit(signedCreate(fresh(n)))).toMatchObject({
    status: 507,
    body: { error: expect.stringMatching(/^insufficient storage: .*VDR_BYTES/) },
  })
  expect(sizes(path)).toEqual(before)
  const { operationId } = await ledger.submit(signedCreate(fresh(n)))
  expect(await ledger.getOperation(operationId)).toMatchObject({ status: 'confirmed' })
})
