/** Runs the built program as a process in separate folders, as users do. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect } from 'vitest'
import { variableNames } from '../../src/foundation/config/setting-names.ts'
import { runCommand, type Size } from './_in-process.ts'

export const bin = fileURLToPath(new URL('../../bin/agent.cjs', import.meta.url))

/** The result of a command. */
export type CommandResult = { code: number | undefined; out: string; err: string }

type Env = Readonly<Record<string, string>>
type Options = { env?: Env; input?: string }

/** A value in a command line: a word, a part of one, or several words. */
export type Value = string | readonly string[]

/** A command line: its words, or a template for `words`. */
export type Line = [args?: readonly string[]] | [texts: TemplateStringsArray, ...values: Value[]]

/** Splits a command line at its spaces, but not the values in it: words`proof request --goal ${'Your age'}`. */
export function words(...[texts = [], ...values]: Line): string[] {
  if (!('raw' in texts)) return [...texts]
  const line = texts.reduce((before, text, index) => `${before}\ue000${index - 1}\ue000${text}`)
  const valueOf = (index: string) => values[Number(index)]!
  return line
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const [, only] = /^\ue000(\d+)\ue000$/.exec(word) ?? []
      if (only !== undefined) return valueOf(only)
      return word.replaceAll(/\ue000(\d+)\ue000/g, (_, index: string) => String(valueOf(index)))
    })
}

/** Takes a template, as `words` does, or a list of words and options. */
type Runs<Result> = {
  (args: readonly string[], options?: Options): Promise<Result>
  (texts: TemplateStringsArray, ...values: Value[]): Promise<Result>
}

export type Commands = {
  run: Runs<CommandResult>
  /** Runs a command that must succeed. Returns its `--json` output. */
  json: Runs<any>
}

/** A user with a home folder. `run` runs a command, `remove` deletes the folder. */
export type User = Commands & {
  folder: string
  /** Runs commands with more environment variables, such as the key of another tenant. */
  as: (env: Env | (() => Env)) => Commands
  /**
   * Runs a command in a terminal of a given size (util-linux `script`), with typed keys. `out` is the whole
   * terminal output.
   */
  runInTerminal: (
    args: readonly string[],
    size: Size,
    env?: Env,
    /** Typed keys. */
    input?: string,
  ) => Promise<CommandResult>
  /**
   * Runs a command whose output is a terminal of a given size. `runInTerminal` has a real one, which a test
   * of keys or of the terminal needs.
   */
  runSized: (args: readonly string[], size: Size, env?: Env) => Promise<CommandResult>
  spawn: (...line: Line) => ReturnType<typeof start>
  remove: () => void
  [Symbol.dispose]: () => void
}

/** True if the machine has the `script` of util-linux, which opens terminals. */
export function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
}

/** Creates a user. Commands do not inherit the agent's variables of the test environment. */
export function newUser(): User {
  if (!existsSync(new URL('../../dist/commands.cjs', import.meta.url)))
    throw new Error('The program is not built: run `npm run build` first.')
  const folder = mkdtempSync(join(tmpdir(), 'agent-cli-'))
  const own = {
    ...Object.fromEntries([...variableNames(), 'FORCE_COLOR'].map((name) => [name, undefined])),
    NODE_ENV: 'production',
    NO_COLOR: '1',
    AGENT_CONFIG_DIR: join(folder, 'config'),
    AGENT_DATA_DIR: join(folder, 'data'),
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    TMPDIR: folder,
  }
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const as: User['as'] = (more) => {
    const run = runs(async (args, { env, input } = {}) => {
      const given = typeof more === 'function' ? more() : more
      const all = { ...own, ...given, ...env }
      if (!needsProcess(args)) return runCommand(args, { ...process.env, ...all }, input)
      const { exitCode, stdout, stderr } = await start(args, all, input)
      return { code: exitCode, out: stdout, err: stderr }
    })
    const json = runs(async (args, options) => {
      const { code, out, err } = await run([...args, '--json'], options)
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    })
    return { run, json }
  }
  return {
    ...as({}),
    folder,
    as,
    runInTerminal: async (args, { columns, rows }, env, input) => {
      const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
      const line = `stty columns ${columns} rows ${rows} && exec ${command}`
      const typed = input === undefined ? {} : { input }
      const options = { env: { ...own, ...env }, cwd: folder, reject: false, ...typed } as const
      const { exitCode, stdout, stderr } = await execa(
        'script',
        ['--quiet', '--return', '--command', line, '/dev/null'],
        options,
      )
      return { code: exitCode, out: stdout.replaceAll('\r', ''), err: stderr }
    },
    runSized: (args, size, env) => runCommand(args, { ...process.env, ...own, ...env }, '', size),
    spawn: (...line) => start(words(...line), own),
    remove,
    [Symbol.dispose]: remove,
  }
}

/** A user for the tests of a file or a group, removed after them. */
export function useUser(): User {
  const user = newUser()
  afterAll(() => user.remove())
  return user
}

/**
 * Command lines whose program is a process also in tests: those that start processes, and those that
 * `bin/agent.cjs` answers itself. With TEST_COMMANDS=process all are.
 */
const processes = new Set(['daemon', 'demo', 'tui', 'run', 'complete', 'version', '--version', '-v'])
const needsProcess = ([first]: readonly string[]) =>
  process.env['TEST_COMMANDS'] === 'process' || (first !== undefined && processes.has(first))

function runs<Result>(run: (args: readonly string[], options?: Options) => Promise<Result>): Runs<Result> {
  return (first: readonly string[] | TemplateStringsArray, ...rest: (Value | Options | undefined)[]) =>
    'raw' in first ? run(words(first, ...(rest as Value[]))) : run(first, rest[0] as Options | undefined)
}

/** The result of a command that fails with a reason and prints nothing on standard output. */
export function fails(code: number, reason: string | RegExp): CommandResult {
  return { code, out: '', err: matching(reason) }
}

/** The result of a command that prints a text on standard output. */
export function prints(code: number, text: string | RegExp): Omit<CommandResult, 'err'> {
  return { code, out: matching(text) }
}

/** The result of a command that succeeds and prints a message on standard error. */
export function says(message: string | RegExp): Omit<CommandResult, 'out'> {
  return { code: 0, err: matching(message) }
}

/** As `says`, with nothing on standard output. */
export function saysOnly(message: string | RegExp): CommandResult {
  return { out: '', ...says(message) }
}

function matching(text: string | RegExp): string {
  return (typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)) as string
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
