/** The ledger: is it there, how long does it take, and does it say what it must? */
import { isTemporary } from '../base/problem.ts'
import type { Ledger } from '../vdr/ledger.ts'
import { lasting, type Finding } from './check.ts'

/** No operation has this hash: to find one would be to break SHA-256. */
const nowhere = '0'.repeat(64)

/** Longer round trips are worth telling: every resolution without a cache takes as long, and a publication several times as long. */
const slowMs = 1_000

/** Reads a DID that cannot exist; whatever knows it does not tell the truth. */
export async function checkLedger({
  location,
  getState,
}: Pick<Ledger, 'location' | 'getState'>): Promise<Finding> {
  const start = performance.now()
  try {
    const state = await getState(nowhere)
    const tookMs = performance.now() - start
    if (state) {
      return {
        status: 'failed',
        detail: `The ledger at ${location} shows a DID that cannot exist.`,
        hint: 'VDR_URL=<another node> agent daemon start',
      }
    }
    const detail = `The ledger at ${location} answered in ${lasting(Math.ceil(tookMs))}.`
    return tookMs > slowMs
      ? { status: 'warning', detail, hint: 'VDR_URL=<a node that is nearer> agent daemon start' }
      : { status: 'ok', detail }
  } catch (error) {
    if (!isTemporary(error)) throw error
    const hint = `curl -i ${location}   # start the node, or point VDR_URL at another; what waits goes on by itself`
    return { status: 'failed', detail: error.message, hint }
  }
}
