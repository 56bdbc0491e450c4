/** A node: the agent's store in PostgreSQL, and its leases on the wallets that it works on. */
import { hostname } from 'node:os'
import type { Config } from '../../src/foundation/config/config.ts'
import type { Log } from '../../src/foundation/log.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { CacheVersions, cachesChannel } from '../../src/cluster/broadcast.ts'
import { maxClockDifferenceMs, ownersChannel, readClockDifference } from '../../src/cluster/lease-table.ts'
import { Leases } from '../../src/cluster/leases.ts'
import { listen } from '../../src/cluster/notifications.ts'
import type { Ownership } from '../../src/cluster/ownership.ts'
import { openNodes } from '../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../src/foundation/storage/postgres/open.ts'
import { createPostgresStore, type Store } from '../../src/agent/store.ts'
import { version } from '../http/version.ts'
import { bindPeerListener, type PeerListener } from '../nodes/listener.ts'
import { stop } from './listen.ts'

export type Node = {
  readonly store: Store
  readonly ownership: Ownership
  /** How long a wallet has no owner at most after its owner has ended. */
  readonly leaseSeconds: number
  readonly listener: PeerListener
  readonly address: string
  /** Gives the wallets to other nodes, so that they take over at once. */
  drain(): Promise<void>
  close(): Promise<void>
}

/**
 * Connects to the database, migrates it, binds the listener for other nodes, and takes this node's share of
 * the wallets.
 *
 * @throws {StartError} in one sentence. Nothing is open then.
 */
export async function startNode(config: Config, log: Log): Promise<Node> {
  const { AGENT_DATABASE_URL: url, AGENT_DATABASE_CONNECTIONS, AGENT_LEASE_SECONDS: leaseSeconds } = config
  const name = nameOfNode(config)
  const connections = await openPostgres({
    url: url!.reveal(),
    connections: AGENT_DATABASE_CONNECTIONS,
    nodeName: name,
  })
  let listener: PeerListener | undefined
  try {
    assertClock(await readClockDifference(openNodes(connections)))
    listener = await bindPeerListener(config.AGENT_NODE_ADDRESS)
    const { address, server } = listener
    const leases = await Leases.open({ connections, name, address, release: version, leaseSeconds, log })
    const caches = new CacheVersions(openNodes(connections))
    const stopListening = listen({
      connections,
      log,
      channels: { [ownersChannel]: () => leases.refresh(), [cachesChannel]: (kind) => caches.notify(kind) },
      onConnect() {
        leases.refresh()
        void caches.check()
      },
      onDelivery: (arrives) => caches.setDelivery(arrives),
    })
    const close = async () => {
      await leases.close()
      await stop(server)
      await stopListening()
      caches.close()
      await connections.close()
    }
    return {
      store: createPostgresStore(connections, leases, caches),
      ownership: leases,
      leaseSeconds,
      listener,
      address,
      drain: () => leases.drain(),
      close,
    }
  } catch (error) {
    listener?.server.close()
    await connections.close()
    throw error
  }
}

function assertClock(aheadMs: number): void {
  if (Math.abs(aheadMs) <= maxClockDifferenceMs) return
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  throw new StartError(
    `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database. Set both clocks, for example by NTP, and start again.`,
    1,
  )
}

/** The configured name of the node, or that of the machine in valid characters. */
export function nameOfNode({ AGENT_NODE_NAME }: Config): string {
  return (
    AGENT_NODE_NAME ??
    (hostname()
      .replaceAll(/[^\w.-]/g, '-')
      .slice(0, 63) ||
      'node')
  )
}
