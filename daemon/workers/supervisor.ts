/**
 * The supervisor: the daemon's own process, when worker processes serve the agent. It accepts connections and
 * gives them to the workers by turns, starts a worker again that has ended, and passes messages between them.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Configured } from '../../src/foundation/config/configure.ts'
import type { Log } from '../../src/foundation/log.ts'
import type { LogFile } from '../../src/foundation/log-file.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { workerName, workerOf } from '../../src/cluster/worker-ownership.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import { toStartError } from '../server/listen.ts'
import { stopLimitMs } from '../server/open-agent.ts'
import { bindConfigured } from '../server/ports.ts'
import { Acceptor } from './acceptor.ts'
import { FromWorker, type Opened, type Ports, type ServerName, type ToWorker } from './messages.ts'

export type SupervisorOptions = {
  count: number
  /** The environment of the workers, and the flags of the start. */
  env: NodeJS.ProcessEnv
  flags: readonly string[]
  log: Log
  /**
   * The log file of a daemon in the background. The supervisor writes the lines of the workers to it, because
   * it rotates the file.
   */
  logFile: LogFile | undefined
}

/** `address` is null until the worker serves requests. */
type Entry = { process: ChildProcess; startedAt: number; address: string | null }

/** The wait before a worker is started that ends again and again. The first time it is started at once. */
const [shortestWaitMs, longestWaitMs] = [1_000, 30_000]
/** How long a worker has to end gracefully: more than it takes itself, and less than the daemon. */
const longestStopMs = stopLimitMs - 500
/** A worker that has run for so long has not failed at its start. */
const stableMs = 10_000

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #entries: (Entry | undefined)[] = []
  /** How often each worker has ended soon after its start, in a row. */
  readonly #failures: number[]
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #acceptor = new Acceptor()
  #ports: Ports = { rest: 0, didcomm: 0 }
  #pausedBy: number | undefined
  #isServing = false
  #isStopping = false
  /** Called for the messages and the end of the workers until all of them serve. */
  #onStart: (index: number, message: FromWorker | undefined) => void = () => {}

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#failures = Array.from({ length: options.count }, () => 0)
  }

  /** Binds both ports. Connections wait for the first worker. @throws {StartError} */
  async bind(configured: Configured): Promise<Ports> {
    const listen = (name: ServerName, variable: 'AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT') =>
      bindConfigured(configured, variable, (host, port, remedy) =>
        this.#acceptor.listen(name, host, port).catch((error: NodeJS.ErrnoException) => {
          throw toStartError(error, host, port, remedy)
        }),
      )
    this.#ports = {
      rest: await listen('rest', 'AGENT_HTTP_PORT'),
      didcomm: await listen('didcomm', 'AGENT_DIDCOMM_PORT'),
    }
    return this.#ports
  }

  /**
   * Starts the worker that owns the default wallet. Alone, it migrates databases, makes the default wallet,
   * and removes what an earlier daemon has left behind. It serves no requests yet.
   *
   * @throws {StartError}
   */
  async openFirst(): Promise<Opened> {
    const first = workerOf(defaultId, this.#options.count)
    const opened = await new Promise<Opened>((resolve, reject) => {
      this.#onStart = (_index, message) => {
        if (message?.type === 'opened') resolve(message)
        else if (message === undefined || message.type === 'failed') reject(toError(message))
      }
      this.#fork(first, true)
    })
    return opened
  }

  /**
   * Has the first worker serve, and starts the others. Resolves when all of them serve.
   *
   * @throws {StartError}
   */
  async serve(): Promise<void> {
    const { count } = this.#options
    const first = workerOf(defaultId, count)
    await new Promise<void>((resolve, reject) => {
      this.#onStart = (index, message) => {
        if (message === undefined || message.type === 'failed') return reject(toError(message))
        if (message.type !== 'ready') return
        if (index === first) for (let each = 0; each < count; each++) if (each !== first) this.#fork(each)
        if (this.#entries.filter((entry) => entry?.address).length === count) resolve()
      }
      this.#isServing = true
      this.#send(first, { type: 'serve' })
    })
    this.#onStart = () => {}
  }

  /**
   * Ends all workers gracefully. One that does not end in time is killed: it loses nothing that it has
   * acknowledged.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#acceptor.close()
    await Promise.all(this.#entries.flatMap((entry, index) => (entry ? [this.#end(index, entry)] : [])))
  }

  async #end(index: number, { process: worker }: Entry): Promise<void> {
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    this.#send(index, { type: 'stop' })
    const timer = setTimeout(() => {
      this.#options.log.warn(
        { worker: workerName(index), ms: longestStopMs },
        'a worker did not end: it is killed',
      )
      worker.kill('SIGKILL')
    }, longestStopMs)
    await ended
    clearTimeout(timer)
  }

  #fork(index: number, startsAlone = false): void {
    const { env, flags, count, logFile } = this.#options
    const worker = fork(join(dirname(process.argv[1]!), 'worker.cjs'), flags, {
      env,
      stdio: ['ignore', logFile ? 'ignore' : 'inherit', logFile ? 'pipe' : 'inherit', 'ipc'],
    })
    const entry: Entry = { process: worker, startedAt: performance.now(), address: null }
    this.#entries[index] = entry
    if (logFile) {
      const lines = createInterface({ input: worker.stderr! })
      lines.on('line', (line) => logFile.write(`${line}\n`))
    }
    worker.on('message', (raw: unknown) => {
      const { data: message } = FromWorker.safeParse(raw)
      if (message) this.#receive(index, entry, message)
    })
    worker.once('exit', (code, signal) => this.#ended(index, code, signal))
    worker.on('error', (error) => {
      this.#options.log.warn({ err: error, worker: workerName(index) }, 'a worker cannot be reached')
      // A process that could not be started, for lack of memory or processes, has no `exit`.
      if (worker.pid === undefined) this.#ended(index, null, null)
    })
    const pausedBy = this.#pausedBy === undefined ? {} : { pausedBy: this.#pausedBy }
    this.#send(index, { type: 'start', index, count, startsAlone, ports: this.#ports, ...pausedBy })
    this.#tellWorkers()
  }

  #receive(index: number, entry: Entry, message: FromWorker): void {
    if (message.type === 'relay') this.#relay(index, message)
    else if (message.type === 'accepted') this.#acceptor.acknowledged(entry.process)
    else if (message.type === 'ending') this.#acceptor.remove(entry.process)
    else if (message.type === 'opened') {
      if (this.#isServing) this.#send(index, { type: 'serve' })
    } else if (message.type === 'ready') {
      entry.address = message.address
      this.#tellWorkers()
      this.#acceptor.add(entry.process)
    } else
      this.#options.log.error(
        { worker: workerName(index), reason: message.message },
        'a worker did not start',
      )
    this.#onStart(index, message)
  }

  #relay(from: number, { to, message }: Extract<FromWorker, { type: 'relay' }>): void {
    if (message.type === 'pause') this.#pausedBy = from
    if (message.type === 'release') this.#pausedBy = undefined
    for (const [index, entry] of this.#entries.entries())
      if (entry && index !== from && (to === undefined || to === index))
        this.#send(index, { type: 'relayed', from, message })
  }

  #ended(index: number, code: number | null, signal: string | null): void {
    const { startedAt, process: ended } = this.#entries[index]!
    this.#entries[index] = undefined
    this.#acceptor.remove(ended)
    if (this.#pausedBy === index) this.#pausedBy = undefined
    this.#onStart(index, undefined)
    if (this.#isStopping) return
    this.#tellWorkers()
    const isStable = performance.now() - startedAt > stableMs
    const failures = isStable ? 0 : this.#failures[index]!
    const waitMs = failures === 0 ? 0 : Math.min(longestWaitMs, shortestWaitMs * 2 ** (failures - 1))
    this.#failures[index] = failures + 1
    this.#options.log.error(
      {
        worker: workerName(index),
        ...(code !== null && { code: String(code) }),
        ...(signal !== null && { signal }),
        ms: waitMs,
      },
      'a worker has ended: it is started again',
    )
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#fork(index)
    }, waitMs)
    this.#timers.add(timer)
  }

  #tellWorkers(): void {
    const workers = Array.from({ length: this.#options.count }, (_, index) => {
      const entry = this.#entries[index]
      return { isRunning: entry !== undefined, address: entry?.address ?? null }
    })
    for (const [index, entry] of this.#entries.entries())
      if (entry) this.#send(index, { type: 'workers', workers })
  }

  #send(index: number, message: ToWorker): void {
    const worker = this.#entries[index]?.process
    if (worker?.connected) worker.send(message)
  }
}

function toError(message: FromWorker | undefined): StartError {
  if (message?.type !== 'failed') return new StartError('A worker process ended while it started.', 1)
  const { message: reason, exitCode } = message
  return new StartError(reason, ([2, 4, 5] as const).find((each) => each === exitCode) ?? 1)
}
