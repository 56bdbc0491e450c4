/** `agent vdr …` with the drivers of an agent without a ledger. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { useUser } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const user = useUser()
const agent = await untilEnd(startAgent())
const [owner, other] = [(await agent.newTenant()).apiKey, (await agent.newTenant()).apiKey]

const { run, json } = user.as(() => ({ AGENT_URL: agent.url, AGENT_API_KEY: owner }))

test('an entry of text is created, shown, changed and removed', async () => {
  const { url } = await json`vdr create ${'two words'}`
  expect(await run`vdr show ${url}`).toMatchObject({ code: 0, out: 'two words' })
  expect((await run`vdr proof ${url}`).out).toMatch(/^type +SHA256\ndigest +[0-9a-f]{64}$/)
  expect((await run`vdr update ${url} changed -q`).out).toBe(url)
  expect((await run`vdr show ${url}`).out).toBe('changed')
  expect((await run`vdr remove ${url}`).code).toBe(2)
  expect((await run`vdr remove ${url} --yes`).code).toBe(0)
  expect((await run`vdr show ${url}`).code).toBe(3)
})

test('the content comes from a file or standard input, and goes to a new file, unchanged', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  const [given, shown] = [join(user.folder, 'given.bin'), join(user.folder, 'shown.bin')]
  writeFileSync(given, bytes)
  const { out: url } = await run`vdr create @${given} --driver database -q`
  expect((await run`vdr show ${url}`).out).toBe(Buffer.from(bytes).toString('hex'))
  expect((await run`vdr show ${url} --output ${shown}`).code).toBe(0)
  expect(new Uint8Array(readFileSync(shown))).toEqual(bytes)
  expect((await run`vdr show ${url} --output ${shown}`).code).toBe(2)
  expect((await run(['vdr', 'update', url, '@-'], { input: 'piped' })).code).toBe(0)
  expect((await run`vdr show ${url}`).out).toBe('piped')
  expect((await run`vdr create @${join(user.folder, 'missing.bin')}`).code).toBe(2)
})

test('errors have the exit codes of all commands', async () => {
  const { url } = await json`vdr create x`
  const strange = user.as({ AGENT_URL: agent.url, AGENT_API_KEY: other })
  expect((await strange.run`vdr show ${url}`).out).toBe('x')
  const refused = await strange.run`vdr update ${url} y`
  expect(refused.code).toBe(3)
  // There is no list of entries.
  expect(refused.err).not.toContain('agent vdr list')
  expect((await strange.run`vdr remove ${url} --yes`).code).toBe(3)
  const unknown = await run`vdr create x --driver none`
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('drid=none') })
  expect(
    (await user.as({ AGENT_URL: agent.url, AGENT_API_KEY: 'k'.repeat(32) }).run`vdr create x`).code,
  ).toBe(4)
})
