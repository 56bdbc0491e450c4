/**
 * Runs a command line of the built program in this process, which costs a tenth of a process of its own. Each
 * run evaluates the bundle anew, with a `process` of its own: variables, streams, exit code and listeners.
 * `_cli.ts` has the command lines that need a real process.
 */
import childProcess from 'node:child_process'
import { Console } from 'node:console'
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import { dirname } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import type { CommandResult } from './_cli.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = `${root}dist/`

type Env = Readonly<Record<string, string | undefined>>
type Bundle = (
  exports: object,
  require: (id: string) => unknown,
  module: { exports: object },
  file: string,
  folder: string,
  globals: object,
  process: unknown,
  console: Console,
) => void

type Exports = {
  start: (argv: string[], program: object) => Promise<unknown>
  reportCrash: (error: Error, argv: string[]) => void
  commands: object
}

/** `process.exit` of a command: nothing after it runs. */
class Exit extends Error {}

const compiled = new Map<string, Bundle>()

function compile(file: string): Bundle {
  const known = compiled.get(file)
  if (known) return known
  const code = fs.readFileSync(file, 'utf8')
  const names = 'exports, require, module, __filename, __dirname, globalThis, process, console'
  const bundle = new Script(`(function (${names}) {${code}\n})`, {
    filename: file,
  }).runInThisContext() as Bundle
  compiled.set(file, bundle)
  return bundle
}

const pjson: unknown = JSON.parse(fs.readFileSync(`${root}package.json`, 'utf8'))

/** A terminal's size in characters. */
export type Size = { columns: number; rows: number }

/**
 * Runs `agent` with arguments. `env` is its whole environment, `input` its standard input. With a size,
 * standard output and standard error are one terminal, whose text is `out`.
 */
export async function runCommand(
  argv: readonly string[],
  env: Env,
  input = '',
  size?: Size,
): Promise<CommandResult> {
  const stdout = Object.assign(new Captured(), size && terminal(size))
  const stderr = size ? stdout : new Captured()
  let onExit = () => {}
  const exited = new Promise<void>((resolve) => (onExit = resolve))
  const streams = { stdout, stderr, stdin: Readable.from([Buffer.from(input)]) }
  const own = createProcess(argv, env, streams, onExit)
  const load = createLoader(own, Buffer.from(input))
  const ignoreExit = (error: unknown) => {
    if (!(error instanceof Exit)) throw error
  }
  const { start, commands, reportCrash } = load(`${dist}commands.cjs`) as Exports
  const given = [...argv]
  const run = start(given, { root, pjson, commands })
    .catch((error: Error) => void (error instanceof Exit || reportCrash(error, given)))
    .catch(ignoreExit)
  await Promise.race([run, exited])
  const code = Number(own.exitCode ?? 0)
  own.emit('exit', code)
  return { code, out: stdout.text(), err: size ? '' : stderr.text() }
}

/** What a command asks of a terminal. */
const terminal = ({ columns, rows }: Size) => ({
  isTTY: true,
  columns,
  rows,
  getWindowSize: () => [columns, rows],
})

class Captured extends Writable {
  readonly #chunks: Buffer[] = []
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }
  /** Without the last line end, as execa returns the output of a process. */
  text(): string {
    return Buffer.concat(this.#chunks)
      .toString()
      .replace(/\r?\n$/, '')
  }
}

type Streams = { stdout: Writable; stderr: Writable; stdin: Readable }

/**
 * The `process` of a command: the one of the test, with streams, variables, arguments, listeners and an exit
 * code of its own.
 */
function createProcess(argv: readonly string[], env: Env, streams: Streams, onExit: () => void) {
  const signals = new EventEmitter()
  const given = Object.entries(env).filter(([, value]) => value !== undefined)
  const own = Object.create(process, {
    env: { value: Object.fromEntries(given), writable: true },
    argv: { value: [process.execPath, `${root}bin/agent.cjs`, ...argv] },
    exitCode: { value: undefined, writable: true },
    ...Object.fromEntries(Object.entries(streams).map(([name, value]) => [name, { value }])),
  }) as NodeJS.Process
  const listening = [
    'on',
    'once',
    'off',
    'addListener',
    'removeListener',
    'emit',
    'listeners',
    'listenerCount',
  ] as const
  for (const name of listening)
    Object.defineProperty(own, name, {
      value: (signals[name] as (...args: unknown[]) => unknown).bind(signals),
    })
  Object.defineProperty(own, 'exit', {
    value: (code: number | undefined = own.exitCode as number | undefined) => {
      own.exitCode = code
      onExit()
      throw new Exit(`exit ${code}`)
    },
  })
  return own
}

/** Loads bundles of `dist` once for a command line, and modules of Node.js that act for its environment. */
function createLoader(own: NodeJS.Process, input: Buffer): (file: string) => unknown {
  const modules = new Map<string, { exports: object }>()
  const console = new Console(own.stdout, own.stderr)
  const globals = createGlobals(own)
  const replaced = nodeModules(own, input)
  return function load(file) {
    const known = modules.get(file)
    if (known) return known.exports
    const module = { exports: {} }
    modules.set(file, module)
    const usual = createRequire(file)
    const require = Object.assign((id: string) => {
      const node = replaced[id.replace(/^node:/, '')]
      if (node) return node
      const path = /^[./]/.test(id) ? usual.resolve(id) : ''
      return path.startsWith(dist) && path.endsWith('.cjs') ? load(path) : usual(id)
    }, usual)
    compile(file)(module.exports, require, module, file, dirname(file), globals, own, console)
    return module.exports
  }
}

/** The `globalThis` of a command: members that it sets are its own. */
function createGlobals(process: NodeJS.Process): object {
  const own: Record<string | symbol, unknown> = { process }
  return new Proxy(own, {
    get: (set, name) => (name in set ? set[name] : Reflect.get(globalThis, name)),
  })
}

function nodeModules(own: NodeJS.Process, input: Buffer): Record<string, unknown> {
  let read = 0
  const readSync: typeof fs.readSync = (fd: number, ...rest: any[]) => {
    if (fd !== 0) return (fs.readSync as (...args: unknown[]) => number)(fd, ...rest)
    const length = input.copy(rest[0] as Buffer, 0, read)
    read += length
    return length
  }
  const spawn = (command: string, args: readonly string[], options: childProcess.SpawnOptions = {}) =>
    childProcess.spawn(command, args, { env: own.env, ...options })
  return {
    process: own,
    fs: { ...fs, readSync },
    os: {
      ...os,
      tmpdir: () => own.env['TMPDIR'] ?? os.tmpdir(),
      homedir: () => own.env['HOME'] ?? os.homedir(),
    },
    child_process: { ...childProcess, spawn },
  }
}
