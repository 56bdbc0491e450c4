/** The configurations of the wallet's OpenID4VCI issuers, and the schemas of their claims. */
import type { Client } from '../../daemon/client/client.ts'
import { nameOf } from '../format/locale.ts'
import { isGuid } from '../input/registry.ts'

/** A configuration and its issuer, as a person chooses them. */
export type Configuration = {
  issuerId: string
  configurationId: string
  label: string
  detail: string
  schemaId: string
  /** Whether the DID of an offer is known: the one of the configuration, or none beside a certificate. */
  hasSigner: boolean
  /** Whether a claims source or a presentation has the claims that an offer does not have. */
  hasSource: boolean
}

/** The credentials that the issuers of the wallet offer. */
export async function listConfigurations(call: Client): Promise<Configuration[]> {
  const query = { limit: 100, offset: 0 }
  const { contents: issuers } = await call('GET /oid4vci/issuers', { query })
  const all = await Promise.all(
    issuers.map(async ({ id: issuerId, display: issuer }) => {
      const path = { issuerId }
      const { contents } = await call('GET /oid4vci/issuers/{issuerId}/credential-configurations', {
        path,
        query,
      })
      return contents.map(({ configurationId, format, display, schemaId, issuingDID, ...configuration }) => ({
        issuerId,
        configurationId,
        label: nameOf(display) ?? configurationId,
        detail: `${configurationId}, ${format}, of ${nameOf(issuer) ?? 'the issuer'} ${issuerId}`,
        schemaId,
        hasSigner: (issuingDID ?? configuration.issuerCertificateId) !== undefined,
        hasSource: (configuration.claimsSource ?? configuration.presentation) !== undefined,
      }))
    }),
  )
  return all.flat()
}

/**
 * The JSON schema with a guid, or with a URL of this agent. Undefined for others: a schema of another agent
 * is not read.
 */
export async function readSchema(call: Client, schema: string): Promise<unknown> {
  const guid = isGuid(schema) ? schema : /\/schemas\/([0-9a-f-]{36})(?:\/schema)?$/.exec(schema)?.[1]
  if (guid === undefined) return undefined
  return call('GET /schema-registry/schemas/{guid}/schema', { path: { guid } }).catch(() => undefined)
}
