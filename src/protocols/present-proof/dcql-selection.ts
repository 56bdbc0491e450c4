/** Which credentials of a wallet answer a query, and their presentation. The same for DIDComm and OpenID4VP. */
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { presentDisclosures } from '../../credentials/sd-jwt/presentation.ts'
import { VerificationError } from '../../credentials/verification-error.ts'
import { toDcqlCredential } from '../../dcql/credential.ts'
import { type DcqlCredential, matchCredential } from '../../dcql/match.ts'
import { isOnPath } from '../../dcql/path.ts'
import type { CredentialQuery, DcqlQuery } from '../../dcql/query.ts'
import { selectCredentials } from '../../dcql/select.ts'
import { getManagedDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { ProofOptions } from '../formats.ts'
import type { DcqlChoice } from './dcql.ts'
import type { HeldCredential } from './format.ts'
import { findHolderKey } from './formats/sd-jwt.ts'
import { unbindable } from './held-credentials.ts'

/** The candidates of each credential query by its id, and the ids to answer; undefined if the query cannot be answered. */
export type HeldSelection = { candidates: Record<string, DcqlChoice[]>; answer: string[] | undefined }

/** Finds the credentials of a wallet that answer a query. One that cannot be read answers none. */
export function selectHeld(query: DcqlQuery, held: readonly HeldCredential[]): HeldSelection {
  const readable = held.flatMap(({ id, ...each }) => {
    const credential = tryRead(each)
    return credential ? [{ id, credential }] : []
  })
  const { candidates, answer } = selectCredentials(
    query,
    readable.map(({ credential }) => credential),
  )
  const choices = Object.entries(candidates).map(([credentialId, found]) => [
    credentialId,
    found.map(({ index, paths }) => ({ credentialId, recordId: readable[index]!.id, paths })),
  ])
  return { candidates: Object.fromEntries(choices) as HeldSelection['candidates'], answer }
}

function tryRead({
  format,
  credential,
}: Pick<HeldCredential, 'format' | 'credential'>): DcqlCredential | undefined {
  if (format === 'AnonCreds') return undefined
  try {
    return toDcqlCredential(credential)
  } catch (error) {
    if (error instanceof VerificationError) return undefined
    throw error
  }
}

/** Why a credential matches no credential query. Undefined if it matches one. */
export function findDcqlMismatch(query: DcqlQuery, held: HeldCredential): string | undefined {
  const credential = tryRead(held)
  if (!credential) return 'It has no format of DCQL'
  const matches = query.credentials.map((each) => matchCredential(credential, each))
  if (matches.some(({ isMatch }) => isMatch)) return undefined
  const reasons = matches.flatMap((match, index) =>
    match.isMatch ? [] : [`${query.credentials[index]!.id}: ${match.reason}`],
  )
  return `It matches no credential of the query: ${reasons.join('; ')}`
}

/** The first candidate for each credential query to be answered; with `multiple`, all. Undefined if the query cannot be answered. */
export function chooseHeld(query: DcqlQuery, held: readonly HeldCredential[]): DcqlChoice[] | undefined {
  const { candidates, answer } = selectHeld(query, held)
  return answer?.flatMap((id) => {
    const { multiple } = query.credentials.find((each) => each.id === id)!
    return multiple ? candidates[id]! : candidates[id]!.slice(0, 1)
  })
}

/** The presentation of one credential for a credential query, with the requested disclosures only. @throws {Problem} without the holder's key */
export async function presentHeld(
  wallet: Wallet,
  { format, credential, subject }: HeldCredential,
  { require_cryptographic_holder_binding: isBound = true }: CredentialQuery,
  paths: DcqlChoice['paths'],
  options: ProofOptions,
): Promise<string> {
  const { domain: audience, challenge: nonce } = options
  const now = Math.floor(Date.now() / 1_000)
  if (format === 'SDJWT') {
    const holderKey = await findHolderKey(wallet, { options }, { sdJwt: credential, subject })
    const isDisclosed = (path: readonly string[]) => (paths ?? []).some((asked) => isOnPath(asked, path))
    return presentDisclosures({ sdJwt: credential, isDisclosed, audience, nonce, holderKey, now })
  }
  if (!isBound) return credential
  if (subject === null) throw unbindable('The credential has no subject, and the query asks for its holder.')
  const { longForm: holderDid } = await getManagedDid(wallet.db, subject)
  const { privateJwk: holderKey } = await getSigningKey(wallet, subject, 'authentication')
  return createJwtVp({ holderDid, holderKey, audience, nonce, credentials: [credential], now })
}
