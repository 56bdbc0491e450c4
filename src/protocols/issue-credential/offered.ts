/** Whether an issued credential is the one that was offered: its claims, its schemas, and its issuer where the holder names some. */
import { canonicalize } from '../../base/jcs.ts'
import { tryJson } from '../../base/try-json.ts'
import type { JsonObject } from '../../credentials/json.ts'
import { canonicalDid } from '../../did/document.ts'

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
  return isSame(offered) || (typeof offered === 'string' && isSame(tryJson(offered)))
}
