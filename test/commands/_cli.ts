/** Runs the built program as a process in separate folders, as users do. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect } from 'vitest'
import { variables } from '../../src/base/config.ts'

export const bin = fileURLToPath(new URL('../../bin/agent.cjs', import.meta.url))

/** The result of a command. */
export type CommandResult = { code: number | undefined; out: string; err: string }

/** A user with a home folder. `run` runs a command, `remove` deletes the folder. */
export type User = {
  folder: string
  run: (args: readonly string[], options?: Options) => Promise<CommandResult>
  /** Runs a command that must succeed. Returns its `--json` output. */
  json: (args: readonly string[], options?: Options) => Promise<any>
  /**
   * Runs a command in a terminal of a given size (util-linux `script`). `out` is the whole terminal output.
   */
  runInTerminal: (
    args: readonly string[],
    size: { columns: number; rows: number },
    env?: Record<string, string>,
  ) => Promise<CommandResult>
  spawn: (args: readonly string[]) => ReturnType<typeof start>
  remove: () => void
}

type Options = { env?: Record<string, string>; input?: string }

/** Creates a user. Commands do not inherit the agent's variables of the test environment. */
export function newUser(): User {
  if (!existsSync(new URL('../../dist/commands.cjs', import.meta.url)))
    throw new Error('The program is not built: run `npm run build` first.')
  const folder = mkdtempSync(join(tmpdir(), 'agent-cli-'))
  const own = {
    ...Object.fromEntries(
      [...Object.keys(variables), 'AGENT_URL', 'AGENT_API_KEY', 'AGENT_ADMIN_KEY', 'FORCE_COLOR'].map(
        (name) => [name, undefined],
      ),
    ),
    NODE_ENV: 'production',
    NO_COLOR: '1',
    AGENT_CONFIG_DIR: join(folder, 'config'),
    AGENT_DATA_DIR: join(folder, 'data'),
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    TMPDIR: folder,
  }
  const run: User['run'] = async (args, { env, input } = {}) => {
    const { exitCode, stdout, stderr } = await start(args, { ...own, ...env }, input)
    return { code: exitCode, out: stdout, err: stderr }
  }
  return {
    folder,
    run,
    json: async (args, options) => {
      const { code, out, err } = await run([...args, '--json'], options)
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    },
    runInTerminal: async (args, { columns, rows }, env) => {
      const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
      const line = `stty columns ${columns} rows ${rows} && exec ${command}`
      const options = { env: { ...own, ...env }, cwd: folder, reject: false } as const
      const { exitCode, stdout, stderr } = await execa(
        'script',
        ['--quiet', '--return', '--command', line, '/dev/null'],
        options,
      )
      return { code: exitCode, out: stdout.replaceAll('\r', ''), err: stderr }
    },
    spawn: (args) => start(args, own),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Waits until a process has printed a text. */
export function printed(stream: Readable, text: string): Promise<void> {
  let seen = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => (seen += chunk).includes(text) && resolve())
    stream.on('end', () => reject(new Error(`It ended without ${text}: ${seen}`)))
  })
}

function start(args: readonly string[], env: Record<string, string | undefined>, input = '') {
  return execa(process.execPath, [bin, ...args], { env, input, reject: false })
}
