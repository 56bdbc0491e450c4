/** An issuer of driving licences, their holder, and a verifier that trusts the authority of the issuer. */
import { startAgent } from '../../support/agent.ts'
import { newDid, publishSchema, until, type Tenant } from '../../support/tenants.ts'

export const [docType, namespace] = ['org.iso.18013.5.1.mDL', 'org.iso.18013.5.1']

const date = { type: 'string', format: 'date' }
const elements = {
  type: 'object',
  properties: {
    family_name: { type: 'string', title: 'Family name' },
    birth_date: date,
    issue_date: { type: 'string', format: 'date-time' },
    expiry_date: date,
    issuing_country: { type: 'string' },
    document_number: { type: 'string' },
    portrait: { type: 'string', contentEncoding: 'base64url' },
    driving_privileges: {
      type: 'array',
      items: {
        type: 'object',
        properties: { vehicle_category_code: { type: 'string' }, issue_date: date, expiry_date: date },
      },
    },
    age_over_18: { type: 'boolean' },
    age_over_21: { type: 'boolean' },
    height: { type: 'integer' },
  },
  required: ['family_name', 'birth_date'],
}

export const licence = {
  family_name: 'Doe',
  birth_date: '2001-02-03',
  issue_date: '2026-01-01T09:30:00Z',
  expiry_date: '2090-01-01',
  issuing_country: 'UT',
  document_number: '123',
  portrait: '_9j_4AAQ',
  driving_privileges: [{ vehicle_category_code: 'B', issue_date: '2020-01-01', expiry_date: '2030-01-01' }],
  age_over_21: true,
  height: 180,
}

export const claims = { [namespace]: licence }

export async function startLicences(variables: Record<string, string> = {}) {
  const agent = await startAgent(variables)
  const [issuer, holder, verifier] = await Promise.all(
    ['issuer', 'holder', 'verifier'].map((name) => agent.newTenant(name)),
  )
  const setup = await addLicences(issuer!)
  await trust(holder!, setup.authority)
  await trust(verifier!, setup.authority)
  return {
    agent,
    issuer: issuer!,
    holder: holder!,
    verifier: verifier!,
    ...setup,
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}
export type Licences = Awaited<ReturnType<typeof startLicences>>

export function trust({ call }: Tenant, pem: string) {
  return call('POST /trust-anchors', { body: { type: 'x509', value: pem } })
}

/** An issuer with the configuration `mDL`, and the authority of its certificate in PEM. */
export async function addLicences(issuer: Tenant) {
  const { did } = await newDid(issuer, 'assertionMethod')
  const schemaId = await publishSchema(issuer, did, {
    name: 'mDL',
    properties: { [namespace]: elements },
    required: [namespace],
  })
  const { id: certificateId, root } = await issuer.call('POST /issuer-certificates/development', {
    body: {
      profile: 'mdoc',
      commonName: 'Signer',
      country: 'UT',
      names: [{ type: 'uri', value: 'https://dmv.example' }],
    },
  })
  const { id: issuerId } = await issuer.call('POST /oid4vci/issuers', { body: {} })
  await issuer.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: {
      configurationId: 'mDL',
      format: 'mso_mdoc',
      doctype: docType,
      schemaId,
      issuerCertificateId: certificateId,
    },
  })
  return { issuerId, schemaId, certificateId, authority: root! }
}

export function offer({ issuer, issuerId }: Pick<Licences, 'issuer' | 'issuerId'>, given: object = {}) {
  const body = { credentialConfigurationId: 'mDL', claims, ...given }
  return issuer.call('POST /oid4vci/issuers/{issuerId}/credential-offers', { path: { issuerId }, body })
}

/** Takes an offer. Returns the record of the holder. */
export async function take({ call }: Tenant, credentialOffer: string, given: object = {}) {
  const { recordId } = await call('POST /issue-credentials/records/openid4vci', {
    body: { credentialOffer, ...given },
  })
  const path = { recordId }
  await call('POST /issue-credentials/records/{recordId}/accept-offer', { path, body: {} })
  return until(
    'the credential',
    () => call('GET /issue-credentials/records/{recordId}', { path }),
    ({ protocolState }) => protocolState === 'CredentialReceived' || protocolState === 'IssuanceFailed',
  )
}
