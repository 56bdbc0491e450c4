/** The bare composition as the bench asks for it: a process that is started once, and measures what it is told to. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { temporaryFolder } from '../../test/_daemon.ts'
import { openReceiver } from './_receiver.ts'
import type { Steps } from './_steps.ts'

const program = fileURLToPath(new URL('_bare-process.ts', import.meta.url))

const Done = z.object({ times: z.array(z.number()), cpuMs: z.number(), perSecond: z.number() })
export type Done = z.output<typeof Done>

/** Starts it. `run` says what so many at once took for so long. */
export async function openBare() {
  const folder = await temporaryFolder()
  const receiver = await openReceiver()
  const child = fork(program, [folder.path, receiver.url], { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the bare composition has ended with ${code}`)))
  ended.catch(() => {})
  const answer = async () => ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  await answer()
  return {
    async run(asked: { steps: Steps; concurrency: number; seconds: number }): Promise<Done> {
      child.send(asked)
      const done = Done.parse(await answer())
      receiver.forget()
      return done
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended.catch(() => {})
      await receiver[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}
