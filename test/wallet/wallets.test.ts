/** Wallets as encrypted files: created once, and a bounded number open at a time. */
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { findPeerKey, newPeerDid, savePeerDid } from '../../src/wallet/peer-dids.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { isOnPostgres } from '../support/store.ts'
import { connect, refusal } from '../support/tenants.ts'
import { openFiles } from '../foundation/storage/_open-files.ts'

const seed = '0123456789abcdef'.repeat(8)
const start = (variables: Record<string, string> = {}) =>
  startAgent({ DEFAULT_WALLET_ENABLED: 'false', ...variables })
const fileOf = ({ dataDir }: TestAgent, id: string) => join(dataDir, 'wallets', `${id}.db`)
const outcome = (settled: PromiseSettledResult<unknown>) =>
  settled.status === 'fulfilled' ? 'made' : (settled.reason as { type: string }).type

/** The wallet files that this process has open. */
const openWalletsOf = ({ dataDir }: TestAgent) =>
  openFiles().filter((file) => file.startsWith(join(dataDir, 'wallets')) && file.endsWith('.db'))

const testWithFiles = test.skipIf(isOnPostgres || !existsSync('/proc/self/fd'))

/** Stores a secret that can be read back only in the same wallet. */
const remember = (wallet: Wallet, name: string) =>
  wallet.transaction((tx) => tx.insertInto('setting').values({ name, value: wallet.id }).execute())
const names = (wallet: Wallet) =>
  wallet.db
    .selectFrom('setting')
    .select('name')
    .where('name', '!=', 'seed')
    .orderBy('name')
    .execute()
    .then((rows) => rows.map(({ name }) => name))

test('a wallet is a file that only its owner can read, and its seed is nowhere in the folder', async () => {
  await using agent = await start()
  const { id } = await agent.agent.wallets.create({ name: 'alice', seed })
  await agent.agent.wallets.use(id, (wallet) => remember(wallet, 'something'))
  expect(statSync(join(agent.dataDir, 'wallets')).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(join(agent.dataDir, 'wallets'))) {
    expect(statSync(join(agent.dataDir, 'wallets', name)).mode & 0o777, name).toBe(0o600)
  }
  const bytes = Buffer.from(seed, 'hex')
  const forms = [
    bytes,
    Buffer.from(seed),
    Buffer.from(bytes.toString('base64url')),
    Buffer.from(bytes.toString('base64')),
  ]
  for (const file of readdirSync(agent.dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )) {
    const content = readFileSync(join(file.parentPath, file.name))
    for (const form of forms) expect(content.includes(form), file.name).toBe(false)
  }
})

// It examines SQLite files.
test.skipIf(isOnPostgres)(
  'a private key of a connection is encrypted in the file, and opens only in its own wallet',
  async () => {
    await using agent = await start()
    const { wallets } = agent.agent
    const [alice, bob] = [await wallets.create({ name: 'alice' }), await wallets.create({ name: 'bob' })]
    const peer = await wallets.use(alice.id, async (wallet) => {
      const made = newPeerDid(wallet)
      await wallet.transaction((tx) => savePeerDid(tx, wallet, made, randomUUID()))
      return made
    })
    const [kid, key] = Object.entries(peer.keys)[0]!
    expect(await wallets.use(alice.id, (wallet) => findPeerKey(wallet, kid))).toEqual({
      kid,
      privateJwk: key,
    })
    for (const name of readdirSync(join(agent.dataDir, 'wallets'))) {
      expect(readFileSync(join(agent.dataDir, 'wallets', name)).includes(key.d), name).toBe(false)
    }
    const row = await wallets.use(alice.id, ({ db }) =>
      db.selectFrom('peer_did').selectAll().executeTakeFirstOrThrow(),
    )
    await wallets.use(bob.id, async (wallet) => {
      await wallet.transaction((tx) => tx.insertInto('peer_did').values(row).execute())
      await expect(findPeerKey(wallet, kid)).rejects.toThrow()
    })
  },
)

