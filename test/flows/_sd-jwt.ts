/** Helpers that issue and present SD-JWT credentials between two tenants. */
import { presentationIn, receive, type Tenant } from '../support/tenants.ts'
import { actOnProof } from './_steps.ts'

export const personClaims = {
  name: 'Ünïcödé > ~ ✓',
  age: 42,
  address: { city: 'Bern', street: { name: 'Gasse', number: 7 } },
  degrees: ['BSc', { name: 'MSc', year: 2020 }],
}

export type Holding = {
  issuer: Tenant
  holder: Tenant
  connectionId: string
  issuingDID: string
  subjectId: string
}

/** Issues a credential over a connection; with `keyId` it is bound to that key of the holder. */
export async function issueSdJwtTo(
  { issuer, holder, connectionId, issuingDID, subjectId }: Holding,
  {
    keyId,
    claims = personClaims,
    ...terms
  }: { keyId?: string; claims?: Record<string, any>; schemaId?: string; validityPeriod?: number } = {},
) {
  const offer = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { credentialFormat: 'SDJWT', connectionId, issuingDID, claims, automaticIssuance: true, ...terms },
  })
  return receive(holder, offer, { subjectId, keyId })
}

type Asked = {
  connectionId: string
  policyId?: string
  options?: { challenge: string; domain: string }
  claims?: Record<string, any>
  proofs?: { schemaId: string; trustIssuers?: string[] }[]
}

/** The verifier requests an SD-JWT. Returns the prover's record. */
export async function askSdJwt(verifier: Tenant, prover: Tenant, body: Asked) {
  const { thid } = await verifier.call('POST /present-proof/presentations', {
    body: { credentialFormat: 'SDJWT', ...body },
  })
  const { presentationId, requestData } = await presentationIn(prover.call, thid, 'RequestReceived')
  const accept = (choice: {
    proofId: string[]
    claims?: Record<string, any>
    credentialFormat?: 'JWT' | 'SDJWT'
  }) => actOnProof(prover, presentationId, { action: 'request-accept', ...choice })
  return { thid, requestData, accept }
}
