/** Transactions that a person authorizes with a presentation (OpenID4VP 1.0 §8.4, Annex B.3.3). */
import { hash } from 'node:crypto'
import * as z from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../../foundation/bytes.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { openIdTraits } from '../../definitions/format-names.ts'
import { isUnbound, type DcqlQuery } from '../../credentials/dcql/query.ts'

const maxTransactions = 20
/** The longest transaction as JSON text: requests by value are URLs. */
const maxLength = 10_000

/** Hash functions by their names in the registry "Named Information Hash Algorithm". */
const functions = { 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512' } as const
type Algorithm = keyof typeof functions
const defaultAlgorithm = 'sha-256'

export const TransactionData = z
  .looseObject({
    type: z.string().min(1).max(200).describe('The type of the transaction, by which wallets show it.'),
    credential_ids: z
      .array(z.string())
      .min(1)
      .max(50)
      .describe('The ids of the credential queries, one of which authorizes the transaction.'),
    transaction_data_hashes_alg: z
      .array(z.enum(Object.keys(functions) as [Algorithm, ...Algorithm[]]))
      .min(1)
      .optional()
      .describe('Hash functions, one of which the wallet uses. Default: `sha-256`.'),
  })
  .refine(
    (data) => JSON.stringify(data).length <= maxLength,
    `is longer than ${maxLength} characters as JSON`,
  )
  .meta({ id: 'OpenId4VpTransactionData' })
export type TransactionData = z.infer<typeof TransactionData>

export const Transactions = z.array(TransactionData).min(1).max(maxTransactions)

/** A member of `transaction_data`, which wallets hash as it is. */
export function encodeTransaction(data: TransactionData): string {
  return toBase64url(JSON.stringify(data))
}

export function decodeTransaction(encoded: string): TransactionData {
  return TransactionData.parse(JSON.parse(fromUtf8(fromBase64(encoded))))
}

/** The place and the reason why transactions do not fit a query: they need credentials with a key binding. */
export function findTransactionFault(
  transactions: readonly TransactionData[],
  { credentials }: DcqlQuery,
): { path: (string | number)[]; message: string } | undefined {
  for (const [index, { credential_ids: ids }] of transactions.entries())
    for (const [place, id] of ids.entries()) {
      const path = [index, 'credential_ids', place]
      const asked = credentials.find((each) => each.id === id)
      if (!asked) return { path, message: 'is not an id of a requested credential' }
      if (!openIdTraits(asked.format)?.hasKeyBinding || isUnbound(asked))
        return {
          path,
          message: 'names a credential without key binding, which cannot authorize a transaction',
        }
    }
  return undefined
}

const Hashes = z.object({
  transaction_data_hashes: z.array(z.string()).max(100).optional(),
  transaction_data_hashes_alg: z.string().optional(),
})

export type TransactionCheck = {
  /** Checks the hashes in the key binding of a presentation. @throws {VerificationError} */
  checkBinding(binding: object, credentialId: string): void
  /** Checks that each transaction is authorized by one presentation. @throws {VerificationError} */
  checkAll(): void
}

/** Creates the check of one response. `encoded` are the members of `transaction_data`. */
export function createTransactionCheck(encoded: readonly string[]): TransactionCheck {
  const transactions = encoded.map((text) => ({ text, data: decodeTransaction(text), count: 0 }))
  return {
    checkBinding(binding, credentialId) {
      const { success, data } = Hashes.safeParse(binding)
      if (!success) throw refused('transaction_data_hashes of the key binding is not an array of texts')
      const { transaction_data_hashes: hashes = [], transaction_data_hashes_alg: algorithm } = data
      for (const each of hashes) {
        const found = transactions.find(
          ({ text, data: { credential_ids: ids, transaction_data_hashes_alg: allowed } }) =>
            ids.includes(credentialId) &&
            (algorithm === undefined
              ? allowed === undefined
              : (allowed ?? [defaultAlgorithm]).includes(algorithm as Algorithm)) &&
            hash(functions[(algorithm ?? defaultAlgorithm) as Algorithm], text, 'base64url') === each,
        )
        if (!found)
          throw refused(
            'The holder authorized a transaction that the request does not ask of this credential',
          )
        found.count += 1
      }
    },
    checkAll() {
      const index = transactions.findIndex(({ count }) => count !== 1)
      if (index < 0) return
      const times = transactions[index]!.count === 0 ? 'no presentation' : 'several presentations'
      throw refused(`transaction_data.${index} is authorized by ${times}`)
    },
  }
}

function refused(reason: string): VerificationError {
  return new VerificationError('holder-binding', reason)
}