test('an id and a seed are used only once, in any notation of the id, also by concurrent requests', async () => {
  await using agent = await start()
  const { wallets } = agent.agent
  const id = 'abcdefab-cdef-4bcd-8fab-cdefabcdefab'
  const withId = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => wallets.create({ id, name: `number ${n}` })),
  )
  expect(withId.map(outcome)).toEqual([
    'made',
    ...Array<string>(3).fill('error:WalletManagementServiceError:DuplicatedWalletId'),
  ])
  const withSeed = await Promise.allSettled(
    [seed, seed.toUpperCase(), seed].map((text) => wallets.create({ name: 'x', seed: text })),
  )
  expect(withSeed.map(outcome)).toEqual([
    'made',
    ...Array<string>(2).fill('error:WalletManagementServiceError:DuplicatedWalletSeed'),
  ])
  await wallets.use(id, (wallet) => remember(wallet, 'still here'))
  const again = await refusal(agent.admin('POST /wallets', { body: { name: 'again', id: id.toUpperCase() } }))
  expect(again).toMatchObject({ status: 422, type: 'error:WalletManagementServiceError:DuplicatedWalletId' })
  expect(await wallets.use(id, names)).toEqual(['still here'])
  expect((await wallets.list({ offset: 0, limit: 10 })).total).toBe(2)
})

test('a wallet whose id has capitals or an unknown UUID version works like any other', async () => {
  await using agent = await start()
  const { id: walletId } = await agent.admin('POST /wallets', {
    body: { name: 'acme', id: 'ABCDEFAB-1111-1111-1111-ABCDEFABCDEF' },
  })
  const entity = await agent.admin('POST /iam/entities', {
    body: { name: 'acme', walletId: walletId.toUpperCase() },
  })
  await agent.admin('POST /iam/apikey-authentication', {
    body: { entityId: entity.id.toUpperCase(), apiKey: 'the-api-key-of-acme' },
  })
  const other = await agent.newTenant()
  const acme = { ...other, walletId, call: createClient(agent.url, { apikey: 'the-api-key-of-acme' }) }
  await acme.call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:1/' } })
  const { inviterConnectionId } = await connect(acme, other)
  const path = { connectionId: inviterConnectionId.toUpperCase() }
  expect((await acme.call('GET /connections/{connectionId}', { path })).connectionId).toBe(
    inviterConnectionId,
  )
})

testWithFiles('no more wallets stay open than allowed, and each opens again with what it had', async () => {
  await using agent = await start({ AGENT_OPEN_WALLETS: '2' })
  const { wallets } = agent.agent
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.push((await wallets.create({ name: `number ${n}` })).id)
  for (const id of ids) await wallets.use(id, (wallet) => remember(wallet, 'first'))
  for (const id of ids) await wallets.use(id, (wallet) => remember(wallet, 'second'))
  for (const id of ids) expect(await wallets.use(id, names)).toEqual(['first', 'second'])
  await tick()
  expect(openWalletsOf(agent).length).toBeLessThanOrEqual(2)
})

testWithFiles('a wallet in use is not closed, and concurrent uses share one handle', async () => {
  await using agent = await start({ AGENT_OPEN_WALLETS: '1' })
  const { wallets } = agent.agent
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await wallets.create({ name: `number ${n}` })).id)
  const handles = new Set<Wallet>()
  await Promise.all(
    ids.flatMap((id, at) =>
      Array.from({ length: 8 }, (_, n) =>
        wallets.use(id, async (wallet) => {
          if (at === 0) handles.add(wallet)
          for (let ticks = 0; ticks < n + at; ticks++) await tick()
          await remember(wallet, `${n}`)
        }),
      ),
    ),
  )
  expect(handles.size).toBe(1)
  for (const id of ids) expect(await wallets.use(id, names)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  await tick()
  expect(openWalletsOf(agent).length).toBeLessThanOrEqual(1)
})

