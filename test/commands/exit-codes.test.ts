/** Provokes every exit code of the table on the real command line. */
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { exitCodes } from '../../cli/errors/errors.ts'
import { bin, type Line, printed, useUser, words } from './_cli.ts'
import { serveUser } from './_agents.ts'
import { untilEnd } from '../support/shared.ts'

const noId = '00000000-0000-4000-8000-000000000000'

const user = useUser()
await untilEnd(serveUser(user))

/** Provokes an exit code, by number. */
const provoked: Readonly<
  Record<
    keyof typeof exitCodes,
    (run: (...line: Line) => Promise<number | undefined>) => Promise<number | undefined>
  >
> = {
  0: (run) => run`connection list`,
  1: (run) => run`did resolve did:nosuch:x`,
  2: (run) => run`connection list --no-such-flag`,
  3: (run) => run`connection show ${noId}`,
  4: async () => (await user.as({ AGENT_API_KEY: 'another-daemons-key' }).run`connection list`).code,
  5: async (run) => {
    await run`wallet create spare --id ${noId}`
    return run`wallet create spare --id ${noId}`
  },
  6: (run) => run`connection invite -q --wait --timeout 1s`,
  7: (run) => run`connection list --url http://127.0.0.1:1`,
  8: (run) => run`credential verify ${'no token'}`,
  130: async () => {
    const listening = user.spawn`event listen`
    await printed(listening.stderr, 'Listening')
    listening.kill('SIGINT')
    return (await listening).exitCode
  },
}

test.each(Object.entries(exitCodes))('%s is %j', async (code) => {
  const run = async (...line: Line) => (await user.run(words(...line))).code
  expect(await provoked[Number(code) as keyof typeof exitCodes](run)).toBe(Number(code))
})

// `script` of util-linux runs a command in a terminal.
const script = '/usr/bin/script'

test.skipIf(process.platform !== 'linux' || !existsSync(script))(
  'Ctrl-C at a prompt exits with 130 and changes nothing',
  async () => {
    const env = { AGENT_CONFIG_DIR: `${user.folder}/config`, TERM: 'xterm', NO_COLOR: '1' }
    const line = `${process.execPath} ${bin} connection accept`
    const session = execa(script, ['-qec', line, '/dev/null'], { env, reject: false })
    await printed(session.stdout, 'Paste the link, or the name of a picture:')
    session.stdin.write('\u0003')
    await once(session, 'exit')
    expect(await session).toMatchObject({
      exitCode: 130,
      stdout: expect.stringContaining('Interrupted. Nothing was changed.'),
    })
  },
)
