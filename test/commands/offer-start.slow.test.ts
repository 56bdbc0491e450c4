/** A command of a person that finds no daemon offers to start it; one of a script does not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fails, hasScript, useUser } from './_cli.ts'

const user = useUser()
const question = 'The daemon is not running. Start it now? [Y/n]'
const size = { columns: 80, rows: 24 }
const inTerminal = (line: string, input = '\r', env = {}) =>
  user.runInTerminal(line.split(' '), size, { CI: '', ...env }, input)
const isRunning = async () => (await user.run`daemon status`).code === 0

beforeAll(async () => void (await user.run`daemon start`))
beforeEach(async () => void (await user.run`daemon stop`))
afterAll(async () => void (await user.run`daemon stop`))

describe.skipIf(!hasScript())('at a terminal', () => {
  test('the daemon is started, and the command goes on', async () => {
    const { code, out } = await inTerminal('connection invite --label Bob')
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(question) })
    expect(out).toMatch(
      /Starting the daemon …\nThe daemon runs at http:\S+\. To stop it: agent daemon stop\n/,
    )
    expect(out).toContain('_oobid=')
    expect(await isRunning()).toBe(true)
    expect((await inTerminal('connection list')).out).not.toContain(question)
  })

  test('nothing is started when the answer is no', async () => {
    const { code, out } = await inTerminal('connection list', 'n\r')
    expect({ code, out }).toMatchObject({
      code: 7,
      out: expect.stringMatching(/Error: No daemon answers at/),
    })
    expect(out).toContain('Try: agent daemon start')
    expect(await isRunning()).toBe(false)
  })

  test('a daemon that does not start has its own error and exit code', async () => {
    const { code, out } = await inTerminal('connection list', '\r', { AGENT_LOG_LEVEL: 'nonsense' })
    expect({ code, out }).toMatchObject({ code: 2, out: expect.stringContaining('AGENT_LOG_LEVEL') })
  })

  test.each([
    ['--quiet', 'connection list --quiet', {}],
    ['--json', 'connection list --json', {}],
    ['CI=true', 'connection list', { CI: 'true' }],
    ['a check', 'doctor', {}],
    ['a profile of a daemon elsewhere', 'connection list --profile far', {}],
  ])('nobody is asked with %s', async (_, line, env) => {
    const { url } = await user.json`profile show local`
    await user.run`profile remove far --yes`
    await user.as({ AGENT_API_KEY: 'a-key-of-somebody-0001' }).run`profile add far --url ${url}`
    const { code, out } = await inTerminal(line, '\r', env)
    expect({ code, out }).toEqual({ code: 7, out: expect.not.stringContaining(question) })
    expect(await isRunning()).toBe(false)
  })
})

test('nobody is asked in a script', async () => {
  expect(await user.run`connection list`).toMatchObject(
    fails(7, /^Error: No daemon answers at [^]*Try: agent daemon start$/),
  )
})
