/** The wallet's reader of metadata, with the documents of the conformance suite. Their names say whether they are valid. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { reasonOf } from '../../src/base/reason.ts'
import { ReceivedIssuerMetadata, ReceivedServerMetadata } from '../../src/oid4vci/holder/issuer-metadata.ts'

const folder = new URL('../../fixtures/openid/metadata/', import.meta.url)

/** The reason for which each invalid document is refused. */
const reasons: Record<string, string> = {
  'invalid-oauth-authorization-server-metadata-multiple-errors':
    'issuer: must be a text, and is a number; token_endpoint: must be an absolute URL',
  'invalid-openid-credential-issuer-metadata-bdr-example1':
    'credential_configurations_supported.eu.europa.ec.eudi.pid.1.claims: must be an array, and is an object',
  'invalid-openid-credential-issuer-metadata-ebsi': 'credential_configurations_supported: is missing',
  'invalid-openid-credential-issuer-metadata-invalid-type-for-authorization-servers':
    'authorization_servers: must be an array, and is a text',
  'invalid-openid-credential-issuer-metadata-missing-required-property-in-optional-property':
    'credential_response_encryption.enc_values_supported: is missing',
  'invalid-openid-credential-issuer-metadata-missing-required-property': 'credential_endpoint: is missing',
  'invalid-openid-credential-issuer-metadata-request-encryption-jwks-as-array':
    'credential_request_encryption.jwks: must be an object, and is an array',
  'valid-openid-credential-issuer-metadata-spec-DcSdJwt-claims-missing-vct-example':
    'credential_configurations_supported.SD_JWT_VC_example_in_OpenID4VCI.vct: is missing, and the format dc+sd-jwt requires it',
}

const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ''))

function faultOf(name: string): string | undefined {
  const Shape = name.includes('oauth-authorization-server') ? ReceivedServerMetadata : ReceivedIssuerMetadata
  const { error } = Shape.safeParse(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')))
  return error && reasonOf(error)
}

test('every document is in the table or valid', () => {
  expect(names.length).toBe(17)
  expect(names.filter((name) => name in reasons).toSorted()).toEqual(Object.keys(reasons).toSorted())
  expect(names.filter((name) => name.startsWith('invalid') && !(name in reasons))).toEqual([])
})

test.each(names)('%s', (name) => {
  const reason = reasons[name]
  if (reason === undefined) expect(faultOf(name)).toBeUndefined()
  else expect(faultOf(name)).toContain(reason)
})
