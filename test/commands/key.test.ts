/** `agent master-key rotate` against a real agent. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken, sharedAgent } from '../support/agent.ts'
import { fails, newUser, words } from './_cli.ts'

test('the master key is replaced by a generated or a supplied one and never printed', async () => {
  const agent = await sharedAgent()
  using user = newUser()
  const file = join(agent.dataDir, 'master.key')
  const ask = (args: string[], input?: string) =>
    user.run(words`master-key rotate ${args}`, {
      env: { AGENT_URL: agent.url, AGENT_ADMIN_KEY: adminToken },
      ...(input !== undefined && { input }),
    })
  const run = (args: string[], input?: string) => ask([...args, '--yes'], input)
  const before = readFileSync(file, 'utf8').trim()
  // Without a terminal, --yes is required.
  expect(await ask([])).toMatchObject(fails(2, '--yes'))
  expect(readFileSync(file, 'utf8').trim()).toBe(before)
  expect(await run([])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/replaced in .*master\.key\n(.*\n)*previous key +\/.*master\.key\.2/),
    err: expect.stringContaining('backups'),
  })
  const made = readFileSync(file, 'utf8').trim()
  expect(made).not.toBe(before)
  const given = randomBytes(32).toString('base64')
  const answer = await run(words`--new-key-file - --json`, `${given}\n`)
  const { keptKey, ...rotation } = JSON.parse(answer.out)
  expect(rotation).toEqual({ source: file, isReplaced: true })
  expect(readFileSync(keptKey, 'utf8').trim()).toBe(made)
  expect(readFileSync(file, 'utf8').trim()).toBe(Buffer.from(given, 'base64').toString('base64url'))
  expect(answer.out + answer.err).not.toContain(given)
  // The same key again, and an invalid key.
  expect(await run(words`--new-key-file -`, given)).toMatchObject(fails(2, 'current master key'))
  expect(await run(words`--new-key-file -`, 'short')).toMatchObject(fails(2, 'newKey'))
  const tenant = { AGENT_URL: agent.url, AGENT_ADMIN_KEY: 'another' }
  expect(await user.as(tenant).run`master-key rotate --yes`).toMatchObject({ code: 4 })
})
