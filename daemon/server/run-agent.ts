/** Serves an agent on the two bound servers, and continues its work. */
import type { Server } from 'node:http'
import type { Agent } from '../../src/agent.ts'
import type { MountOptions } from '../http/mount.ts'
import type { Route } from '../http/route.ts'
import type { Shutdown } from '../middleware/shutdown.ts'
import { createApp } from './app.ts'
import { createDidcommApp } from './didcomm.ts'
import { serve } from './listen.ts'
import { serveSockets } from './mediator.ts'

export type Servers = { rest: Server; didcomm: Server }

type RunOptions = MountOptions & {
  routes: readonly Route[]
  shutdown?: Shutdown
  /** Gives the wallets of this node to the others. */
  drain?: () => Promise<void> | undefined
}

/** Adds to `undo` what ends streams and waiting requests, because stopping servers wait for them. */
export async function runAgent(
  agent: Agent,
  { rest, didcomm }: Servers,
  undo: (() => unknown)[],
  { routes, drain, ...options }: RunOptions,
): Promise<void> {
  serve(rest, createApp(agent, routes, options).callback())
  serve(didcomm, createDidcommApp(agent, options.shutdown).callback())
  undo.push(serveSockets(didcomm, agent))
  undo.push(() => agent.backups[Symbol.asyncDispose]())
  undo.push(() => agent.definitions.close())
  undo.push(() => agent.notifier.close())
  undo.push(() => drain?.())
  undo.push(() => agent.readiness.stop())
  await agent.worker.resume()
}
