/** What is said of a request or a credential that does not hold: to its sender, and on the record that waits for a better one. */
import { Problem } from '../../base/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { amend } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from './model.ts'

/** A request that does not hold; `reason` goes on after "The request". */
export function invalidRequest(reason: string, cause?: unknown): Problem {
  return new Problem('error:CredentialServiceError:InvalidCredentialRequest', `The request ${reason}`, {
    cause,
  })
}

/** A credential that does not hold. */
export function invalidIssue(reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:CredentialServiceError:InvalidCredentialIssue',
    `The credential is not accepted: ${reason}`,
    { cause },
  )
}

const refusals = [
  'error:CredentialServiceError:InvalidCredentialRequest',
  'error:CredentialServiceError:InvalidCredentialIssue',
]

/** What a record says of a refusal. */
export function toFailure({ status, type, title, message: detail }: Problem) {
  return { status, type, title, detail }
}

/**
 * Does `check` with what the other side of a record sent. That it does not hold is noted on the record, where it is in a state in which
 * it waits for such a message; it goes on waiting, since the other side may send a better one.
 */
export async function checking<Result>(
  wallet: Wallet,
  { id, state }: CredentialRecord,
  waitsIn: readonly CredentialRecord['state'][],
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof Problem && refusals.includes(error.type) && waitsIn.includes(state)) {
      await wallet.transaction(async (tx) => {
        const current = await getRecord(tx, issueCredential, id)
        if (current.state === state)
          await amend(tx, issueCredential, current, { metaLastFailure: toFailure(error) })
      })
    }
    throw error
  }
}
