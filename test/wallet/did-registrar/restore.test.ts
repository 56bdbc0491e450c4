/** Restoring the DIDs of a seed on an agent that has only the seed and the ledger. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { refusal, until } from '../../support/tenants.ts'
import { withDetail } from '../../support/detail.ts'
import { tenantOf, type Call } from './_seed.ts'
import { untilEnd } from '../../support/shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'identity-agent-ledger-'))
const variables = { VDR_URL: `sqlite:${join(folder, 'vdr.db')}` }
const [first, second] = await Promise.all([untilEnd(startAgent(variables)), untilEnd(startAgent(variables))])
afterAll(async () => {
  rmSync(folder, { recursive: true })
})

const show = (call: Call, didRef: string) => call('GET /did-registrar/dids/{didRef}', { path: { didRef } })

async function publish(call: Call, publicKeys: object[]): Promise<string> {
  const { longFormDid } = await call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys } } as never,
  })
  const { scheduledOperation } = await call('POST /did-registrar/dids/{didRef}/publications', {
    path: { didRef: longFormDid },
  })
  await until(
    'publication',
    () => show(call, longFormDid),
    ({ status }) => status === 'PUBLISHED',
  )
  return scheduledOperation.didRef
}

async function update(call: Call, didRef: string, ...actions: object[]): Promise<void> {
  await call('POST /did-registrar/dids/{didRef}/updates', { path: { didRef }, body: { actions } as never })
  await until(
    'update',
    () => show(call, didRef),
    ({ pendingOperation }) => pendingOperation === undefined,
  )
}

const key = (id: string, purpose = 'assertionMethod', curve = 'secp256k1') => ({ id, purpose, curve })

test('published DIDs are restored with their derived keys, and can be updated', async () => {
  const seed = randomBytes(64).toString('hex')
  const [before, after] = [await tenantOf(first, seed), await tenantOf(second, seed)]
  const plain = await publish(before, [key('a'), key('b')])
  await before('POST /did-registrar/dids', { body: { documentTemplate: {} } })
  const changed = await publish(before, [key('a'), key('auth', 'authentication', 'Ed25519')])
  await update(
    before,
    changed,
    { actionType: 'ADD_KEY', addKey: key('c') },
    { actionType: 'REMOVE_KEY', removeKey: { id: 'a' } },
  )
  const ended = await publish(before, [])
  await before('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef: ended } })
  await until(
    'deactivation',
    () => show(before, ended),
    ({ pendingOperation }) => pendingOperation === undefined,
  )

  expect(await after('GET /did-registrar/dids')).toMatchObject({ contents: [] })
  expect(await after('POST /did-registrar/restorations')).toEqual({
    restored: [
      { did: plain, status: 'PUBLISHED', missingKeys: [] },
      { did: changed, status: 'PUBLISHED', missingKeys: ['auth'] },
      { did: ended, status: 'PUBLISHED', deactivated: true, missingKeys: [] },
    ],
  })
  expect(await after('POST /did-registrar/restorations')).toEqual({ restored: [] })
  expect((await after('GET /did-registrar/dids')).contents.map(({ did }) => did)).toEqual([
    plain,
    changed,
    ended,
  ])

  // The next key and the next DID get the first free index.
  await update(after, changed, { actionType: 'ADD_KEY', addKey: key('d') })
  const { didDocument } = (await (await second.send('GET', `/dids/${changed}`)).json()) as any
  const keys = didDocument.verificationMethod.map(({ publicKeyJwk }: any) => publicKeyJwk.x)
  expect(new Set(keys).size).toBe(3)
  expect(await publish(after, [key('a'), key('b')])).not.toBe(plain)

  expect(
    await refusal(after('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: plain } })),
  ).toMatchObject(withDetail(409, 'published already'))
})

test('a wallet learns from the ledger what another wallet of the same seed changed, and can continue', async () => {
  const seed = randomBytes(64).toString('hex')
  const [one, other] = [await tenantOf(first, seed), await tenantOf(second, seed)]
  const did = await publish(one, [key('a')])
  await other('POST /did-registrar/restorations')
  await update(one, did, { actionType: 'ADD_KEY', addKey: key('b') })

  await update(other, did, { actionType: 'ADD_KEY', addKey: key('c') })
  expect(await show(other, did)).toMatchObject({
    status: 'PUBLISHED',
    metaLastFailure: withDetail(422, 'previous_operation_hash'),
  })
  await update(other, did, { actionType: 'ADD_KEY', addKey: key('c') })
  expect(await show(other, did)).toEqual({ did, status: 'PUBLISHED' })
})

test('a seed without DIDs finds none', async () => {
  expect(
    await (
      await tenantOf(second, randomBytes(64).toString('hex'))
    )('POST /did-registrar/restorations'),
  ).toEqual({ restored: [] })
})
