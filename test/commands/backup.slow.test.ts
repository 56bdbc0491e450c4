/** `agent backup` against a real agent. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shapes } from '../../build/docs/shapes.ts'
import { adminToken, sharedAgent } from '../support/agent.ts'
import { fails, newUser, prints } from './_cli.ts'

test('a backup is created, verified without a daemon and restored to an empty folder', async () => {
  const agent = await sharedAgent()
  using user = newUser()
  const folder = join(user.folder, 'backup')
  const remote = { AGENT_URL: agent.url, AGENT_ADMIN_KEY: adminToken }
  const create = (path: string, ...flags: string[]) => user.as(remote).run`backup create ${path} ${flags}`
  const verify = (...flags: string[]) => user.run`backup verify ${folder} ${flags}`
  const restore = (...flags: string[]) =>
    user.run`backup restore ${folder} --data-dir ${join(user.folder, 'restored')} ${flags}`
  const read = (id: string, out: string) => shapes[id]!.type.parse(JSON.parse(out))
  // The path is on the machine of the daemon, which may be remote.
  expect(await create('backup')).toMatchObject(fails(2, 'not an absolute path'))
  const made = await create(folder, '--json')
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(read('backup:create', made.out)).toMatchObject({
    folder,
    wallets: 1,
    includesMasterKey: false,
    missing: [],
  })
  expect(await create(folder)).toMatchObject(fails(2, 'exists already'))

  const found = await verify('--data-dir', agent.dataDir, '--json')
  expect(found).toMatchObject({ code: 0, err: '' })
  expect(read('backup:verify', found.out)).toMatchObject({ masterKey: 'opens', faults: [] })
  expect(await verify()).toMatchObject(prints(0, /files +unchanged\nmaster key +not available/))
  const otherKey = { AGENT_MASTER_KEY: Buffer.alloc(32, 1).toString('base64url') }
  expect((await user.as(otherKey).run`backup verify ${folder}`).code).toBe(4)

  const restored = await restore('--json')
  expect(restored).toMatchObject({ code: 0, err: '' })
  expect(read('backup:restore', restored.out)).toMatchObject({
    folder: join(user.folder, 'restored'),
    masterKey: 'absent',
  })
  expect(await restore()).toMatchObject(fails(5, 'it is not empty'))

  // An unreadable wallet does not prevent restoring the others, and is reported.
  const [wallet] = readdirSync(join(folder, 'wallets'))
  const { id } = await agent.admin('POST /wallets', { body: { name: 'damaged' } })
  rmSync(join(agent.dataDir, 'wallets', `${id}.db`))
  const without = await create(join(user.folder, 'without'), '--with-master-key')
  expect(without).toMatchObject({
    code: 1,
    out: expect.stringContaining('1, and 1 not included'),
    err: expect.stringContaining(id),
  })
  expect(without.err).toContain('contains the master key')

  writeFileSync(join(folder, 'wallets', wallet!), 'altered')
  expect(await verify()).toMatchObject({
    code: 1,
    err: expect.stringContaining(`wallets/${wallet} has 7 bytes`),
  })
  rmSync(join(user.folder, 'restored'), { recursive: true })
  expect(await restore()).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was restored') })
  expect(await user.run`backup verify ${user.folder}`).toMatchObject(fails(1, 'is not a complete backup'))
  expect(
    (await user.as({ ...remote, AGENT_ADMIN_KEY: 'another' }).run`backup create ${join(user.folder, 'x')}`)
      .code,
  ).toBe(4)
})
