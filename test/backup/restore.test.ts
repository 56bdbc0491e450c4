/** A backup is whole, and of somebody's, or it is refused; what is restored is a data folder that was not there before. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manifestName } from '../../src/backup/manifest.ts'
import { startAgent } from '../_agent.ts'
import { refusal } from '../_pair.ts'
import { backUp, newPlace, restore, verify } from './_backup.ts'

test(
  'a backup is verified, restored, and served; what is wrong with one is found',
  { timeout: 60_000 },
  async () => {
    const place = await newPlace()
    const [folder, dataDir] = [join(place, 'backup'), join(place, 'data')]
    mkdirSync(dataDir)
    const kept = await (async () => {
      await using agent = await startAgent({ AGENT_MEDIATOR: 'true' }, { dataDir })
      const tenant = await agent.newTenant()
      await tenant.call('POST /connections', { body: { label: 'before' } })
      // Neither an agent's file nor one of a wallet that is known.
      writeFileSync(join(dataDir, 'Notes_of_mine.db'), 'mine')
      writeFileSync(join(dataDir, 'wallets', `${tenant.walletId}.db.damaged-20260101T000000000Z`), 'old')
      const made = await backUp(agent, folder)
      expect(made).toMatchObject({ folder, wallets: 2, files: 6, includesMasterKey: false, missing: [] })
      await tenant.call('POST /connections', { body: { label: 'after' } })
      return { ...tenant, made }
    })()
    expect(readdirSync(folder).toSorted()).toEqual([
      'agent.db',
      'audit.db',
      'backup.json',
      'mediator.db',
      'vdr.db',
      'wallets',
    ])
    for (const name of [folder, join(folder, 'wallets')]) expect(statSync(name).mode & 0o777).toBe(0o700)
    for (const name of ['agent.db', 'backup.json', `wallets/${kept.walletId}.db`])
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)

    // Verifying writes nothing, so a medium that cannot be written to is good enough.
    const { heldMs: _, ...asMade } = kept.made
    expect(await verify(folder, dataDir)).toEqual({ ...asMade, masterKey: 'opens', faults: [] })
    expect(readdirSync(join(folder, 'wallets'))).toHaveLength(2)
    expect(await verify(folder, join(place, 'elsewhere'))).toMatchObject({ masterKey: 'absent', faults: [] })
    const otherKey = { AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url') }
    expect(await verify(folder, dataDir, otherKey)).toMatchObject({ masterKey: 'does not open', faults: [] })

    // Restored beside it, the master key put there, it is what it was at the instant.
    const restored = join(place, 'new', 'restored')
    expect(await restore(folder, restored)).toMatchObject({
      folder: restored,
      masterKey: 'absent',
      faults: [],
    })
    expect(readdirSync(join(place, 'new'))).toEqual(['restored'])
    cpSync(join(dataDir, 'master.key'), join(restored, 'master.key'))
    {
      await using agent = await startAgent({ AGENT_MEDIATOR: 'true' }, { dataDir: restored })
      const answer = await agent.send('GET', '/connections', { headers: { apikey: kept.apiKey } })
      expect(((await answer.json()) as any).contents.map(({ label }: any) => label)).toEqual(['before'])
      expect((await agent.admin('GET /wallets')).contents).toHaveLength(2)
    }
    // Never over something.
    await expect(restore(folder, restored)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('it is not empty'),
    })
    mkdirSync(join(place, 'empty'))
    expect((await restore(folder, join(place, 'empty'))).faults).toEqual([])

    // What is not as it was made. Each is mended before the next.
    const list = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
    const wallet = join(folder, 'wallets', `${kept.walletId}.db`)
    const writeList = (change: object) =>
      writeFileSync(join(folder, manifestName), JSON.stringify({ ...list, ...change }))
    const damages: [what: string, damage: () => void, path: string, reason: string][] = [
      [
        'a letter',
        () =>
          writeFileSync(
            wallet,
            Buffer.from(readFileSync(wallet).toString('latin1').replace('before', 'befoRe'), 'latin1'),
          ),
        `wallets/${kept.walletId}.db`,
        'was changed',
      ],
      [
        'cut',
        () => writeFileSync(wallet, readFileSync(wallet).subarray(0, -4_096)),
        `wallets/${kept.walletId}.db`,
        'instead of',
      ],
      ['gone', () => rmSync(wallet), `wallets/${kept.walletId}.db`, 'is missing'],
      [
        'not in the list',
        () => writeList({ files: list.files.filter(({ path }: any) => !path.includes(kept.walletId)) }),
        `wallets/${kept.walletId}.db`,
        'is not in the manifest',
      ],
      [
        'another instant',
        () => writeList({ instant: new Date(0).toISOString() }),
        'backup.json',
        'was altered',
      ],
      ['another agent’s list', () => writeList({ mac: 'x'.repeat(43) }), 'backup.json', 'was altered'],
      [
        'no agent.db',
        () => writeList({ files: list.files.filter(({ path }: any) => path !== 'agent.db') }),
        'agent.db',
        'is not in the manifest',
      ],
    ]
    const sound = join(place, 'sound')
    cpSync(folder, sound, { recursive: true })
    for (const [what, damage, path, reason] of damages) {
      damage()
      const { faults } = await verify(folder, dataDir)
      expect(faults, what).toContainEqual({ path, reason: expect.stringContaining(reason) })
      const refused = await restore(folder, join(place, 'refused'), {
        AGENT_MASTER_KEY_FILE: join(dataDir, 'master.key'),
      })
      expect(refused.faults, what).toEqual(faults)
      expect(
        readdirSync(place).filter((name) => name.startsWith('refused')),
        what,
      ).toEqual([])
      rmSync(folder, { recursive: true })
      cpSync(sound, folder, { recursive: true })
    }

    // No backup, none of this release, and one that leads elsewhere.
    await expect(verify(join(place, 'none'), dataDir)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('it has no backup.json'),
    })
    for (const [change, message] of [
      [{ format: 2 }, 'newer release'],
      [
        {
          files: list.files.map((file: any) =>
            file.path === 'agent.db' ? { ...file, schema: '999-later' } : file,
          ),
        },
        '999-later is not known',
      ],
      [{ files: [{ ...list.files[0], path: '../../etc/passwd' }] }, 'files.0.path'],
      [{ instant: 1 }, 'instant'],
    ] as const) {
      writeList(change)
      await expect(verify(folder, dataDir)).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringContaining(message),
      })
      await expect(restore(folder, join(place, 'refused'))).rejects.toMatchObject({ exitCode: 1 })
      expect(readdirSync(place).filter((name) => name.startsWith('refused'))).toEqual([])
    }
  },
)

test('the master key is in it when that is asked for, and opens it also after a rotation', async () => {
  await using agent = await startAgent()
  const place = await newPlace()
  expect(await backUp(agent, join(place, 'with'), true)).toMatchObject({ includesMasterKey: true })
  await agent.admin('POST /_system/master-key/rotation', { body: {} })
  expect(await verify(join(place, 'with'), agent.dataDir)).toMatchObject({ masterKey: 'opens' })
  expect(await restore(join(place, 'with'), join(place, 'restored'))).toMatchObject({ masterKey: 'opens' })
  expect(statSync(join(place, 'restored', 'master.key')).mode & 0o777).toBe(0o600)
  await using restored = await startAgent({}, { dataDir: join(place, 'restored') })
  expect((await restored.admin('GET /wallets')).contents).toHaveLength(1)
  rmSync(join(agent.dataDir, 'master.key'))
  const refused = await refusal(backUp(agent, join(place, 'without'), true))
  expect(refused).toMatchObject({ status: 422, type: 'error:BackupError:MasterKeyNotUsable' })
  expect(readdirSync(place).toSorted()).toEqual(['restored', 'with'])
})

test('a wallet whose file is damaged or missing is named, and the others are in the backup', async () => {
  await using agent = await startAgent({ AGENT_OPEN_WALLETS: '1' })
  const place = await newPlace()
  const [gone, damaged, sound] = [await agent.newTenant(), await agent.newTenant(), await agent.newTenant()]
  for (const tenant of [gone, damaged, sound])
    await tenant.call('POST /connections', { body: { label: 'mine' } })
  const pathOf = ({ walletId }: { walletId: string }) => join(agent.dataDir, 'wallets', `${walletId}.db`)
  await expect.poll(() => [gone, damaged].some((tenant) => existsSync(`${pathOf(tenant)}-shm`))).toBe(false)
  renameSync(pathOf(gone), join(place, 'away'))
  writeFileSync(pathOf(damaged), Buffer.alloc(8_192, 1))
  const { missing, wallets } = await backUp(agent, join(place, 'backup'))
  expect(wallets).toBe(2)
  expect(Object.fromEntries(missing.map(({ walletId, reason }) => [walletId, reason]))).toEqual({
    [gone.walletId]: expect.stringContaining('is missing'),
    [damaged.walletId]: expect.stringContaining('damaged'),
  })
  const verified = await verify(join(place, 'backup'), agent.dataDir)
  expect(verified).toMatchObject({ masterKey: 'opens', faults: [], missing: expect.arrayContaining(missing) })
  // The backup leaves nothing beside a file that was not open.
  expect(
    readdirSync(join(agent.dataDir, 'wallets')).filter((name) => name.startsWith(damaged.walletId)),
  ).toHaveLength(1)
})

test('a folder that cannot be made is refused, and nothing is left', async () => {
  await using agent = await startAgent()
  const place = await newPlace()
  writeFileSync(join(place, 'file'), '')
  mkdirSync(join(place, 'full', 'of'), { recursive: true })
  mkdirSync(join(place, 'closed'))
  chmodSync(join(place, 'closed'), 0o500)
  for (const [folder, status, word] of [
    ['relative', 400, 'folder'],
    [join(place, 'nul\0'), 400, 'folder'],
    [join(place, 'file'), 422, 'it is a file'],
    [join(place, 'full'), 422, 'exists already'],
    [join(place, 'none', 'backup'), 422, 'does not exist'],
  ] as const)
    expect(await refusal(backUp(agent, folder)), folder).toMatchObject({
      status,
      detail: expect.stringContaining(word),
    })
  expect(readdirSync(place).toSorted()).toEqual(['closed', 'file', 'full'])
  const asNobody = await agent.send('POST', '/_system/backups', {
    body: JSON.stringify({ folder: join(place, 'mine') }),
  })
  expect(asNobody.status).toBe(401)
  // One at a time.
  const first = backUp(agent, join(place, 'first'))
  await expect.poll(() => readdirSync(place).length).toBe(4)
  expect(await refusal(backUp(agent, join(place, 'second')))).toMatchObject({
    status: 409,
    type: 'error:BackupError:BackupUnderWay',
  })
  await first
  expect(readdirSync(place).toSorted()).toEqual(['closed', 'file', 'first', 'full'])
})
