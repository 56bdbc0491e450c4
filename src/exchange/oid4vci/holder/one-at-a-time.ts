/**
 * Steps of a flow that send a secret of single use: a code, a transaction code. Two requests at once, such as
 * a redirect that arrives twice, would send it twice, and the issuer would revoke what the first one has got
 * (RFC 6749 §4.1.2).
 */
import type { CredentialRecord } from '../../issuance/model.ts'
import type { Db } from '../../../foundation/storage/database.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { getOffer } from './record.ts'

type Step = { request: string; outcome: Promise<CredentialRecord> }

/**
 * The running steps of each open wallet, by the threads of their records. One process owns a wallet; each
 * request has a handle of its own for it.
 */
const running = new WeakMap<Db, Map<string, Step>>()

/**
 * Makes the steps of an offer run one after the other. Two equal requests at once are one step, and have one
 * outcome.
 */
export function oneAtATime<Given>(
  name: string,
  run: (wallet: Wallet, recordId: string, given: Given) => Promise<CredentialRecord>,
): typeof run {
  return async (wallet, recordId, given) => {
    const steps = running.get(wallet.db) ?? new Map<string, Step>()
    running.set(wallet.db, steps)
    const text = JSON.stringify({ [name]: given, recordId })
    const { thid } = await getOffer(wallet.db, recordId)
    for (let step = steps.get(thid); step; step = steps.get(thid)) {
      if (step.request === text) return step.outcome
      await step.outcome.catch(() => undefined)
    }
    const outcome = run(wallet, recordId, given).finally(() => steps.delete(thid))
    steps.set(thid, { request: text, outcome })
    return outcome
  }
}
