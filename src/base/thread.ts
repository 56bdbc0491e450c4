/**
 * A thread beside the main one, for calculations that would have everybody wait: it starts with its first task, does one task after the other,
 * and ends with a task whose time is up, whatever that is at.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { Problem } from './problem.ts'
import type { Program } from './program.ts'

export type Thread<Task, Answer> = {
  /**
   * Has the thread do a task.
   *
   * @throws {Problem} `error:ServiceUnavailable` when too many wait, {ThreadSpent}, what the thread dies of.
   */
  ask(task: Task): Promise<Answer>
  /** Ends the thread, whatever it is at; the next task would start another, unless it is `forGood`: tasks that wait are refused then. */
  close(forGood?: boolean): Promise<void>
}

export type ThreadOptions = {
  name: string
  /** The thread's program: see `programOf`. It posts `'ready'`, and then an answer to every task. */
  program: Program
  /** The longest task, in milliseconds in which this process has a processor, and how many wait. */
  timeMs: number
  waiting: number
  /** What its heap may grow to; the process's limit when absent. */
  memoryMb?: number
  /** How long it stays when there is nothing to do; as long as the process when absent. */
  idleMs?: number
  /** What is said to those who come while too many wait. */
  tooMany: string
}

/** How many times as long a task may take by the clock: on a machine that is busy with others, it has a processor now and then. */
const patience = 5

/** A task took more time or memory than it may; the thread was ended. */
export class ThreadSpent extends Error {
  override name = 'ThreadSpent'
}

/** A thread that starts with its first task. It does not keep the process from ending unless it has something to do. */
export function createThread<Task, Answer>(options: ThreadOptions): Thread<Task, Answer> {
  const { name, program, timeMs, waiting, memoryMb, idleMs, tooMany } = options
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let isOver = false

  async function start(): Promise<Worker> {
    const started = new Worker(program.code, {
      name,
      env: {},
      ...(memoryMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
      eval: program.isSource,
    })
    await once(started, 'message')
    // Whoever waits for an answer is told by `once`; a thread that breaks while idle is replaced.
    started.on('error', () => undefined)
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    return (worker = started)
  }

  async function ask(task: Task): Promise<Answer> {
    clearTimeout(idle)
    const thread = isOver ? undefined : (worker ?? (await start()))
    if (isOver) await thread?.terminate()
    if (isOver || !thread) throw new Problem('error:ServiceUnavailable', 'The agent is stopping.')
    const controller = new AbortController()
    const end = () => controller.abort(new Error(`the thread ${name} has ended`))
    const stop = afterTime(timeMs, () =>
      controller.abort(new ThreadSpent(`the thread ${name} took longer than ${timeMs} ms`)),
    )
    thread.once('exit', end)
    thread.ref()
    try {
      const answer = once(thread, 'message', { signal: controller.signal })
      thread.postMessage(task)
      const [answered] = (await answer) as [Answer]
      return answered
    } catch (error) {
      if (worker === thread) worker = undefined
      await thread.terminate()
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ERR_WORKER_OUT_OF_MEMORY')
        throw new ThreadSpent(`the thread ${name} took more than ${memoryMb} MB`, { cause: error })
      throw code === 'ABORT_ERR' ? controller.signal.reason : error
    } finally {
      stop()
      thread.off('exit', end)
      thread.unref()
      if (idleMs !== undefined) idle = setTimeout(() => void close(), idleMs).unref()
    }
  }

  async function close(forGood = false): Promise<void> {
    isOver ||= forGood
    clearTimeout(idle)
    const thread = worker
    worker = undefined
    await thread?.terminate()
  }

  return {
    async ask(task) {
      if (queue.size >= waiting) throw new Problem('error:ServiceUnavailable', tooMany)
      return queue.add(() => ask(task))
    },
    close,
  }
}

/** Calls `spent` when this process has had a processor for so many milliseconds, or several times as many are over. Returns what stops that. */
function afterTime(timeMs: number, spent: () => void): () => void {
  const before = process.cpuUsage()
  const latest = performance.now() + patience * timeMs
  const look = () => {
    const { user, system } = process.cpuUsage(before)
    const leftMs = Math.min(timeMs - (user + system) / 1_000, latest - performance.now())
    if (leftMs <= 0) spent()
    else timer = setTimeout(look, leftMs)
  }
  let timer = setTimeout(look, timeMs)
  return () => clearTimeout(timer)
}
