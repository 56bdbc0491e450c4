/**
 * A thread beside the main one for schemas of strangers: while it compiles one, everybody else is served, and whatever a schema is made
 * to do ends with the thread when the time is up.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { Problem } from '../base/problem.ts'
import type { Task, Verdict } from './assess.ts'

export type Thread = {
  /** Does a task with so much fuel. @throws {Problem} `error:ServiceUnavailable` when too many wait. */
  assess(task: Task, units: number): Promise<Verdict>
  /** Ends the thread; the next task would start another. */
  close(): Promise<void>
}

/** What a thread may be given to do and to use: the longest task, how many wait, how much memory. */
export type ThreadLimits = { timeMs: number; waiting: number; memoryMb: number }

// The bundle has the worker beside itself, as the sources have. Sources run where tsx is installed, which a thread has to be told.
const isSource = import.meta.url.endsWith('.ts')
const entry = new URL(`./schema-worker.${isSource ? 'ts' : 'js'}`, import.meta.url)
const program = isSource ? `import('tsx/esm/api').then((tsx) => (tsx.register(), import('${entry.href}')))` : entry

/** A thread that starts with its first task. It does not keep the process from ending unless it has something to do. */
export function createThread({ timeMs, waiting, memoryMb }: ThreadLimits): Thread {
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined

  async function start(): Promise<Worker> {
    const started = new Worker(program, {
      name: 'schemas',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      eval: isSource,
    })
    await once(started, 'message')
    // Whoever waits for an answer is told by `once`; a thread that breaks while idle is replaced.
    started.on('error', () => undefined)
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    return (worker = started)
  }

  async function ask(task: Task, units: number): Promise<Verdict> {
    const thread = worker ?? (await start())
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), timeMs)
    thread.ref()
    try {
      const answer = once(thread, 'message', { signal: controller.signal })
      thread.postMessage({ task, units })
      const [verdict] = (await answer) as [Verdict]
      return verdict
    } catch (error) {
      worker = undefined
      await thread.terminate()
      if (controller.signal.aborted || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return { spent: true }
      throw error
    } finally {
      clearTimeout(timer)
      thread.unref()
    }
  }

  return {
    async assess(task, units) {
      if (queue.size >= waiting)
        throw new Problem('error:ServiceUnavailable', 'Too many schemas are being checked. Try again in a few seconds.')
      return queue.add(() => ask(task, units))
    },
    async close() {
      const thread = worker
      worker = undefined
      await thread?.terminate()
    },
  }
}
