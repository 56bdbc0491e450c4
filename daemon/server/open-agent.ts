/** Opens what serves an agent: the two servers, which answer 503 until they are served, and the agent itself. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Agent, createAgent } from '../../src/agent/agent.ts'
import type { Config } from '../../src/foundation/config/config.ts'
import type { Configured } from '../../src/foundation/config/configure.ts'
import type { Log } from '../../src/foundation/log.ts'
import type { LocalProfile } from '../../src/foundation/config/profile.ts'
import type { Secret } from '../../src/foundation/secret.ts'
import { findChangedAddress } from '../../src/operations/doctor/connection-addresses.ts'
import type { ServerCertificate } from '../../src/foundation/net/certificate.ts'
import { createShutdown, type Shutdown } from '../middleware/shutdown.ts'
import { bind, type Certificate, connectionLimits, countConnections, portOf, stop, urlAt } from './listen.ts'
import type { Node } from './node.ts'
import { bindConfigured, loadCertificate } from './ports.ts'
import type { Servers } from './run-agent.ts'

/** Steps that undo a start, executed in reverse order. */
export type Undo = () => unknown

export type OpenOptions = {
  configured: Configured
  /** What URLs contain. */
  host: string
  log: Log
  undo: Undo[]
  adminToken: Secret
  /** The profile that an earlier start in this data folder has written. */
  remembered: LocalProfile | undefined
  openServers: (certificate: Certificate | undefined) => Promise<Bound>
  /** Called once the ports are bound, before the agent is opened. */
  openNode: () => Promise<Node | undefined>
}

/** The servers, and the ports at which clients reach them. */
export type Bound = { servers: Servers; ports: { rest: number; didcomm: number } }

export type Opened = {
  agent: Agent
  servers: Servers
  shutdown: Shutdown
  node: Node | undefined
  url: string
  didcommUrl: string
  publicDidcommUrl: string
  ports: { rest: number; didcomm: number }
  certificate: ServerCertificate | undefined
  /** A warning if peers know another address of this agent. */
  moved: string[]
}

/** @throws {StartError} when a port is in use, or the data folder cannot be used */
export async function openAgent(options: OpenOptions): Promise<Opened> {
  const { configured, host, log, undo, adminToken, remembered } = options
  const { config } = configured
  const shutdown = createShutdown()
  const certificate = await loadCertificate(config, host)
  const before = undo.length
  let bound: Bound | undefined
  let node: Node | undefined
  undo.push(async () => {
    await shutdown.begin()
    const stopped = [...Object.values(bound?.servers ?? {}), ...(node ? [node.listener.server] : [])].map(
      stop,
    )
    shutdown.release()
    await Promise.all(stopped)
  })
  bound = await options.openServers(certificate)
  const { servers, ports } = bound
  const { rest, didcomm } = servers
  const toUrl = (port: number) => urlAt(host, port, certificate !== undefined)
  const [url, didcommUrl] = [toUrl(ports.rest), toUrl(ports.didcomm)]
  const urls = { rest: config.REST_SERVICE_URL ?? url, didcomm: config.DIDCOMM_SERVICE_URL ?? didcommUrl }
  node = await options.openNode()
  const served = { ...config, ADMIN_TOKEN: adminToken }
  const agent = await createServed({ config: served, log, urls, undo, before, node, remembered })
  agent.env.metrics.read('agent_http_connections', async () => [
    { labels: { server: 'api' }, value: await countConnections(rest) },
    { labels: { server: 'didcomm' }, value: await countConnections(didcomm) },
  ])
  // Wallets are only opened for this check if the address has changed.
  const moved =
    remembered?.publicDidcommUrl === urls.didcomm
      ? undefined
      : await findChangedAddress(agent.wallets, urls.didcomm)
  return {
    agent,
    servers,
    shutdown,
    node,
    url,
    didcommUrl,
    publicDidcommUrl: urls.didcomm,
    ports,
    certificate,
    moved: moved === undefined ? [] : [moved],
  }
}

type ServedOptions = Pick<OpenOptions, 'log' | 'undo'> & {
  config: Config
  urls: { rest: string; didcomm: string }
  /**
   * The place in `undo` of the step that stops the servers. They stop before the agent, because accepted
   * requests use it.
   */
  before: number
  node: Node | undefined
  remembered?: LocalProfile | undefined
}

/**
 * Creates the agent of two bound servers. It ends before its node, and both end when the servers have
 * stopped.
 */
export async function createServed(options: ServedOptions): Promise<Agent> {
  const { config, log, urls, undo, before, node, remembered } = options
  undo.splice(before, 0, () => node?.close())
  const agent = await createAgent(config, log, urls, remembered, node?.store)
  undo.splice(before + 1, 0, () => agent[Symbol.asyncDispose]())
  return agent
}

/** Binds both ports. @throws {StartError} */
export async function bindServers(
  configured: Configured,
  certificate: Certificate | undefined,
): Promise<Bound> {
  const { config } = configured
  const open = (...[name, isProxied]: ['AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT', boolean]) =>
    bindConfigured(configured, name, (host, port, remedy) =>
      bind(host, port, remedy, connectionLimits(config, isProxied), certificate),
    )
  const rest = await open('AGENT_HTTP_PORT', config.AGENT_TRUST_PROXY)
  try {
    const didcomm = await open('AGENT_DIDCOMM_PORT', config.MEDIATOR_TRUST_PROXY)
    return { servers: { rest, didcomm }, ports: { rest: portOf(rest), didcomm: portOf(didcomm) } }
  } catch (error) {
    rest.close()
    throw error
  }
}

export async function undoAll(undo: Undo[]): Promise<void> {
  for (const step of undo.splice(0).toReversed()) await step()
}

/** How long a stopping daemon may take, in milliseconds: ten seconds are promised. */
export const stopLimitMs = 9_000

/**
 * Undoes all in `limitMs`. Returns whether all is undone. Otherwise the process is to end, since a step
 * waits, for example for a database that does not answer: its lease ends by itself then.
 */
export function undoInTime(undo: Undo[], limitMs: number): Promise<boolean> {
  return Promise.race([undoAll(undo).then(() => true), wait(limitMs, false)])
}
