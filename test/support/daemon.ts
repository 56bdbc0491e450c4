/**
 * Daemons as users run them: processes of the built program, which tests can kill and restart. A test that
 * only needs an agent is faster with one in its own process (`agent.ts`).
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import * as z from 'zod'
import type { Client } from '../../daemon/client/client.ts'
import { adminOf, adminToken, createTenant, type Tenant } from './api.ts'
import { storeOf } from './store.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The program of this build. */
export const thisProgram = fileURLToPath(new URL('../../bin/daemon.cjs', import.meta.url))

const Ready = z.object({ type: z.literal('ready'), url: z.url(), didcommUrl: z.url(), pid: z.int() })

/** A program that becomes the daemon, such as `prlimit` or `nsenter`, with its arguments. */
export type Prefix = readonly string[]

function spawn(env: Record<string, string>, prefix: Prefix, file: string) {
  const [program, ...rest] = [...prefix, process.execPath, file]
  return execa(program, rest, { env, ipc: true, reject: false, serialization: 'json' })
}

/**
 * Ports below the ephemeral range (Linux: from 32768, others: from 49152), a thousand for each test worker,
 * so that no other process takes the port of a stopped daemon.
 */
const portsOfWorker = 1_000
const firstPort = 20_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 12) * portsOfWorker
let turn = randomInt(portsOfWorker)

async function nextPort(): Promise<string> {
  const port = firstPort + (turn++ % portsOfWorker)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return nextPort()
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

export type Answer = { status: number; body: any }

type Folder = Awaited<ReturnType<typeof temporaryFolder>>

export class Daemon {
  readonly env: Record<string, string>
  url = ''
  didcommUrl = ''
  /** The file of the program, which the next start runs. */
  program: string
  #process: ReturnType<typeof spawn> | undefined
  readonly #prefix: Prefix
  readonly #folder: Folder | undefined

  private constructor(
    env: Record<string, string>,
    prefix: Prefix,
    folder: Folder | undefined,
    program: string,
  ) {
    this.env = env
    this.program = program
    this.#prefix = prefix
    this.#folder = folder
  }

  /**
   * Starts a daemon on free ports, which it keeps across restarts; `env` adds to the variables of every test
   * daemon. Without `AGENT_DATA_DIR`, it has a temporary folder and the administrator's token of the tests.
   */
  static async start(
    env: Record<string, string> = {},
    prefix: Prefix = [],
    program: string = thisProgram,
  ): Promise<Daemon> {
    const ports = { AGENT_HTTP_PORT: await nextPort(), AGENT_DIDCOMM_PORT: await nextPort() }
    const folder = env['AGENT_DATA_DIR'] === undefined ? await temporaryFolder() : undefined
    const own = folder && {
      AGENT_DATA_DIR: join(folder.path, 'data'),
      AGENT_CONFIG_DIR: join(folder.path, 'config'),
      ADMIN_TOKEN: adminToken,
    }
    const usual = { ...ports, AGENT_LOG_LEVEL: 'warn', NODE_ENV: 'production' }
    const store = await storeOf(own?.AGENT_DATA_DIR ?? env['AGENT_DATA_DIR']!, 5)
    const daemon = new Daemon({ ...usual, ...own, ...store, ...env }, prefix, folder, program)
    try {
      await daemon.start()
    } catch (error) {
      await folder?.[Symbol.asyncDispose]()
      throw error
    }
    return daemon
  }

  /** Calls as the administrator. */
  get admin(): Client {
    return adminOf(this.url, this.env['ADMIN_TOKEN'])
  }

  get dataDir(): string {
    return this.env['AGENT_DATA_DIR']!
  }

  newTenant(name: string): Promise<Tenant> {
    return createTenant(this.url, name, this.env['ADMIN_TOKEN'])
  }

  /** Starts the process on the same ports as before. @throws its error output, if it ends. */
  async start(): Promise<void> {
    this.#process = spawn(this.env, this.#prefix, this.program)
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

  /** Resolves when the current process has ended, for any reason, with its output. */
  get ended(): Promise<
    { exitCode?: number | undefined; signal?: string | undefined; stderr?: string } | undefined
  > {
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
    ms?: number
  }): Promise<unknown> {
    const [answer] = await Promise.all([this.#process!.getOneMessage(), this.#process!.sendMessage(message)])
    return answer
  }

  /** Ends the process by SIGKILL, and starts it again. */
  async crash(): Promise<void> {
    await this.stop('SIGKILL')
    await this.start()
  }

  /** Sends one request, with `apikey`, with `x-admin-api-key` or without a key. Returns any reply. */
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
    await this.#folder?.[Symbol.asyncDispose]()
  }
}
