/**
 * Daemons as users run them: a process of the built program with a data folder of its own, which tests can
 * kill and restart.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import * as z from 'zod'

const main = fileURLToPath(new URL('../bin/daemon.cjs', import.meta.url))

const Ready = z.object({ type: z.literal('ready'), url: z.url(), didcommUrl: z.url(), pid: z.int() })

/** A program that becomes the daemon, such as `prlimit` or `nsenter`, with its arguments. */
export type Prefix = readonly string[]

function spawn(env: Record<string, string>, prefix: Prefix) {
  const [program, ...rest] = [...prefix, process.execPath, main]
  return execa(program, rest, { env, ipc: true, reject: false, serialization: 'json' })
}

/**
 * Ports below the ephemeral range (Linux: from 32768, others: from 49152), a thousand for each test worker,
 * so that no other process takes the port of a stopped daemon.
 */
const portsOfWorker = 1_000
const firstPort = 20_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 12) * portsOfWorker
let turn = randomInt(portsOfWorker)

async function freePort(): Promise<string> {
  const port = firstPort + (turn++ % portsOfWorker)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

export type Answer = { status: number; body: any }

export class Daemon {
  readonly env: Record<string, string>
  url = ''
  didcommUrl = ''
  #process: ReturnType<typeof spawn> | undefined

  readonly #prefix: Prefix

  private constructor(env: Record<string, string>, prefix: Prefix) {
    this.env = env
    this.#prefix = prefix
  }

  /**
   * Starts a daemon on free ports, which it keeps across restarts; `env` adds to the variables of every test
   * daemon.
   */
  static async start(env: Record<string, string>, prefix: Prefix = []): Promise<Daemon> {
    const ports = { AGENT_HTTP_PORT: await freePort(), AGENT_DIDCOMM_PORT: await freePort() }
    const daemon = new Daemon({ ...ports, AGENT_LOG_LEVEL: 'warn', NODE_ENV: 'production', ...env }, prefix)
    await daemon.start()
    return daemon
  }

  /** Starts the process on the same ports as before. @throws its error output, if it ends. */
  async start(): Promise<void> {
    this.#process = spawn(this.env, this.#prefix)
    // A process that fails to start closes the channel before it ends.
    const ready = Ready.safeParse(
      await Promise.race([this.#process.getOneMessage().catch(() => undefined), this.#process]),
    )
    if (!ready.success) {
      const { stderr } = await this.#process
      throw new Error(`the daemon did not start: ${stderr}`)
    }
    this.url = ready.data.url
    this.didcommUrl = ready.data.didcommUrl
  }

  /** The current process, or the last one. */
  get pid(): number {
    return this.#process!.pid!
  }

  /** Resolves when the current process has ended, for any reason. */
  get ended(): Promise<unknown> {
    return Promise.resolve(this.#process)
  }

  /** Ends the process and waits for it. Returns its exit code, or the signal that ended it. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | string | undefined> {
    this.#process?.kill(signal)
    const { exitCode, signal: endedBy } = (await this.#process)!
    return exitCode ?? endedBy
  }

  /** The reply of a module loaded into the process (`node --import`) to a message. */
  async exchange(message: {
    type: string
    collect?: boolean
    kill?: { point: string; nth: number }
  }): Promise<unknown> {
    const [answer] = await Promise.all([this.#process!.getOneMessage(), this.#process!.sendMessage(message)])
    return answer
  }

  /** Sends one request, with `apikey`, with `x-admin-api-key` or without a key. */
  async call(
    key: string,
    options: { body?: unknown; apiKey?: string; adminKey?: string } = {},
  ): Promise<Answer> {
    const [method, path] = key.split(' ') as [string, string]
    const { body, apiKey, adminKey } = options
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey && { apikey: apiKey }),
        ...(adminKey && { 'x-admin-api-key': adminKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
  }
}

/**
 * Settings of one of several daemons: folders of its own in `folder`, a ledger shared by all, no default
 * wallet.
 */
export function settingsIn(folder: string, name: string, adminKey: string): Record<string, string> {
  return {
    AGENT_DATA_DIR: join(folder, name),
    AGENT_CONFIG_DIR: join(folder, `${name}-config`),
    ADMIN_TOKEN: adminKey,
    DEFAULT_WALLET_ENABLED: 'false',
    VDR_URL: `sqlite:${join(folder, 'vdr.db')}`,
  }
}

/** A temporary folder that is deleted on disposal. */
export async function temporaryFolder(): Promise<{ path: string; [Symbol.asyncDispose](): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'identity-agent-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
