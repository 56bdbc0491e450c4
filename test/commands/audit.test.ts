/** `agent audit` against a real agent. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken, sharedAgent } from '../support/agent.ts'
import { tamper } from '../wallet/audit/_log.ts'
import { type Line, newUser, prints, says, words } from './_cli.ts'

test('entries are listed, and an altered log is reported with the sequence number', async () => {
  const agent = await sharedAgent()
  const { entityId } = await agent.newTenant()
  await agent.send('GET', '/wallets', { headers: { 'x-admin-api-key': 'wrong' } })
  using user = newUser()
  const run = (...line: Line) =>
    user.as({ AGENT_URL: agent.url, AGENT_ADMIN_KEY: adminToken }).run`audit ${words(...line)}`
  const list = await run`list --limit 3`
  expect(list).toMatchObject(says('Shown: 1 to 3, the newest first. There are more.'))
  expect(list.out).toMatch(
    /127\.0\.0\.1 +GET \/wallets +refused 401.*\n.*admin +POST \/iam\/apikey-authentication +succeeded 201.*\n.*POST \/iam\/entities/,
  )
  expect((await run`list --action ${'POST /iam/entities'} --within 1h --json`).out).toContain(
    `"made": "${entityId}"`,
  )
  const head = (await run`verify --quiet`).out
  expect(await run`verify --head ${head}`).toMatchObject(prints(0, /intact[^]*noted head +there/))
  tamper(join(agent.dataDir, 'audit.db'), "update entry set actor = 'admin' where sequence = 2")
  const { code, out, err } = await run`verify --json`
  expect({ code, fault: (JSON.parse(out) as { fault: object }).fault }).toEqual({
    code: 1,
    fault: { sequence: 2, reason: 'it was altered' },
  })
  expect(err).toContain('entry 2')
})
