/** Checks the ledger: whether it replies, how fast, and whether its replies are plausible. */
import { isTemporary } from '../../foundation/problem.ts'
import type { Ledger } from '../../did/ledger/ledger.ts'
import { formatDuration, type Finding } from './check.ts'

/** No operation has this hash, as SHA-256 is preimage resistant. */
const impossibleHash = '0'.repeat(64)

/** Slower replies cause a warning: every resolution takes as long, a publication several times as long. */
const slowMs = 1_000

/** Resolves a DID that cannot exist. */
export async function checkLedger({
  location,
  getState,
}: Pick<Ledger, 'location' | 'getState'>): Promise<Finding> {
  const start = performance.now()
  try {
    const state = await getState(impossibleHash)
    const tookMs = performance.now() - start
    if (state) {
      return {
        status: 'failed',
        detail: `The ledger at ${location} returns a DID that cannot exist.`,
        hint: 'VDR_URL=<another node> agent daemon start',
      }
    }
    const detail = `The ledger at ${location} answered in ${formatDuration(Math.ceil(tookMs))}.`
    return tookMs > slowMs
      ? { status: 'warning', detail, hint: 'VDR_URL=<a node that is nearer> agent daemon start' }
      : { status: 'ok', detail }
  } catch (error) {
    if (!isTemporary(error)) throw error
    const hint = `curl -i ${location}   # start the node, or set VDR_URL to another one; waiting operations then continue`
    return { status: 'failed', detail: error.message, hint }
  }
}
