/** An agent that is killed during an export or import: afterwards it has the whole wallet or none of it. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedAgent } from '../../support/agent.ts'
import { adminToken } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { dyingAt } from '../../support/kill-points.ts'
import { isOnPostgres } from '../../support/store.ts'
import { connect } from '../../support/tenants.ts'
import { exportFrom, passphrase } from './_transfer.ts'

const adminKey = adminToken

/** Sends or requests a file. Returns undefined if the daemon died. */
const send = (daemon: Daemon, path: string, headers: Record<string, string>, body: string | Uint8Array) =>
  fetch(daemon.url + path, {
    method: 'POST',
    headers: { 'x-admin-api-key': adminKey, ...headers },
    body: body as NonNullable<RequestInit['body']>,
  })
    .then(async (response) => ({
      status: response.status,
      content: Buffer.from(await response.arrayBuffer()),
    }))
    .catch(() => undefined)
const importInto = (daemon: Daemon, bytes: Uint8Array) =>
  send(
    daemon,
    '/wallets/import',
    {
      'content-type': 'application/octet-stream',
      'x-passphrase': Buffer.from(passphrase).toString('base64url'),
    },
    bytes,
  )
const move = (daemon: Daemon, walletId: string) =>
  send(
    daemon,
    `/wallets/${walletId}/export`,
    { 'content-type': 'application/json' },
    JSON.stringify({ passphrase, move: true }),
  )

test(
  'at every step of an import, of an export, and of an import that replaces a suspended wallet',
  { timeout: 180_000 },
  async () => {
    let [bytes, later, walletId]: [Uint8Array, Uint8Array, string] = [Buffer.alloc(0), Buffer.alloc(0), '']
    {
      const agent = await sharedAgent()
      const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
      await connect(alice, bob)
      walletId = alice.walletId
      bytes = await exportFrom(agent, walletId)
      await connect(alice, bob)
      await alice.call('POST /presentation-exchange/presentation-definitions', {
        body: { input_descriptors: [] },
      })
      later = await exportFrom(agent, walletId)
    }
    await using daemon = await Daemon.start({
      DEFAULT_WALLET_ENABLED: 'false',
      ...dyingAt('import-file:after'),
    })
    const { dataDir } = daemon
    const here = async () =>
      (await daemon.call(`GET /wallets/${walletId}`, { adminKey })).body as { id?: string; movedAt?: string }
    /** Starts again after a crash, to crash at the next step. */
    const startAgain = async (next: string) => {
      expect(await daemon.stop()).toBe('SIGKILL')
      Object.assign(daemon.env, dyingAt(next))
      await daemon.start()
      expect(existsSync(join(dataDir, 'wallets', 'transit'))).toBe(false)
    }
    /** The numbers of its connections and presentation definitions. */
    const has = async () => {
      const { body: entity } = await daemon.call('POST /iam/entities', {
        adminKey,
        body: { name: 'alice', walletId },
      })
      const { body: key } = await daemon.call(`POST /iam/entities/${entity.id}/api-keys`, {
        adminKey,
        body: {},
      })
      const lists = ['GET /connections', 'GET /presentation-exchange/presentation-definitions']
      return Promise.all(
        lists.map(async (list) => (await daemon.call(list, { apiKey: key.apiKey })).body?.contents?.length),
      )
    }
    const dieOf = async (asked: Promise<unknown>, next: string) => {
      expect(await asked).toBeUndefined()
      await startAgain(next)
    }

    // Before the rows exist, there is nothing; afterwards, the whole wallet.
    for (const next of ['import-rows:before', 'import-rows:after']) {
      await dieOf(importInto(daemon, bytes), next)
      expect(await here(), next).not.toHaveProperty('id')
    }
    await dieOf(importInto(daemon, bytes), 'wallet-copy:before')
    expect(await here()).toMatchObject({ id: walletId })
    expect(await has()).toEqual([1, 0])

    // It is suspended from the first step on, and can be exported again.
    for (const next of ['wallet-copy:after', 'import-rows:before']) {
      await dieOf(move(daemon, walletId), next)
      expect(await here()).toHaveProperty('movedAt')
    }

    // The suspended wallet is the old one or the new one, consistently in its file and in agent.db.
    await dieOf(importInto(daemon, later), 'import-rows:after')
    expect(await here()).toHaveProperty('movedAt')
    await daemon.call(`POST /wallets/${walletId}/resumption`, { adminKey })
    expect(await has()).toEqual([1, 0])
    expect((await move(daemon, walletId))?.status).toBe(200)
    // Over PostgreSQL, the rows are the contents.
    await dieOf(importInto(daemon, later), isOnPostgres ? 'import-rows:after' : 'import-place:after')
    expect(await has()).toEqual([2, 1])
    expect((await move(daemon, walletId))?.status).toBe(200)
    await dieOf(importInto(daemon, bytes), 'no more')
    expect(await has()).toEqual([1, 0])
    expect(readdirSync(join(dataDir, 'wallets')).filter((name) => name.endsWith('.db'))).toEqual(
      isOnPostgres ? [] : [`${walletId}.db`],
    )
  },
)
