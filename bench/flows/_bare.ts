/** Client of the bare composition: a process that starts once, and measures on request. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { together } from '../_harness.ts'
import { openReceiver } from './_receiver.ts'
import type { Steps } from './_steps.ts'

const program = fileURLToPath(new URL('_bare-process.ts', import.meta.url))
const execArgv = ['--import', new URL('../_typescript.js', import.meta.url).href]

const Done = z.object({ times: z.array(z.number()), cpuMs: z.number(), perSecond: z.number() })
export type Done = z.output<typeof Done>

type Order = { steps: Steps; concurrency: number; seconds: number }

/** Starts the process, with more arguments for Node. `run` measures some concurrent flows for some seconds. */
export async function openBare(more: readonly string[] = []) {
  const folder = await temporaryFolder()
  const receiver = await openReceiver()
  const bare = fork(program, [folder.path, receiver.url], {
    execArgv: [...execArgv, ...more],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const child = await openChild(bare)
  return {
    async run(asked: Order): Promise<Done> {
      const done = await child.run(asked)
      receiver.forget()
      return done
    },
    pid: bare.pid!,
    exchange: child.exchange,
    [Symbol.asyncDispose]: together([folder, receiver, child]),
  }
}

/** A process that reports when it is ready, and answers each order with its result. @throws when it ends. */
export async function openChild(child: ChildProcess) {
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the measured process has ended by itself (${code})`)),
  )
  ended.catch(() => {})
  const answer = async () => ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  const ready = await answer()
  const exchange = (message: object): Promise<unknown> => {
    child.send(message)
    return answer()
  }
  return {
    run: async (order: { steps?: Steps; concurrency: number; seconds: number }): Promise<Done> =>
      Done.parse(await exchange(order)),
    /** The first message. */
    ready,
    /** The reply to a message. */
    exchange,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended.catch(() => {})
    },
  }
}
