/**
 * Transaction codes (VCI §4.1.1): the issuer gives one to the person on another channel, and the wallet or
 * the consent page asks for it.
 */
import { randomInt } from 'node:crypto'
import * as z from 'zod'
import { createTokenCheck } from '../../foundation/api-key.ts'
import { Secret } from '../../foundation/secret.ts'
import { advance, updateData } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { optional } from '../../wallet/model.ts'
import { type GrantRow, updateGrant } from './grant.ts'

/** VCI §13.6.3: how often a wrong transaction code may be sent for one offer. */
export const maxGuesses = 5

const [shortest, longest, usual] = [4, 16, 6]

export const TxCode = z.object({
  length: z.int().min(shortest).max(longest).default(usual).describe('Digits; default 6.'),
  description: optional(z.string().min(1).max(300)).describe('For the holder: where the code comes from.'),
})

/** A new code, and the `tx_code` object of its offer. Undefined if none is wanted. */
export function newTxCode(wanted: boolean | z.output<typeof TxCode>) {
  if (wanted === false) return undefined
  const { length, description } = wanted === true ? { length: usual } : wanted
  const txCode = Array.from({ length }, () => randomInt(10)).join('')
  const txCodeHint = { input_mode: 'numeric', length, ...(description !== undefined && { description }) }
  return { txCode, txCodeHint }
}

/**
 * Compares a transaction code. A wrong one is counted, and the offer is blocked after the last guess (VCI
 * §13.6.3).
 *
 * @returns how many guesses are left after a wrong code; undefined if the code is right
 */
export async function guessTxCode(
  tx: Tx,
  { grant, records }: { grant: GrantRow; records: readonly CredentialRecord[] },
  { right, given }: { right: string; given: string },
): Promise<number | undefined> {
  if (createTokenCheck([new Secret(right)])(given)) return undefined
  const guesses = grant.guesses - 1
  await updateGrant(tx, grant.id, { guesses })
  const metaLastFailure = {
    status: 400,
    type: 'invalid_grant',
    title: 'Invalid Grant',
    detail: `A wrong transaction code was sent. ${guesses} guesses are left.`,
  }
  for (const record of records)
    if (guesses === 0) await advance(tx, issueCredential, record, 'refused tx_code', { metaLastFailure })
    else await updateData(tx, record, { metaLastFailure })
  return guesses
}
