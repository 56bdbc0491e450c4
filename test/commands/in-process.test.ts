/** A command in this process does, prints and returns what it does as a process: the tests that run it here depend on it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestAgent } from '../_agent.ts'
import { newUser } from './_cli.ts'
import { runsInProcess } from './_in-process.ts'
import { serveUser } from './_served.ts'

const [here, apart] = [newUser({ processes: 'needed' }), newUser()]
const noId = '00000000-0000-4000-8000-000000000000'

let agent: TestAgent
let env: Record<string, string>
beforeAll(async () => {
  agent = await serveUser(here)
  env = { AGENT_CONFIG_DIR: `${here.folder}/config` }
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  for (const { remove } of [here, apart]) remove()
})

test.each([
  ['a document', ['connection', 'list', '--json'], 0],
  ['nothing but a sentence', ['webhook', 'list'], 0],
  ['talk beside an answer', ['connection', 'invite', '--wait', '--timeout', '1s', '-q'], 6],
  ['an error', ['connection', 'show', noId], 3],
  ['an error in JSON', ['connection', 'show', noId, '--json'], 3],
  ['an unknown flag', ['connection', 'list', '--nonsense'], 2],
  ['an unknown command', ['conection', 'list'], 2],
  ['a verdict', ['credential', 'verify', 'no token', '--json'], 8],
  ['another key', ['connection', 'list', '--api-key-file', '/dev/null'], 2],
])('%s is the same: %j', async (_, args, code) => {
  expect(runsInProcess(args)).toBe(true)
  const withoutIds = ({ out, err, ...rest }: { code?: number | undefined; out: string; err: string }) => ({
    ...rest,
    out: out.replaceAll(/[0-9a-f-]{36}/g, 'id'),
    err: err.replaceAll(/[0-9a-f-]{36}/g, 'id'),
  })
  const outcome = withoutIds(await here.run(args, { env }))
  expect(outcome.code).toBe(code)
  expect(outcome).toEqual(withoutIds(await apart.run(args, { env })))
})

test('two at a time have a process each', async () => {
  const outcomes = await Promise.all([
    here.run(['connection', 'list', '--json'], { env }),
    here.run(['connection', 'list'], { env: { ...env, AGENT_API_KEY: 'another' } }),
    here.run(['connection', 'show', noId], { env }),
  ])
  expect(outcomes.map(({ code }) => code)).toEqual([0, 4, 3])
  expect(outcomes.map(({ out }) => out.startsWith('{'))).toEqual([true, false, false])
  expect(process.exitCode).toBeUndefined()
})
