/**
 * The write barrier of all workers: a backup in one of them pauses the writes of all.
 *
 * The worker that makes the backup asks the others to pause, and takes the snapshot of the shared databases
 * when all have answered. Then the others continue, and ask it before the first write to each wallet. If it
 * ends, they continue without asking.
 */
import type { WriteBarrier } from '../../src/wallet/write-barrier.ts'
import type { Channel } from './channel.ts'
import type { WorkerState } from './messages.ts'

/** How long another worker pauses at most. The worker that makes the backup gives up earlier. */
const longestPauseMs = 8_000

type Ask = (walletId: string) => Promise<void>

/** `index` is that of this worker, `pausedBy` that of the worker that makes a backup already. */
export function shareWriteBarrier(
  local: WriteBarrier,
  channel: Channel,
  index: number,
  pausedBy?: number,
): WriteBarrier {
  const following = new Following(local, channel)
  const leading = new Leading(channel, index)
  if (pausedBy !== undefined) void following.join(pausedBy)
  channel.on('relayed', ({ from, message }) => {
    if (message.type === 'pause') void following.pause(from)
    else if (message.type === 'continue') following.continue()
    else if (message.type === 'release') following.release()
    else if (message.type === 'may-write') following.allow(message.walletId)
    else if (message.type === 'paused') leading.answered(from)
    else if (message.type === 'before-write') void leading.serve(from, message.walletId)
  })
  channel.on('workers', ({ workers }) => {
    following.check(workers)
    leading.check(workers)
  })
  return {
    write: (walletId, work) => local.write(walletId, work),
    async pause(instant, beforeWrite, limitMs) {
      leading.begin(beforeWrite)
      const all = async () => {
        await leading.askOthers()
        return instant()
      }
      try {
        const result = await local.pause(all, beforeWrite, limitMs)
        leading.continue()
        return result
      } catch (error) {
        leading.end()
        throw error
      }
    },
    release() {
      local.release()
      leading.end()
    },
  }
}

/** The worker that makes a backup. */
class Leading {
  readonly #channel: Channel
  readonly #index: number
  /** The workers that run, by index. */
  #running: readonly boolean[] = []
  #waitsFor = new Set<number>()
  #onAnswer = () => {}
  #beforeWrite: Ask | undefined
  /** Resolves when the snapshot of the shared databases is taken. */
  #continued: Promise<void> | undefined
  #onContinue = () => {}

  constructor(channel: Channel, index: number) {
    this.#channel = channel
    this.#index = index
  }

  begin(beforeWrite: Ask): void {
    this.#beforeWrite = beforeWrite
    this.#continued = new Promise((resolve) => (this.#onContinue = resolve))
  }

  /**
   * Resolves when all others pause. A worker that ends meanwhile writes nothing, and asks before it writes
   * when it has started again.
   */
  async askOthers(): Promise<void> {
    this.#waitsFor = new Set(
      this.#running.flatMap((isRunning, each) => (isRunning && each !== this.#index ? [each] : [])),
    )
    this.#channel.relay({ type: 'pause' })
    if (this.#waitsFor.size > 0) await new Promise<void>((resolve) => (this.#onAnswer = resolve))
  }

  answered(from: number): void {
    this.#waitsFor.delete(from)
    if (this.#waitsFor.size === 0) this.#onAnswer()
  }

  continue(): void {
    this.#onContinue()
    this.#channel.relay({ type: 'continue' })
  }

  /** Answers a worker that is about to write to a wallet. */
  async serve(from: number, walletId: string): Promise<void> {
    await this.#continued
    await this.#beforeWrite?.(walletId)
    this.#channel.relay({ type: 'may-write', walletId }, from)
  }

  end(): void {
    if (!this.#beforeWrite) return
    this.#beforeWrite = undefined
    this.#onContinue()
    this.#channel.relay({ type: 'release' })
  }

  check(workers: readonly WorkerState[]): void {
    this.#running = workers.map(({ isRunning }) => isRunning)
    for (const [each, isRunning] of this.#running.entries()) if (!isRunning) this.answered(each)
  }
}

/** A worker that does not make the backup. */
class Following {
  readonly #local: WriteBarrier
  readonly #channel: Channel
  #leader: number | undefined
  #onContinue = () => {}
  readonly #waiting = new Map<string, { allowed: Promise<void>; allow: () => void }>()

  constructor(local: WriteBarrier, channel: Channel) {
    this.#local = local
    this.#channel = channel
  }

  /** Pauses until the leader has its snapshot of the shared databases. */
  pause(leader: number): Promise<void> {
    const continued = new Promise<void>((resolve) => (this.#onContinue = resolve))
    return this.#pause(leader, () => {
      this.#channel.relay({ type: 'paused' }, leader)
      return continued
    })
  }

  /** Asks before each write, when this worker has started during a backup. */
  join(leader: number): Promise<void> {
    return this.#pause(leader, () => Promise.resolve())
  }

  async #pause(leader: number, instant: () => Promise<void>): Promise<void> {
    this.#leader = leader
    try {
      await this.#local.pause(instant, (walletId) => this.#ask(walletId), longestPauseMs)
      // The leader may have released the writes during the pause.
      if (this.#leader === undefined) this.#local.release()
    } catch {
      // The limit of the worker that makes the backup is shorter, so its pause has failed too.
      this.release()
    }
  }

  continue(): void {
    this.#onContinue()
  }

  allow(walletId: string): void {
    this.#waiting.get(walletId)?.allow()
    this.#waiting.delete(walletId)
  }

  release(): void {
    this.#leader = undefined
    this.#onContinue()
    this.#local.release()
    for (const { allow } of this.#waiting.values()) allow()
    this.#waiting.clear()
  }

  check(workers: readonly WorkerState[]): void {
    if (this.#leader !== undefined && !workers[this.#leader]?.isRunning) this.release()
  }

  #ask(walletId: string): Promise<void> {
    const known = this.#waiting.get(walletId)
    if (known) return known.allowed
    if (this.#leader === undefined) return Promise.resolve()
    let allow = () => {}
    const allowed = new Promise<void>((resolve) => (allow = resolve))
    this.#waiting.set(walletId, { allowed, allow })
    this.#channel.relay({ type: 'before-write', walletId }, this.#leader)
    return allowed
  }
}
