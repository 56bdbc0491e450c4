/** Refusing invalid requests and credentials, and comparing a credential with its offer. */
import { Problem } from '../../foundation/problem.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { updateData } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import { canonicalDid, includesDid } from '../../did/document.ts'

/** An invalid request. `reason` continues the sentence "The request". */
export function invalidRequest(reason: string, cause?: unknown): Problem {
  return new Problem('error:CredentialServiceError:InvalidCredentialRequest', `The request ${reason}`, {
    cause,
  })
}

/** An invalid credential. */
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

/** The failure that a record stores. */
export function toFailure({ status, type, title, message: detail }: Problem) {
  return { status, type, title, detail }
}

/**
 * Runs `check` for a message of the other side. A record in one of the states `waitsIn` stores the failure
 * and continues to wait, because the other side may send a valid message.
 */
export async function checkReply<Result>(
  wallet: Wallet,
  { id, state, role, credentialFormat: format }: CredentialRecord,
  waitsIn: readonly CredentialRecord['state'][],
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof Problem && refusals.includes(error.type) && waitsIn.includes(state)) {
      await wallet.transaction(async (tx) => {
        if (role === 'Holder')
          noteCount(tx, 'agent_credentials_received_total', { format, result: 'refused' })
        const current = await getRecord(tx, issueCredential, id)
        if (current.state === state) await updateData(tx, current, { metaLastFailure: toFailure(error) })
      })
    }
    throw error
  }
}

/** Why a credential's issuer is not accepted. Undefined if it is; without a list, every issuer is accepted. */
export function findIssuerMismatch(
  trustedIssuers: readonly string[] | undefined,
  issuer: string,
): string | undefined {
  if (trustedIssuers === undefined || includesDid(trustedIssuers, issuer)) return undefined
  return `its issuer ${canonicalDid(issuer)} is not one of the trusted issuers`
}
