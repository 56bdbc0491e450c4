/** The generator of keys for definitions: its order, retries, stop and restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addDefinition, findDefinition } from '../../../src/credentials/anoncreds/definitions.ts'
import { openLog } from '../../../src/foundation/log.ts'
import { createGenerator, type GeneratorParts } from '../../../src/credentials/anoncreds/generator.ts'
import type { DefinitionKeys } from '../../../src/credentials/anoncreds/keys.ts'
import { addWallets } from '../../support/wallet-db.ts'
import { openAgentDb } from '../../../src/foundation/storage/database.ts'
import { made } from './_flow.ts'

const input = {
  name: 'id',
  version: '1.0.0',
  tag: 'id',
  author: 'did:web:issuer.example',
  schemaId: 'https://issuer.example/schema',
  signatureType: 'CL' as const,
  supportRevocation: false,
}
const never = new AbortController().signal

/** A registry, and a generator whose keys are ready only when the test provides them. */
async function open(change: Partial<GeneratorParts> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'generator-'))
  const db = await openAgentDb(join(folder, 'agent.db'))
  const ends: (() => void)[] = []
  const kept: string[] = []
  const parts: GeneratorParts = {
    db,
    log: openLog('silent'),
    owns: () => true,
    keys: {
      make: () =>
        new Promise<DefinitionKeys>((_, reject) =>
          ends.push(() => reject(new Error('the process has ended'))),
        ),
      close: () => ends.forEach((end) => end()),
    },
    storeKey: (walletId, guid) => Promise.resolve(void kept.push(`${walletId} ${guid}`)),
    ...change,
  }
  const generator = createGenerator(parts)
  const add = async (walletId: string) => {
    await addWallets(db, walletId)
    const { guid } = await db
      .transaction()
      .execute((tx) => addDefinition(tx, walletId, input, ['age'], 'http'))
    return guid
  }
  return {
    parts,
    generator,
    add,
    kept,
    begun: () => ends.length,
    state: async (guid: string) => (await findDefinition(db, guid))!.record.state,
    async [Symbol.asyncDispose]() {
      await generator.close()
      await db.destroy()
      rmSync(folder, { recursive: true })
    },
  }
}

test('wallets take turns, however many definitions each of them has', async () => {
  await using registry = await open({ keys: { make: () => Promise.resolve(made), close: () => {} } })
  const guids = [
    await registry.add('greedy'),
    await registry.add('greedy'),
    await registry.add('greedy'),
    await registry.add('modest'),
  ]
  const all = guids.map((guid) => registry.generator.whenGenerated(guid, never))
  registry.generator.wake()
  await Promise.all(all)
  expect(registry.kept.map((each) => each.split(' ')[0])).toEqual(['greedy', 'modest', 'greedy', 'greedy'])
  expect(await Promise.all(guids.map(registry.state))).toEqual(Array.from({ length: 4 }, () => 'READY'))
})

test('the private key is stored before the definition is published', async () => {
  await using registry = await open({ keys: { make: () => Promise.resolve(made), close: () => {} } })
  const guid = await registry.add('w')
  let stateWhenKept: string | undefined
  registry.parts.storeKey = async () => void (stateWhenKept = await registry.state(guid))
  const generator = createGenerator(registry.parts)
  const generated = generator.whenGenerated(guid, never)
  generator.wake()
  await generated
  expect([stateWhenKept, await registry.state(guid)]).toEqual(['GENERATING', 'READY'])
})

test('a failure is reported to waiters and retried; other definitions continue', async () => {
  let failures = 0
  const storeKey: GeneratorParts['storeKey'] = (walletId) =>
    walletId === 'broken' && failures++ === 0
      ? Promise.reject(new Error('the disk is full'))
      : Promise.resolve()
  await using registry = await open({
    storeKey,
    keys: { make: () => Promise.resolve(made), close: () => {} },
    retryMs: 1,
  })
  const [broken, sound] = [await registry.add('broken'), await registry.add('sound')]
  const [first, other] = [broken, sound].map((guid) => registry.generator.whenGenerated(guid, never))
  registry.generator.wake()
  await expect(first).rejects.toThrow('the disk is full')
  await other
  await registry.generator.whenGenerated(broken, AbortSignal.timeout(20_000))
  expect(await registry.state(broken)).toBe('READY')
})

test('close ends a running generation and all waits; the next start continues', async () => {
  await using registry = await open()
  const guid = await registry.add('w')
  const waiting = registry.generator.whenGenerated(guid, never)
  registry.generator.wake()
  await expect.poll(registry.begun).toBe(1)
  await registry.generator.close()
  await waiting
  expect(await registry.state(guid)).toBe('GENERATING')

  const next = createGenerator({
    ...registry.parts,
    keys: { make: () => Promise.resolve(made), close: () => {} },
  })
  const generated = next.whenGenerated(guid, never)
  next.wake()
  await generated
  expect(await registry.state(guid)).toBe('READY')
})
