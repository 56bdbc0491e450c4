/** A backup or restoration that is interrupted at any step leaves nothing that looks complete. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createBackups } from '../../../src/operations/backup/create.ts'
import { createFolderSource } from '../../../src/operations/backup/snapshot.ts'
import type { Point, Probe } from '../../../src/foundation/probe.ts'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { adminToken } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { dyingAt } from '../../support/kill-points.ts'
import { newFolder } from '../../support/folder.ts'
import { backUp, restore, verify } from './_backup.ts'

const global = globalThis as { [key: symbol]: Probe | undefined }
const probeKey = Symbol.for('identity-agent.probe')

/** Runs an operation up to a step and blocks there, as if the process had ended. */
async function stayAt(point: Point, begin: () => Promise<unknown>): Promise<void> {
  let onReached = () => {}
  const reached = new Promise<void>((resolve) => (onReached = resolve))
  global[probeKey] = (at) => {
    if (at !== point) return undefined
    onReached()
    return new Promise(() => {})
  }
  try {
    await Promise.race([reached, begin()])
    await reached
  } finally {
    delete global[probeKey]
  }
}

test('an interrupted backup does not exist under its name; one that does is complete', async () => {
  const agent = await sharedAgent()
  const folder = newFolder()
  const { config, env, wallets } = agent.agent
  // Blocked operations do not end, so they are not run by the agent itself.
  const create = (name: string) => {
    const { AGENT_DATA_DIR: dataDir } = config
    const { writeBarrier } = env
    const source = createFolderSource({ dataDir, writeBarrier, isOpen: (id) => wallets.isOpen(id) })
    const backups = createBackups(config, Buffer.alloc(32), source)
    return backups.create({ folder: join(folder, name), includesMasterKey: false, agentVersion: '0.1.0' })
  }
  for (const point of [
    'backup-files:before',
    'backup-files:after',
    'backup-list:before',
    'backup-list:after',
    'backup-name:before',
  ] as const) {
    const name = point.replace(':', '-')
    await stayAt(point, () => create(name))
    const [part, ...others] = readdirSync(folder).filter((each) => each.startsWith(name))
    expect([part, others], point).toEqual([expect.stringMatching(/\.[0-9a-f]{8}\.part$/), []])
    expect(existsSync(join(folder, part!, 'backup.json')), point).toBe(
      ['backup-list:after', 'backup-name:before'].includes(point),
    )
    // Tenants are not affected.
    await agent.tenant('POST /connections', { body: {} })
  }
  await stayAt('backup-name:after', () => create('named'))
  expect(await verify(join(folder, 'named'), join(folder, 'without-key'))).toMatchObject({
    wallets: 1,
    masterKey: 'absent',
    faults: [],
  })
  expect(await backUp(agent, join(folder, 'next'))).toMatchObject({ wallets: 1, missing: [] })
})

test('an interrupted restoration does not exist under its name; one that does is complete', async () => {
  const agent = await sharedAgent()
  const folder = newFolder()
  const backup = join(folder, 'backup')
  await backUp(agent, backup, true)
  for (const point of ['backup-files:before', 'backup-files:after', 'backup-name:before'] as const) {
    await stayAt(point, () => restore(backup, join(folder, 'data')))
    expect(existsSync(join(folder, 'data')), point).toBe(false)
  }
  await stayAt('backup-name:after', () => restore(backup, join(folder, 'data')))
  await using restored = await startAgent({}, { dataDir: join(folder, 'data') })
  expect((await restored.admin('GET /wallets')).contents).toHaveLength(1)
})

test('a daemon that is killed before and after the rename', async () => {
  const folder = newFolder()
  await using daemon = await Daemon.start(dyingAt('backup-name:before'))
  const create = (name: string) => {
    const body = { folder: join(folder, name), includesMasterKey: true }
    return daemon.call('POST /_system/backups', { body, adminKey: adminToken }).then(({ status }) => status)
  }
  for (const [name, isThere] of [
    ['before', false],
    ['after', true],
  ] as const) {
    if (isThere) {
      Object.assign(daemon.env, dyingAt('backup-name:after'))
      await daemon.start()
    }
    await expect(create(name)).rejects.toThrow()
    expect(await daemon.stop()).toBe('SIGKILL')
    expect(existsSync(join(folder, name))).toBe(isThere)
  }
  expect(await verify(join(folder, 'after'), daemon.dataDir)).toMatchObject({
    masterKey: 'opens',
    faults: [],
  })
  const program = fileURLToPath(new URL('../../../dist/daemon/backup.js', import.meta.url))
  for (const [name, isThere] of [
    ['before', false],
    ['after', true],
  ] as const) {
    const dataDir = join(folder, `restored-${name}`)
    const env = { ...process.env, AGENT_DATA_DIR: dataDir, ...dyingAt(`backup-name:${name}`) }
    const child = spawn(process.execPath, [program, 'restore', join(folder, 'after')], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    expect(existsSync(dataDir)).toBe(isThere)
  }
  daemon.env['AGENT_DATA_DIR'] = join(folder, 'restored-after')
  delete daemon.env['FAULTS']
  await daemon.start()
  expect((await daemon.call('GET /wallets', { adminKey: adminToken })).body.contents).toHaveLength(1)
})

test('an agent that stops cancels its backup and deletes its files', async () => {
  const folder = newFolder()
  let asked: Promise<unknown> | undefined
  {
    const agent = await sharedAgent()
    asked = backUp(agent, join(folder, 'backup')).catch((error: unknown) => error)
    await expect.poll(() => readdirSync(folder).length).toBe(1)
    await agent.agent.backups[Symbol.asyncDispose]()
    expect(await asked).toMatchObject({ problem: { status: 503, type: 'error:ServiceUnavailable' } })
    expect(readdirSync(folder)).toEqual([])
    // Stopping does not wait for it.
    await agent.tenant('POST /connections', { body: {} })
  }
})
