/** The other side of a record, and what the record is about, in a few words. */
import { canonicalDid } from '../../src/definitions/did-names.ts'
import type { Answer } from '../client/api.ts'
import { claimsLine } from './credential.ts'
import { shortProofRequest } from './proof-request.ts'
import { connectionName, hostOf, shortId, shorten, shortType } from './text.ts'

type Proof = Answer<'GET /present-proof/presentations/{presentationId}'>
type Credential = Answer<'GET /issue-credentials/records/{recordId}'>
type Connection = Answer<'GET /connections/{connectionId}'>

/** The names of connections by their ids. */
export type Names = ReadonlyMap<string, string>

export function namesOf(connections: readonly Connection[]): Names {
  return new Map(connections.map((each) => [each.connectionId, connectionName(each)]))
}

/** The labels of the wallet's DIDs, by the DIDs. */
export type Labels = ReadonlyMap<string, string>

export function labelsOf(dids: readonly { did: string; label?: string | undefined }[]): Labels {
  return new Map(dids.flatMap(({ did, label }) => (label === undefined ? [] : [[did, label] as const])))
}

/** Returns a DID with its label before it, if it has one. */
export function withLabel(did: string, labels: Labels): string {
  const label = labels.get(canonicalDid(did))
  return label === undefined ? did : `${label} (${did})`
}

/** Puts the labels of the wallet's DIDs before them in fields. */
export function withLabels<P extends readonly [name: string, value: unknown]>(
  pairs: readonly P[],
  labels: Labels,
): (P | readonly [name: string, value: string])[] {
  return pairs.map((pair) => {
    const [name, value] = pair
    if (typeof value !== 'string' || !value.startsWith('did:')) return pair
    return [
      name,
      value
        .split(' ')
        .map((did) => withLabel(did, labels))
        .join(' '),
    ]
  })
}

/** Returns the verifier of a received request, or the prover that a request was made for. */
export function partnerInProof(record: Proof, names: Names): string | undefined {
  return record.openid4vpRequest?.verifier.responseHost ?? partnerIn(record, names)
}

/** Returns the issuer of a received offer, or the holder that an offer was made for. */
export function partnerInCredential(record: Credential, names: Names): string | undefined {
  const issuer = record.openid4vci?.credentialIssuer
  return issuer !== undefined && URL.canParse(issuer) ? new URL(issuer).host : partnerIn(record, names)
}

type Sides = Pick<Proof | Credential, 'role' | 'connectionId' | 'invitation'>

function partnerIn({ role, connectionId, invitation }: Sides, names: Names): string | undefined {
  if (connectionId !== undefined) return names.get(connectionId) ?? `connection …${shortId(connectionId)}`
  if (role === 'Verifier' || role === 'Issuer') return invitation ? 'an invitation' : 'a wallet'
  return hostOf(invitation?.from)
}

/** The columns of what a record is about, so that the other side is still visible beside it. */
const aboutColumns = 48

/** Describes a proof, such as `name of Person for shop.example`. */
export function proofTitle(record: Proof, names: Names): string {
  const asked = shortProofRequest(record)
  const about = record.goal === undefined ? asked : `${record.goal}: ${asked}`
  return titleOf(about, record.role === 'Prover' ? 'for' : 'from', partnerInProof(record, names))
}

/** Describes a proof in a narrow column: the other side, then the goal or what is asked for. */
export function proofAbout(record: Proof, names: Names): string {
  const asked = record.goal ?? shortProofRequest(record)
  const partner = partnerInProof(record, names)
  return partner === undefined ? asked : `${partner}: ${asked}`
}

/** Describes a credential record, such as `name=Alice from Acme`. */
export function credentialTitle(record: Credential, names: Names): string {
  const preposition = record.role === 'Holder' ? 'from' : 'for'
  return titleOf(credentialAbout(record), preposition, partnerInCredential(record, names))
}

function titleOf(about: string, preposition: string, partner: string | undefined): string {
  const what = shorten(about, aboutColumns)
  return partner === undefined ? what : `${what} ${preposition} ${partner}`
}

/** Returns the claims of a credential, or the name that the issuer of an offer gives it. */
export function credentialAbout({ claims, goal, openid4vci }: Credential): string {
  const type = openid4vci?.types.at(-1)
  return (
    claimsLine(claims) ||
    (openid4vci?.credentialName ??
      (type === undefined ? undefined : shortType(type)) ??
      goal ??
      'a credential')
  )
}
