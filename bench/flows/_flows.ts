/** The flows of two agents over their HTTP APIs, until both have announced the end. */
import { randomUUID } from 'node:crypto'
import { connect, type Key, type Pair } from './_setup.ts'

/** A credential format, and the curve of the signing key. */
export type Kind = { credentialFormat: 'JWT' | 'SDJWT'; curve: Key }

/** Offers, accepts and issues a credential. Returns the holder's record. */
export async function issue(
  pair: Pair,
  { credentialFormat, curve }: Kind,
  connectionId = pair.connectionId,
): Promise<string> {
  const { issuer, holder, issuingDIDs, subjectId, schemaId } = pair
  const offer = await issuer.ask('POST /issue-credentials/credential-offers', {
    connectionId,
    issuingDID: issuingDIDs[curve],
    claims: { familyName: 'Ärger', age: 42 },
    schemaId,
    credentialFormat,
    automaticIssuance: true,
  })
  const { recordId } = await holder.reached(offer['thid'], 'OfferReceived')
  await holder.ask(`POST /issue-credentials/records/${recordId}/accept-offer`, {
    subjectId,
    ...(credentialFormat === 'SDJWT' && { keyId: 'key-1' }),
  })
  await Promise.all([
    issuer.reached(offer['thid'], 'CredentialSent'),
    holder.reached(offer['thid'], 'CredentialReceived'),
  ])
  return recordId as string
}

/** Requests, presents and accepts a proof. Of an SD-JWT, it discloses one claim. */
export async function present(
  pair: Pair,
  recordId: string,
  { credentialFormat }: Pick<Kind, 'credentialFormat'>,
  connectionId = pair.connectionId,
): Promise<void> {
  const { issuer, holder, schemaId, issuingDIDs } = pair
  const request = await issuer.ask('POST /present-proof/presentations', {
    connectionId,
    credentialFormat,
    ...(credentialFormat === 'SDJWT' && { claims: { familyName: '' } }),
    options: { challenge: randomUUID(), domain: 'https://verifier.example' },
    proofs: [{ schemaId, trustIssuers: Object.values(issuingDIDs) }],
  })
  const { presentationId } = await holder.reached(request['thid'], 'RequestReceived')
  await holder.ask(`PATCH /present-proof/presentations/${presentationId}`, {
    action: 'request-accept',
    proofId: [recordId],
  })
  await issuer.reached(request['thid'], 'PresentationVerified')
  await issuer.ask(`PATCH /present-proof/presentations/${request['presentationId']}`, {
    action: 'presentation-accept',
  })
  await Promise.all([
    issuer.reached(request['thid'], 'PresentationAccepted'),
    holder.reached(request['thid'], 'PresentationSent'),
  ])
}

/** Connects, issues, presents. */
export async function all(pair: Pair, kind: Kind): Promise<void> {
  const connectionId = await connect(pair)
  await present(pair, await issue(pair, kind, connectionId), kind, connectionId)
}
