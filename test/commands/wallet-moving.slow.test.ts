/** `agent wallet export`, `import` and `resume` against real agents. */
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken, sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { passphrase } from '../operations/wallet-export/_transfer.ts'
import { fails, newUser, prints, words } from './_cli.ts'

test('a wallet is transferred, the default one under another id; a rejected import leaves no data', async () => {
  const from = await sharedAgent()
  await using to = await startAgent()
  using user = newUser()
  const run = (
    agent: TestAgent,
    args: string[],
    { input, key = adminToken }: { input?: string; key?: string } = {},
  ) =>
    user.run(words`wallet ${args}`, {
      env: { AGENT_URL: agent.url, AGENT_ADMIN_KEY: key },
      ...(input !== undefined && { input }),
    })
  const file = join(user.folder, 'the.wallet')
  const secret = join(user.folder, 'passphrase')
  writeFileSync(secret, `${passphrase}\n`, { mode: 0o600 })
  const { id } = (await from.admin('GET /wallets', { query: {} })).contents[0]!
  const output = ['export', id, '--output', file]
  const withFile = ['--passphrase-file', secret]

  expect(await run(from, output)).toMatchObject(fails(2, '--passphrase-file'))
  expect(await run(from, [...output, '--passphrase-file', '-'], { input: 'too short' })).toMatchObject({
    code: 2,
  })
  expect(await run(from, [...output, ...withFile], { key: 'another' })).toMatchObject({ code: 4 })
  expect(readdirSync(user.folder).filter((name) => name.includes('the.wallet'))).toEqual([])

  const moved = await run(from, [...output, '--move', ...withFile, '--json'])
  expect(moved.code).toBe(0)
  expect(JSON.parse(moved.out)).toEqual({ walletId: id, file, bytes: statSync(file).size, moved: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(moved.out + moved.err + readFileSync(file, 'latin1')).not.toContain(passphrase)
  expect(await run(from, [...output, ...withFile])).toMatchObject(fails(2, 'it exists already'))

  expect(await run(to, ['import', file, ...withFile], { key: 'another' })).toMatchObject({ code: 4 })
  // Every agent has a wallet with the default id.
  expect(await run(to, ['import', file, ...withFile])).toMatchObject(fails(5, id))
  const other = '7d1f7a3e-3d5c-4a65-9c5e-0f8a4c0f3a11'
  await user.as({ AGENT_ADMIN_KEY: adminToken }).run`profile add next --url ${to.url}`
  const given = ['--id', other, '--name', 'moved', '--passphrase-file', '-', '--profile', 'next']
  const imported = await user.run(words`wallet import ${file} ${given}`, { input: passphrase })
  expect(imported).toMatchObject({
    code: 0,
    err: expect.stringContaining(`agent tenant create <name> --wallet ${other} --profile next   # the keys`),
  })
  expect(await to.admin('GET /wallets/{walletId}', { path: { walletId: other } })).toMatchObject({
    id: other,
    name: 'moved',
  })
  await to.agent.wallets.use(other, ({ id: opened }) => Promise.resolve(expect(opened).toBe(other)))

  expect(await run(from, ['show', id])).toMatchObject(prints(0, 'suspended'))
  expect(await run(from, ['resume', id])).toMatchObject({ code: 0 })
  expect((await from.tenant('GET /connections')).contents).toEqual([])

  truncateSync(file, 1_000)
  expect(await run(to, ['import', file, ...withFile])).toMatchObject(fails(2, 'damaged'))
  expect(await run(to, ['import', join(user.folder, 'none'), ...withFile])).toMatchObject(
    fails(2, 'there is no such file or folder'),
  )
  expect(existsSync(`${file}.part`)).toBe(false)
})
