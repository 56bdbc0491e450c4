/**
 * A thread beside the main one for schemas of strangers: while it compiles one, everybody else is served, and whatever a schema is made
 * to do ends with the thread when the time is up.
 */
import { programOf } from '../base/program.ts'
import { createThread as createBare, ThreadSpent } from '../base/thread.ts'
import type { Task, Verdict } from './assess.ts'

export type Thread = {
  /** Does a task with so much fuel. @throws {Problem} `error:ServiceUnavailable` when too many wait. */
  assess(task: Task, units: number): Promise<Verdict>
  /** Ends the thread; the next task would start another. */
  close(): Promise<void>
}

/** What a thread may be given to do and to use: the longest task, how many wait, how much memory. */
export type ThreadLimits = { timeMs: number; waiting: number; memoryMb: number }

/** A thread that starts with its first task. It does not keep the process from ending unless it has something to do. */
export function createThread(limits: ThreadLimits): Thread {
  const thread = createBare<{ task: Task; units: number }, Verdict>({
    ...limits,
    name: 'schemas',
    program: programOf(import.meta.url, 'schema-worker'),
    tooMany: 'Too many schemas are being checked. Try again in a few seconds.',
  })
  return {
    async assess(task, units) {
      try {
        return await thread.ask({ task, units })
      } catch (error) {
        if (error instanceof ThreadSpent) return { spent: true }
        throw error
      }
    },
    close: () => thread.close(),
  }
}
