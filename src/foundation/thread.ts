/**
 * A worker thread for computations that would block the event loop. It starts with its first task, runs one
 * task at a time, and is ended when a task exceeds its time.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { Problem } from './problem.ts'
import type { Program } from './program.ts'

export type Thread<Task, Answer> = {
  /** Runs a task in the thread. @throws {Problem} 503 when too many tasks wait, {ThreadSpent} */
  ask(task: Task): Promise<Answer>
  /** Ends the thread, also during a task. The next task starts a new one, or is refused if `forGood`. */
  close(forGood?: boolean): Promise<void>
}

export type ThreadOptions = {
  name: string
  /** The program, see `programOf`. It posts `'ready'`, and then an answer to every task. */
  program: Program
  /** The longest CPU time of a task in milliseconds, and the number of tasks that may wait. */
  timeMs: number
  waiting: number
  /** The heap limit. Default: that of the process. */
  memoryMb?: number
  /** How long an idle thread stays. Default: as long as the process. */
  idleMs?: number
  /** The message when too many tasks wait. */
  tooMany: string
}

/** The limit of elapsed time, as a multiple of CPU time: a busy machine gives the process little CPU. */
const patience = 5

/** A task exceeded its time or memory, and the thread was ended. */
export class ThreadSpent extends Error {
  override name = 'ThreadSpent'
}

/** Creates a thread. It keeps the process alive only during a task. */
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
    // `once` reports errors during a task; a thread that fails while idle is replaced.
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

/** Calls `spent` after a CPU time, or a multiple of it in elapsed time. Returns its cancellation. */
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
