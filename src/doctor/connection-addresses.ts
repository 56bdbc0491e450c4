/** The addresses that the other sides of connections know this agent by: a peer DID holds its address for good. */
import { addressOf } from '../wallet/peer-dids.ts'
import type { Db } from '../storage/database.ts'
import type { Wallets } from '../wallet/wallets.ts'
import type { Finding } from './check.ts'

/** Connections of one address. */
export type Known = { address: string; count: number }

/** The oldest connections of a wallet: those that were made at an address that has changed since. */
const most = 100

/** Reads the addresses of a wallet's connections. */
export async function findAddresses(db: Db): Promise<Known[]> {
  const rows = await db
    .selectFrom('record')
    .innerJoin('peer_did', 'peer_did.record_id', 'record.id')
    .where('protocol', '=', 'connection')
    .where('state', 'in', ['ConnectionResponseSent', 'ConnectionResponseReceived'])
    .select('peer_did.did')
    .orderBy('record.created_at')
    .limit(most)
    .execute()
  return sumUp(rows.map(({ did }) => ({ address: addressOf(did), count: 1 })))
}

/** Finds connections that were made at another address than `url`, in some of the wallets, for about `timeMs`. */
export async function findMoved(
  wallets: Wallets,
  url: string,
  { mostWallets = 20, timeMs = 1_000 } = {},
): Promise<string | undefined> {
  const until = performance.now() + timeMs
  const known: Known[] = []
  for (const id of (await wallets.ids()).slice(0, mostWallets)) {
    if (performance.now() > until) break
    // A wallet that cannot be read is reported by the doctor.
    known.push(...(await wallets.use(id, ({ db }) => findAddresses(db)).catch(() => [])))
  }
  const moved = sumUp(known.filter(({ address }) => address !== url))
  return moved.length === 0 ? undefined : `${describe(moved, url)} ${wayBack(moved[0]!.address)}`
}

/** What the addresses mean for an agent at `url`. `isReachable` tells whether an address still leads to an agent such as this. */
export async function checkAddresses(
  known: readonly Known[],
  url: string,
  isReachable: (address: string) => Promise<boolean>,
): Promise<Finding> {
  const moved = sumUp(known.filter(({ address }) => address !== url))
  if (moved.length === 0)
    return { status: 'ok', detail: `All connections that were looked at know this agent by ${url}.` }
  const detail = describe(moved, url)
  if (await isReachable(moved[0]!.address))
    return { status: 'ok', detail: `${detail} The old address is answered by an agent.` }
  return {
    status: 'warning',
    detail,
    hint: `agent daemon stop; ${commandFor(moved[0]!.address)}   # the old address again`,
  }
}

function describe(moved: readonly Known[], url: string): string {
  const count = moved.reduce((sum, each) => sum + each.count, 0)
  const connections = count === 1 ? '1 connection was' : `${count} connections were`
  return `${connections} made when this agent was at ${moved[0]!.address}. It is at ${url} now, and the other sides cannot reach it there.`
}

function wayBack(address: string): string {
  return `To use the old address again: agent daemon stop, then ${commandFor(address)}`
}

function commandFor(address: string): string {
  const { hostname, port } = new URL(address)
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && port !== ''
  return isLocal
    ? `agent daemon start --didcomm-port ${port}`
    : `DIDCOMM_SERVICE_URL=${address} agent daemon start`
}

/** The most frequent address first. */
function sumUp(known: readonly Known[]): Known[] {
  const counts = new Map<string, number>()
  for (const { address, count } of known) counts.set(address, (counts.get(address) ?? 0) + count)
  return [...counts].map(([address, count]) => ({ address, count })).toSorted((a, b) => b.count - a.count)
}
