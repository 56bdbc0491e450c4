/** What is said of a request or a credential that does not hold: to its sender, and on the record that waits for a better one. */
import { Problem } from '../../base/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { updateData } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import { canonicalize, type JsonObject, tryParseJson } from '../../base/json.ts'
import { canonicalDid } from '../../did/document.ts'

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
          await updateData(tx, issueCredential, current, { metaLastFailure: toFailure(error) })
      })
    }
    throw error
  }
}

/** What an offer and a credential both say. */
type Said = { claims: JsonObject; schemas: readonly string[] }

/** Why a credential is not the one that was offered; `undefined` when it is. */
export function findMismatch(offered: Said, issued: Said): string | undefined {
  return (
    findClaimMismatch(offered.claims, issued.claims) ?? findSchemaMismatch(offered.schemas, issued.schemas)
  )
}

/** Why a credential is not of a trusted issuer; `undefined` when it is, or when every issuer is trusted. */
export function findIssuerMismatch(
  trustedIssuers: readonly string[] | undefined,
  issuer: string,
): string | undefined {
  const did = canonicalDid(issuer)
  if (trustedIssuers === undefined || trustedIssuers.some((each) => canonicalDid(each) === did))
    return undefined
  return `its issuer ${did} is not one of the trusted issuers`
}

/** Compares claims: each that was offered is there, and no other. */
export function findClaimMismatch(offered: JsonObject, issued: JsonObject): string | undefined {
  for (const name of Object.keys(offered)) {
    if (!Object.hasOwn(issued, name)) return `it lacks the claim ${name}, which was offered`
    if (!isAsOffered(offered[name], issued[name])) return `its claim ${name} is not what was offered`
  }
  const surplus = Object.keys(issued).find((name) => !Object.hasOwn(offered, name))
  return surplus === undefined ? undefined : `it has the claim ${surplus}, which was not offered`
}

function findSchemaMismatch(offered: readonly string[], issued: readonly string[]): string | undefined {
  const surplus = issued.find((id) => !offered.includes(id))
  if (surplus !== undefined) return `it is of the schema ${surplus}, which was not offered`
  const missing = offered.find((id) => !issued.includes(id))
  return missing === undefined ? undefined : `it is not of the schema ${missing}, which was offered`
}

/** The same JSON value. A preview may have any value as text (wire.md 4.1): such a text is the value that it is as JSON, too. */
function isAsOffered(offered: unknown, issued: unknown): boolean {
  const isSame = (value: unknown) => value !== undefined && canonicalize(value) === canonicalize(issued)
  return isSame(offered) || (typeof offered === 'string' && isSame(tryParseJson(offered)))
}
