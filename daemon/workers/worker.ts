/** A worker process: an agent that works on its share of the wallets, at the ports of the daemon. */
import type { Config } from '../../src/foundation/config/config.ts'
import { forgetSecrets } from '../../src/foundation/config/config.ts'
import { configure } from '../../src/foundation/config/configure.ts'
import { openLog } from '../../src/foundation/log.ts'
import { fitOpenFiles } from '../../src/foundation/config/open-files.ts'
import { readLocalProfile } from '../../src/foundation/config/profile.ts'
import { type Broadcast, CacheListeners } from '../../src/cluster/broadcast.ts'
import { WorkerOwnership } from '../../src/cluster/worker-ownership.ts'
import { createFileStore } from '../../src/agent/store.ts'
import { createWriteBarrier } from '../../src/wallet/write-barrier.ts'
import { bindPeerListener } from '../nodes/listener.ts'
import { routes } from '../routes/index.ts'
import { type Certificate, connectionLimits, createInjected, inject, stop } from '../server/listen.ts'
import type { Node } from '../server/node.ts'
import { type Bound, openAgent, stopLimitMs, undoAll, undoInTime, type Undo } from '../server/open-agent.ts'
import { lockForWorker } from '../server/data-folder.ts'
import { endOnUncaught, toFailure } from '../server/failure.ts'
import { resolveLan } from '../server/ports.ts'
import { runAgent } from '../server/run-agent.ts'
import { startTracing } from '../server/tracing.ts'
import { Channel } from './channel.ts'
import type { Start } from './messages.ts'
import { shareWriteBarrier } from './write-barrier.ts'

/** How long a request for a wallet of a worker that has ended waits for its new process, in seconds. */
const restartSeconds = 5

/** How long a worker may take to stop: less than its supervisor, which has to end after it. */
const limitMs = stopLimitMs - 1_000

/**
 * Starts when the supervisor says so. Node.js delivers the messages that came while the process loaded
 * without a pause, so whoever listens does so before the first one, or while `start` is handled.
 */
export function runWorker(): void {
  const undo: Undo[] = []
  const channel = new Channel()
  stopWhenTold(channel, undo)
  channel.on('start', (start) => void run(start, channel, shareFiles(start, channel), undo))
}

async function run(start: Start, channel: Channel, files: Files, undo: Undo[]): Promise<void> {
  try {
    await serve(start, channel, files, undo)
  } catch (error) {
    channel.send({ type: 'failed', ...toFailure(error) })
    await undoAll(undo)
    process.exitCode = 1
    process.disconnect()
  }
}

type Files = ReturnType<typeof shareFiles>

/**
 * Creates the ownership, the broadcast and the write barrier, which receive messages of other workers from
 * now on.
 */
function shareFiles({ index, count, startsAlone, pausedBy }: Start, channel: Channel) {
  const ownership = new WorkerOwnership(index, count, startsAlone)
  channel.on('workers', ({ workers }) => ownership.setAddresses(workers.map(({ address }) => address)))
  return {
    ownership,
    broadcast: createBroadcast(channel),
    writeBarrier: shareWriteBarrier(createWriteBarrier(), channel, index, pausedBy),
  }
}

async function serve(start: Start, channel: Channel, files: Files, undo: Undo[]): Promise<void> {
  const { configured, host } = await resolveLan(await configure(process.env, process.argv.slice(2)))
  forgetSecrets(process.env, configured.config)
  const { config } = fitOpenFiles(toShare(configured.config, start))
  const log = openLog(config.AGENT_LOG_LEVEL).with({ worker: files.ownership.name })
  endOnUncaught(log)
  undo.push(startTracing(config, log), await lockForWorker(config.AGENT_DATA_DIR, files.ownership.name))
  const profile = readLocalProfile(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE)
  const opened = await openAgent({
    configured: { ...configured, config },
    host,
    log,
    undo,
    adminToken: config.ADMIN_TOKEN!,
    remembered: profile?.dataDir === config.AGENT_DATA_DIR ? profile : undefined,
    openServers: (certificate) => Promise.resolve(createServers(config, channel, start.ports, certificate)),
    openNode: () => openNode(config, files),
  })
  const { agent, servers, shutdown, node, certificate, url, didcommUrl, publicDidcommUrl, moved } = opened
  channel.send({
    type: 'opened',
    url,
    didcommUrl,
    publicDidcommUrl,
    moved,
    certificate: certificate?.fingerprint,
    authority: certificate?.authorityFile,
    apiKey: agent.defaultApiKey?.reveal(),
  })
  await channel.next('serve')
  await runAgent(agent, servers, undo, { routes, shutdown, node })
  channel.send({ type: 'ready', address: node!.address })
}

/** The configuration with this worker's share of what a process may have open. */
function toShare(config: Config, { count }: Start): Config {
  const share = (total: number) => Math.ceil(total / count)
  return {
    ...config,
    AGENT_CONNECTIONS: share(config.AGENT_CONNECTIONS),
    AGENT_OPEN_WALLETS: share(config.AGENT_OPEN_WALLETS),
  }
}

/** The servers, for the connections that the supervisor has accepted. */
function createServers(
  config: Config,
  channel: Channel,
  ports: Start['ports'],
  certificate: Certificate | undefined,
): Bound {
  const servers = {
    rest: createInjected(connectionLimits(config, config.AGENT_TRUST_PROXY), certificate),
    didcomm: createInjected(connectionLimits(config, config.MEDIATOR_TRUST_PROXY), certificate),
  }
  channel.onConnection((to, socket) => inject(servers[to], socket))
  return { servers, ports }
}

async function openNode(config: Config, files: Files): Promise<Node> {
  const listener = await bindPeerListener('127.0.0.1:0')
  return {
    store: createFileStore(config, files),
    ownership: files.ownership,
    leaseSeconds: restartSeconds,
    listener,
    address: listener.address,
    drain: () => Promise.resolve(),
    close: () => stop(listener.server),
  }
}

function createBroadcast(channel: Channel): Broadcast {
  const { subscribe, notify } = new CacheListeners()
  channel.on('relayed', ({ message }) => {
    if (message.type === 'changed') notify(message.kind)
  })
  return {
    publish(kind) {
      channel.relay({ type: 'changed', kind })
      return Promise.resolve()
    },
    subscribe,
  }
}

/** Ends gracefully when the supervisor says so, and by a signal: a terminal sends Ctrl-C to all processes. */
function stopWhenTold(channel: Channel, undo: Undo[]): void {
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    channel.end()
    undoInTime(undo, limitMs).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  channel.on('stop', stop)
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The supervisor was killed: another daemon may serve the folder at once.
  process.on('disconnect', () => process.exit(1))
}
