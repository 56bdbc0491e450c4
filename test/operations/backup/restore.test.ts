/**
 * Verification and restoration of backups: incomplete or foreign backups are refused, and a restoration never
 * overwrites a data folder.
 */
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
import { manifestName } from '../../../src/operations/backup/manifest.ts'
import { startAgent } from '../../support/agent.ts'
import { refusal } from '../../support/tenants.ts'
import { backUp, restore, verify } from './_backup.ts'
import { newFolder } from '../../support/folder.ts'

test('a backup from before rotations is opened by the key that was kept then', async () => {
  const root = newFolder()
  const [folder, dataDir] = [join(root, 'backup'), join(root, 'data')]
  mkdirSync(dataDir)
  const kept = await (async () => {
    await using agent = await startAgent({}, { dataDir })
    await backUp(agent, folder)
    const { keptKey } = await agent.admin('POST /_system/master-key/rotation', { body: {} })
    await agent.admin('POST /_system/master-key/rotation', { body: {} })
    return keptKey!
  })()
  expect(await verify(folder, dataDir)).toMatchObject({ masterKey: 'opens', keptKey: kept, faults: [] })
  const key = { AGENT_MASTER_KEY_FILE: join(dataDir, 'master.key') }
  expect(await restore(folder, join(root, 'new'), key)).toMatchObject({ masterKey: 'opens', keptKey: kept })
  await using restored = await startAgent({ AGENT_MASTER_KEY_FILE: kept }, { dataDir: join(root, 'new') })
  expect((await restored.admin('GET /wallets')).contents).toHaveLength(1)
  // Of several kept keys, none opens a backup of another agent.
  writeFileSync(kept, `${'A'.repeat(43)}\n`)
  expect(await verify(folder, dataDir)).toMatchObject({ masterKey: 'does not open' })
})

test('a backup is verified, restored and served; each kind of damage is found', async () => {
  const root = newFolder()
  const [folder, dataDir] = [join(root, 'backup'), join(root, 'data')]
  mkdirSync(dataDir)
  const kept = await (async () => {
    await using agent = await startAgent({ AGENT_MEDIATOR: 'true' }, { dataDir })
    const tenant = await agent.newTenant()
    await tenant.call('POST /connections', { body: { label: 'before' } })
    // Files that belong neither to the agent nor to a known wallet.
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

  // Verifying writes nothing, so a read-only medium is enough.
  const { heldMs: _, ...asMade } = kept.made
  expect(await verify(folder, dataDir)).toEqual({ ...asMade, masterKey: 'opens', faults: [] })
  expect(readdirSync(join(folder, 'wallets'))).toHaveLength(2)
  expect(await verify(folder, join(root, 'elsewhere'))).toMatchObject({ masterKey: 'absent', faults: [] })
  const otherKey = { AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url') }
  expect(await verify(folder, dataDir, otherKey)).toMatchObject({ masterKey: 'does not open', faults: [] })

  // Restored elsewhere with the master key, it has the state of the snapshot.
  const restored = join(root, 'new', 'restored')
  expect(await restore(folder, restored)).toMatchObject({
    folder: restored,
    masterKey: 'absent',
    faults: [],
  })
  expect(readdirSync(join(root, 'new'))).toEqual(['restored'])
  cpSync(join(dataDir, 'master.key'), join(restored, 'master.key'))
  {
    await using agent = await startAgent({ AGENT_MEDIATOR: 'true' }, { dataDir: restored })
    const answer = await agent.send('GET', '/connections', { headers: { apikey: kept.apiKey } })
    expect(((await answer.json()) as any).contents.map(({ label }: any) => label)).toEqual(['before'])
    expect((await agent.admin('GET /wallets')).contents).toHaveLength(2)
  }
  // It never overwrites anything.
  await expect(restore(folder, restored)).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringContaining('it is not empty'),
  })
  mkdirSync(join(root, 'empty'))
  expect((await restore(folder, join(root, 'empty'))).faults).toEqual([])

  // Each kind of damage is repaired before the next.
  const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
  const wallet = join(folder, 'wallets', `${kept.walletId}.db`)
  const writeManifest = (change: object) =>
    writeFileSync(join(folder, manifestName), JSON.stringify({ ...manifest, ...change }))
  const damages: [name: string, damage: () => void, path: string, reason: string][] = [
    [
      'an altered byte',
      () =>
        writeFileSync(
          wallet,
          Buffer.from(readFileSync(wallet).toString('latin1').replace('before', 'befoRe'), 'latin1'),
        ),
      `wallets/${kept.walletId}.db`,
      'was changed',
    ],
    [
      'a truncated file',
      () => writeFileSync(wallet, readFileSync(wallet).subarray(0, -4_096)),
      `wallets/${kept.walletId}.db`,
      'instead of',
    ],
    ['a missing file', () => rmSync(wallet), `wallets/${kept.walletId}.db`, 'is missing'],
    [
      'a file that is not in the manifest',
      () => writeManifest({ files: manifest.files.filter(({ path }: any) => !path.includes(kept.walletId)) }),
      `wallets/${kept.walletId}.db`,
      'is not in the manifest',
    ],
    [
      'an altered instant',
      () => writeManifest({ instant: new Date(0).toISOString() }),
      'backup.json',
      'was altered',
    ],
    ['a wrong MAC', () => writeManifest({ mac: 'x'.repeat(43) }), 'backup.json', 'was altered'],
    [
      'agent.db is not in the manifest',
      () => writeManifest({ files: manifest.files.filter(({ path }: any) => path !== 'agent.db') }),
      'agent.db',
      'is not in the manifest',
    ],
  ]
  const sound = join(root, 'sound')
  cpSync(folder, sound, { recursive: true })
  for (const [name, damage, path, reason] of damages) {
    damage()
    const { faults } = await verify(folder, dataDir)
    expect(faults, name).toContainEqual({ path, reason: expect.stringContaining(reason) })
    const refused = await restore(folder, join(root, 'refused'), {
      AGENT_MASTER_KEY_FILE: join(dataDir, 'master.key'),
    })
    expect(refused.faults, name).toEqual(faults)
    expect(
      readdirSync(root).filter((file) => file.startsWith('refused')),
      name,
    ).toEqual([])
    rmSync(folder, { recursive: true })
    cpSync(sound, folder, { recursive: true })
  }

  // No backup, one of another release, and one with a path outside the folder.
  await expect(verify(join(root, 'none'), dataDir)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('it has no backup.json'),
  })
  for (const [change, message] of [
    [{ format: 2 }, 'newer release'],
    [
      {
        files: manifest.files.map((file: any) =>
          file.path === 'agent.db' ? { ...file, schema: '999-later' } : file,
        ),
      },
      '999-later is not known',
    ],
    [{ files: [{ ...manifest.files[0], path: '../../etc/passwd' }] }, 'files.0.path'],
    [{ instant: 1 }, 'instant'],
  ] as const) {
    writeManifest(change)
    await expect(verify(folder, dataDir)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(message),
    })
    await expect(restore(folder, join(root, 'refused'))).rejects.toMatchObject({ exitCode: 1 })
    expect(readdirSync(root).filter((file) => file.startsWith('refused'))).toEqual([])
  }
})

