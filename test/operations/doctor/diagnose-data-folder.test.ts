/** `doctor` on a data folder without a running daemon: its state and problems that would prevent a start. */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { diagnoseDataFolder } from '../../../src/operations/doctor/diagnose.ts'
import { startAgent } from '../../support/agent.ts'
import { withDetail } from '../../support/detail.ts'
import { newFolder } from '../../support/folder.ts'

const free = { AGENT_HTTP_PORT: '0', AGENT_DIDCOMM_PORT: '0' }

/** The folder of a stopped agent, and its wallets. */
async function usedFolder() {
  const folder = newFolder()
  await using agent = await startAgent({}, { dataDir: folder })
  const { walletId } = await agent.newTenant()
  return { folder, walletId }
}

async function checksOf(folder: string, variables: Record<string, string> = {}) {
  const { checks } = await diagnoseDataFolder(readConfig({ AGENT_DATA_DIR: folder, ...free, ...variables }))
  return Object.fromEntries(checks.map(({ name, ...finding }) => [name, finding]))
}

test('a folder that does not exist yet is not a fault', async () => {
  const checks = await checksOf('/nowhere/at/all')
  expect(Object.entries(checks).map(([name, { status }]) => [name, status])).toEqual([
    ['packages', 'ok'],
    ['ports', 'ok'],
    ['data-folder', 'ok'],
  ])
})

test('an intact folder is not changed and serves the next start', async () => {
  const { folder } = await usedFolder()
  const files = () =>
    readdirSync(folder, { recursive: true }).filter((name) => !/-(wal|shm)$/.test(String(name)))
  const before = files()
  const { disk, ...others } = await checksOf(folder)
  expect(disk!.status).toMatch(/ok|warning/)
  expect(Object.entries(others).map(([name, { status }]) => [name, status])).toEqual([
    ['packages', 'ok'],
    ['ports', 'ok'],
    ['data-folder', 'ok'],
    ['master-key', 'ok'],
    ['databases', 'ok'],
  ])
  expect(others['databases']!.detail).toBe('5 database files are sound.')
  expect(files()).toEqual(before)
  await using agent = await startAgent({}, { dataDir: folder })
  expect((await agent.admin('GET /wallets')).contents).toHaveLength(2)
})

test('a damaged wallet or a wrong key has failed', async () => {
  const { folder, walletId } = await usedFolder()
  const path = join(folder, 'wallets', `${walletId}.db`)
  const bytes = readFileSync(path)
  for (let at = 4_096; at < bytes.length; at += 4_096) bytes.fill(0xff, at, at + 64)
  writeFileSync(path, bytes)
  const { databases } = await checksOf(folder)
  expect(databases).toMatchObject(withDetail('failed', `wallets/${walletId}.db`))

  const key = Buffer.alloc(32, 7).toString('base64url')
  const other = (await checksOf(folder, { AGENT_MASTER_KEY: key }))['master-key']
  expect(other).toMatchObject(withDetail('failed', 'in AGENT_MASTER_KEY'))
  rmSync(join(folder, 'master.key'))
  expect((await checksOf(folder))['master-key']).toMatchObject(withDetail('failed', 'cannot be read'))
})

test('a damaged agent database is reported, and no other is created', async () => {
  const { folder } = await usedFolder()
  writeFileSync(
    join(folder, 'agent.db'),
    'no database, for longer than the hundred bytes of a header'.repeat(5),
  )
  chmodSync(folder, 0o755)
  const checks = await checksOf(folder)
  expect(checks['databases']).toMatchObject(withDetail('failed', 'agent.db'))
  expect(checks['master-key']).toMatchObject({ status: 'failed' })
  expect(checks['data-folder']).toMatchObject({ status: 'failed', hint: `chmod 700 ${folder}` })
})