testWithFiles(
  'a failed opening is retried by the next use, and concurrent openings share one handle',
  async () => {
    await using agent = await start()
    const { wallets } = agent.agent
    const { id } = await wallets.create({ name: 'alice' })
    const path = fileOf(agent, id)
    const good = readFileSync(path)
    writeFileSync(path, 'this is not a database')
    const attempt = () =>
      wallets.use(id, names).then(
        () => 'opened',
        () => 'failed',
      )
    expect(await Promise.all([attempt(), attempt(), attempt()])).toEqual(['failed', 'failed', 'failed'])
    const late = attempt()
    const first = late.then(() => {
      writeFileSync(path, good)
      return attempt()
    })
    expect(await Promise.all([late, attempt(), first, first.then(attempt)])).toEqual([
      'failed',
      'failed',
      'opened',
      'opened',
    ])
    expect(openWalletsOf(agent)).toHaveLength(1)
  },
)

// It examines SQLite files.
test.skipIf(isOnPostgres)('a missing wallet file is not replaced by an empty wallet', async () => {
  await using agent = await start()
  const { wallets } = agent.agent
  const { id } = await wallets.create({ name: 'alice' })
  rmSync(fileOf(agent, id))
  await expect(wallets.use(id, names)).rejects.toThrow(/missing/)
  expect(existsSync(fileOf(agent, id))).toBe(false)
})

test('an exception while a wallet is in use leaves the wallet open for other users', async () => {
  await using agent = await start()
  const { wallets } = agent.agent
  const { id } = await wallets.create({ name: 'alice' })
  const handle = await wallets.use(id, (wallet) => Promise.resolve(wallet))
  await expect(wallets.use(id, () => Promise.reject(new Error('unexpected')))).rejects.toThrow('unexpected')
  expect(await wallets.use(id, (wallet) => Promise.resolve(wallet === handle))).toBe(true)
  await expect(wallets.use(randomUUID(), names)).rejects.toMatchObject({ status: 404 })
})

test('the file of an unknown wallet belongs to no tenant', async () => {
  await using agent = await start()
  const { wallets } = agent.agent
  const id = randomUUID()
  writeFileSync(fileOf(agent, id), 'half of a file that a crash left behind')
  expect((await wallets.create({ id, name: 'alice' })).id).toBe(id)
  expect(await wallets.use(id, names)).toEqual([])
})

// It examines SQLite files.
test.skipIf(isOnPostgres).each(['before', 'after'] as const)(
  'a creation that fails %s the file exists leaves no wallet, and can be repeated',
  async (when) => {
    await using agent = await start()
    const { wallets } = agent.agent
    const probe = Symbol.for('identity-agent.probe')
    const id = randomUUID()
    const fail = (point: string, detail?: { walletId?: string }) => {
      if (point === `wallet-file:${when}` && detail?.walletId === id) throw new Error('the power went')
    }
    Object.assign(globalThis, { [probe]: fail })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, probe))
    await expect(wallets.create({ id, name: 'alice', seed })).rejects.toThrow('the power went')
    expect(await wallets.find(id)).toBeUndefined()
    expect(existsSync(fileOf(agent, id))).toBe(when === 'after')
    Reflect.deleteProperty(globalThis, probe)
    expect((await wallets.create({ id, name: 'alice', seed })).id).toBe(id)
    expect(await wallets.use(id, names)).toEqual([])
  },
)

testWithFiles('nothing is opened once the agent has stopped', async () => {
  await using agent = await start()
  const { wallets } = agent.agent
  const { id } = await wallets.create({ name: 'alice' })
  await wallets[Symbol.asyncDispose]()
  await expect(wallets.use(id, names)).rejects.toThrow(/stopping/)
  expect(openWalletsOf(agent)).toEqual([])
})

test('a closed wallet has no keys, and its error says so', async () => {
  await using agent = await start()
  const { id } = await agent.admin('POST /wallets', { body: { name: 'a', seed } })
  const [wallet, sealed] = await agent.agent.wallets.use(id, (wallet) =>
    Promise.resolve([wallet, wallet.seal('a row', 'a text')] as const),
  )
  expect(wallet.unseal('a row', sealed)).toBe('a text')
  await agent.agent.wallets[Symbol.asyncDispose]()
  const path = { didIndex: 0, usage: 1, keyIndex: 0 }
  for (const use of [
    () => wallet.seal('a row', 'a text'),
    () => wallet.unseal('a row', sealed),
    () => wallet.deriveKey(path),
  ])
    expect(use).toThrow(`the wallet ${id} is closed`)
})
