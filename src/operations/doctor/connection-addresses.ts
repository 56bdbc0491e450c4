/** Checks the DIDComm addresses in the peer DIDs of connections. A peer DID cannot change its address. */
import { isPrivateAddress } from '../../foundation/net/addresses.ts'
import { addressOf } from '../../wallet/peer-dids.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallets } from '../../wallet/wallets.ts'
import type { Finding } from './check.ts'
import { hasAddress } from './public-addresses.ts'

export type AddressCount = { address: string; count: number }

/** Connections of a wallet that are read, oldest first: the address has more likely changed since. */
const maxConnections = 100

/** The addresses of a wallet's connections. */
export async function readAddresses(db: Db): Promise<AddressCount[]> {
  const rows = await db
    .selectFrom('record')
    .innerJoin('peer_did', 'peer_did.record_id', 'record.id')
    .where('protocol', '=', 'connection')
    .where('state', 'in', ['ConnectionResponseSent', 'ConnectionResponseReceived'])
    .select('peer_did.did')
    .orderBy('record.created_at')
    .limit(maxConnections)
    .execute()
  return groupByAddress(rows.map(({ did }) => ({ address: addressOf(did), count: 1 })))
}

/**
 * Describes connections with another address than `url`, in some of the wallets, for about `timeMs`.
 * Undefined when there are none.
 */
export async function findChangedAddress(
  wallets: Wallets,
  url: string,
  { maxWallets = 20, timeMs = 1_000 } = {},
): Promise<string | undefined> {
  const until = performance.now() + timeMs
  const known: AddressCount[] = []
  for (const id of (await wallets.ids()).slice(0, maxWallets)) {
    if (performance.now() > until) break
    // Another check reports unreadable wallets.
    known.push(...(await wallets.use(id, ({ db }) => readAddresses(db)).catch(() => [])))
  }
  const changed = groupByAddress(known.filter(({ address }) => address !== url))
  if (changed.length === 0) return undefined
  const old = changed[0]!.address
  const wayOut = isGone(old, url)
    ? 'The old address is not one of this machine any more: connect again.'
    : `To use the old address again: agent daemon stop, then ${commandFor(old)}`
  return `${describe(changed, url)} ${wayOut}`
}

/** Compares the addresses with `url`. `isReachable` calls an address and returns whether an agent replies. */
export async function checkAddresses(
  known: readonly AddressCount[],
  url: string,
  isReachable: (address: string) => Promise<boolean>,
): Promise<Finding> {
  const changed = groupByAddress(known.filter(({ address }) => address !== url))
  if (changed.length === 0) return { status: 'ok', detail: `All checked connections use the address ${url}.` }
  const detail = describe(changed, url)
  if (await isReachable(changed[0]!.address))
    return { status: 'ok', detail: `${detail} An agent replies at the old address.` }
  return {
    status: 'warning',
    detail,
    hint: isGone(changed[0]!.address, url)
      ? 'agent connection invite   # the old address is not one of this machine any more: connect again'
      : `agent daemon stop; ${commandFor(changed[0]!.address)}   # use the old address again`,
  }
}

function describe(changed: readonly AddressCount[], url: string): string {
  const count = changed.reduce((sum, each) => sum + each.count, 0)
  const connections = count === 1 ? '1 connection was' : `${count} connections were`
  return `${connections} made with the address ${changed[0]!.address}. The address is ${url} now, which the other sides do not know.`
}

/** True for the address that this machine had in a local network before `url`. */
function isGone(address: string, url: string): boolean {
  const [before, now] = [new URL(address).hostname, new URL(url).hostname]
  return isPrivateAddress(before) && !hasAddress(before) && hasAddress(now)
}

function commandFor(address: string): string {
  const { hostname, port } = new URL(address)
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && port !== ''
  if (isLocal) return `agent daemon start --didcomm-port ${port}`
  return hasAddress(hostname)
    ? `agent daemon start --lan ${hostname} --didcomm-port ${port}`
    : `DIDCOMM_SERVICE_URL=${address} agent daemon start`
}

/** Adds up the counts of each address, highest first. */
function groupByAddress(known: readonly AddressCount[]): AddressCount[] {
  const counts = new Map<string, number>()
  for (const { address, count } of known) counts.set(address, (counts.get(address) ?? 0) + count)
  return [...counts].map(([address, count]) => ({ address, count })).toSorted((a, b) => b.count - a.count)
}
