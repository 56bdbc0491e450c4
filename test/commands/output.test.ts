/** Outputs of commands: terminals of several sizes or of unknown size, and a full disk. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { bin, type Line, useUser, words } from './_cli.ts'
import { serveUser } from './_agents.ts'
import { untilEnd } from '../support/shared.ts'

const user = useUser()
await untilEnd(serveUser(user))
const run = async (...line: Line) => (await user.run`${words(...line)} --quiet`).out.split('\n')[0]!
const ids = [
  await run`connection invite --label ${'Alice of the Long Name Department'}`,
  await run`did create`,
]

const commands = ['connection list', 'did list', 'event list', 'profile list']

describe('a terminal', () => {
  test.each([
    [80, 24],
    [100, 50],
    [120, 40],
  ])('of %i×%i shows tables that fit, with the ends of ids', async (columns, rows) => {
    for (const command of commands) {
      const { code, out } = await user.runInTerminal(command.split(' '), { columns, rows })
      expect({ command, code }).toEqual({ command, code: 0 })
      expect(Math.max(...out.split('\n').map((line) => [...line].length)), command).toBeLessThanOrEqual(
        columns,
      )
      if (command === 'profile list') continue
      expect(out, command).toMatch(/^(?:ID|DID|TIME) /)
      if (command === 'connection list') expect(out).toContain(`…${ids[0]!.slice(-6)} `)
    }
    const whole = await user.runInTerminal(['connection', 'list', '--no-trunc'], { columns, rows })
    expect(whole.out).toMatch(new RegExp(`^${ids[0]} .*Alice of the Long Name Department`, 'm'))
  })

  test('a terminal of size 0×0 counts as 80×24', async () => {
    for (const command of commands) {
      const [unsized, usual] = await Promise.all(
        [0, 80].map((columns) =>
          user.runInTerminal(command.split(' '), { columns, rows: columns === 0 ? 0 : 24 }),
        ),
      )
      expect(unsized!.code).toBe(0)
      expect(unsized!.out.replaceAll(/\d+ s/g, '')).toBe(usual!.out.replaceAll(/\d+ s/g, ''))
    }
  })
})

/** Messages are folded at the width of the terminal. */
const unfolded = (text: string) => text.replaceAll(/\r?\n\s*/g, ' ')

test('a terminal shows long DIDs by their ends, and by their labels', async () => {
  const { did } = await user.json`did create --method jwk --label Acme`
  const size = { columns: 80, rows: 24 }
  const short = `${did.slice(0, 13)}…${did.slice(-8)}`
  const offer = words`credential offer --oid4vci --type Person --claim name=Ann --issuing-did ${did}`
  const { recordId } = await user.json(offer)
  const shown = (args: string[], ...more: string[]) => user.runInTerminal([...args, ...more], size)
  for (const args of [
    words`credential show ${recordId}`,
    words`proof request --oid4vp --type Person --qr none`,
  ]) {
    expect(unfolded((await shown(args)).out)).toContain(`Acme (${short})`)
    expect(unfolded((await shown(args, '--no-trunc')).out)).toContain(`Acme (${did})`)
  }
  expect((await shown(['did', 'show', short])).out).toContain(`did    ${did}\n`)
  expect((await shown(['did', 'list'])).out).toContain(`Acme   ${short}`)
  expect((await user.run`did list`).out).toContain(did)
})

test.skipIf(!existsSync('/dev/full'))('a full disk is a one-line error (1)', async () => {
  const env = { AGENT_CONFIG_DIR: join(user.folder, 'config'), AGENT_PROFILE: 'local', DEBUG: undefined }
  for (const args of [
    ['connection', 'list'],
    ['explain', 'exit-codes'],
    ['--help'],
    ['connection', 'list', '--json'],
  ]) {
    const line = ['-c', 'exec "$@" >/dev/full', 'sh', process.execPath, bin, ...args]
    const { exitCode, stderr } = await execa('sh', line, { env, reject: false })
    expect({ args, exitCode }).toEqual({ args, exitCode: 1 })
    const title = 'The output cannot be written: the disk is full.'
    expect(stderr).toBe(
      args.includes('--json') ? JSON.stringify({ code: 'Output', title, exitCode: 1 }) : `Error: ${title}`,
    )
  }
})
