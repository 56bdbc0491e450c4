/** Serves an agent on the two bound servers, and continues its work. */
import type { Server } from 'node:http'
import type { Agent } from '../../src/agent/agent.ts'
import type { MountOptions } from '../http/mount.ts'
import type { Route } from '../http/route.ts'
import type { Shutdown } from '../middleware/shutdown.ts'
import { createForwarding } from '../nodes/forward.ts'
import { createApp } from './app.ts'
import { createDidcommApp } from './didcomm.ts'
import { serve } from './listen.ts'
import type { Node } from './node.ts'
import { serveSockets } from './sockets.ts'

export type Servers = { rest: Server; didcomm: Server }

type RunOptions = MountOptions & {
  routes: readonly Route[]
  shutdown?: Shutdown
  /** The node that this agent is, if there may be others. */
  node?: Node | undefined
}

/** Adds to `undo` what ends streams and waiting requests, because stopping servers wait for them. */
export async function runAgent(
  agent: Agent,
  { rest, didcomm }: Servers,
  undo: (() => unknown)[],
  { routes, node, ...options }: RunOptions,
): Promise<void> {
  const key = node && agent.getPeerKey()
  const forwarding = node && createForwarding({ ...node, key: key! })
  // Forwarded requests end with the servers.
  if (forwarding) undo.splice(1, 0, () => forwarding.close())
  const handlers = {
    rest: createApp(agent, routes, { ...options, ...(forwarding && { forwarding }) }).callback(),
    didcomm: createDidcommApp(agent, options.shutdown, forwarding).callback(),
  }
  node?.listener.serve(key!, handlers)
  serve(rest, handlers.rest)
  serve(didcomm, handlers.didcomm)
  undo.push(serveSockets(node ? [didcomm, node.listener.server] : [didcomm], agent, { forwarding }))
  undo.push(() => agent.backups[Symbol.asyncDispose]())
  undo.push(() => agent.definitions.close())
  undo.push(() => agent.notifier.close())
  undo.push(() => node?.drain())
  undo.push(() => agent.readiness.stop())
  await agent.worker.resume()
}