test('the master key is included on request, and opens the backup also after a rotation', async () => {
  await using agent = await startAgent()
  const root = newFolder()
  expect(await backUp(agent, join(root, 'with'), true)).toMatchObject({ includesMasterKey: true })
  await agent.admin('POST /_system/master-key/rotation', { body: {} })
  expect(await verify(join(root, 'with'), agent.dataDir)).toMatchObject({ masterKey: 'opens' })
  expect(await restore(join(root, 'with'), join(root, 'restored'))).toMatchObject({ masterKey: 'opens' })
  expect(statSync(join(root, 'restored', 'master.key')).mode & 0o777).toBe(0o600)
  await using restored = await startAgent({}, { dataDir: join(root, 'restored') })
  expect((await restored.admin('GET /wallets')).contents).toHaveLength(1)
  rmSync(join(agent.dataDir, 'master.key'))
  const refused = await refusal(backUp(agent, join(root, 'without'), true))
  expect(refused).toMatchObject({ status: 422, type: 'error:BackupError:MasterKeyNotUsable' })
  expect(readdirSync(root).toSorted()).toEqual(['restored', 'with'])
})

test('a damaged or missing wallet file is named, and the other wallets are backed up', async () => {
  await using agent = await startAgent({ AGENT_OPEN_WALLETS: '1' })
  const root = newFolder()
  const [gone, damaged, sound] = [await agent.newTenant(), await agent.newTenant(), await agent.newTenant()]
  for (const tenant of [gone, damaged, sound])
    await tenant.call('POST /connections', { body: { label: 'mine' } })
  const pathOf = ({ walletId }: { walletId: string }) => join(agent.dataDir, 'wallets', `${walletId}.db`)
  await expect.poll(() => [gone, damaged].some((tenant) => existsSync(`${pathOf(tenant)}-shm`))).toBe(false)
  renameSync(pathOf(gone), join(root, 'away'))
  writeFileSync(pathOf(damaged), Buffer.alloc(8_192, 1))
  const { missing, wallets } = await backUp(agent, join(root, 'backup'))
  expect(wallets).toBe(2)
  expect(Object.fromEntries(missing.map(({ walletId, reason }) => [walletId, reason]))).toEqual({
    [gone.walletId]: expect.stringContaining('is missing'),
    [damaged.walletId]: expect.stringContaining('damaged'),
  })
  const verified = await verify(join(root, 'backup'), agent.dataDir)
  expect(verified).toMatchObject({ masterKey: 'opens', faults: [], missing: expect.arrayContaining(missing) })
  // The backup leaves no side files of a file that was not open.
  expect(
    readdirSync(join(agent.dataDir, 'wallets')).filter((file) => file.startsWith(damaged.walletId)),
  ).toHaveLength(1)
})

test('a folder that cannot be created is refused, and leaves no files', async () => {
  await using agent = await startAgent()
  const root = newFolder()
  writeFileSync(join(root, 'file'), '')
  mkdirSync(join(root, 'full', 'of'), { recursive: true })
  mkdirSync(join(root, 'closed'))
  chmodSync(join(root, 'closed'), 0o500)
  for (const [folder, status, word] of [
    ['relative', 400, 'folder'],
    [join(root, 'nul\0'), 400, 'folder'],
    [join(root, 'file'), 422, 'it is a file'],
    [join(root, 'full'), 422, 'exists already'],
    [join(root, 'none', 'backup'), 422, 'does not exist'],
  ] as const)
    expect(await refusal(backUp(agent, folder)), folder).toMatchObject({
      status,
      detail: expect.stringContaining(word),
    })
  expect(readdirSync(root).toSorted()).toEqual(['closed', 'file', 'full'])
  const asNobody = await agent.send('POST', '/_system/backups', {
    body: JSON.stringify({ folder: join(root, 'mine') }),
  })
  expect(asNobody.status).toBe(401)
  // One at a time.
  const first = backUp(agent, join(root, 'first'))
  await expect.poll(() => readdirSync(root).length).toBe(4)
  expect(await refusal(backUp(agent, join(root, 'second')))).toMatchObject({
    status: 409,
    type: 'error:BackupError:BackupUnderWay',
  })
  await first
  expect(readdirSync(root).toSorted()).toEqual(['closed', 'file', 'first', 'full'])
})
