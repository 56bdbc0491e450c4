/**
 * The wallet’s reader of metadata, with the documents of the conformance suite. Their names say whether they
 * are valid.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readForeign } from '../../../src/foundation/foreign.ts'
import { reasonOf } from '../../../src/foundation/reason.ts'
import {
  ReceivedConfiguration,
  ReceivedIssuerMetadata,
  ReceivedServerMetadata,
} from '../../../src/exchange/oid4vci/holder/issuer-metadata.ts'

const folder = new URL('../../../fixtures/openid/metadata/', import.meta.url)

/** The reason for which each unusable document is refused. */
const reasons: Record<string, string> = {
  'invalid-oauth-authorization-server-metadata-multiple-errors':
    'issuer: must be a text, and is a number; token_endpoint: must be an absolute URL',
  'invalid-openid-credential-issuer-metadata-ebsi': 'credential_configurations_supported: is missing',
  'invalid-openid-credential-issuer-metadata-invalid-type-for-authorization-servers':
    'authorization_servers: must be an array, and is a text',
  'invalid-openid-credential-issuer-metadata-missing-required-property': 'credential_endpoint: is missing',
}

/** Documents whose faults are in members that the wallet does not need. */
const usable = [
  'invalid-openid-credential-issuer-metadata-bdr-example1',
  'invalid-openid-credential-issuer-metadata-missing-required-property-in-optional-property',
  'invalid-openid-credential-issuer-metadata-request-encryption-jwks-as-array',
]

/** Configurations that are refused if they are offered. */
const refusedConfigurations: Record<string, string> = {
  SD_JWT_VC_example_in_OpenID4VCI: 'vct: is missing or malformed, and the format dc+sd-jwt requires it',
}

const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ''))

const documentOf = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))

function faultOf(name: string): string | undefined {
  const Shape = name.includes('oauth-authorization-server') ? ReceivedServerMetadata : ReceivedIssuerMetadata
  const { error } = readForeign(Shape, documentOf(name))
  return error && reasonOf(error)
}

test('every document is in a table or valid', () => {
  expect(names.length).toBe(17)
  const invalid = names.filter((name) => name.startsWith('invalid'))
  expect(invalid.toSorted()).toEqual([...Object.keys(reasons), ...usable].toSorted())
})

test.each(names)('%s', (name) => {
  const reason = reasons[name]
  if (reason === undefined) expect(faultOf(name)).toBeUndefined()
  else expect(faultOf(name)).toContain(reason)
})

test('a configuration is refused if a member that it needs is missing', () => {
  const faults: Record<string, string> = {}
  for (const name of names) {
    const { data } = readForeign(ReceivedIssuerMetadata, documentOf(name))
    for (const [id, configuration] of Object.entries(data?.credential_configurations_supported ?? {})) {
      const { error } = readForeign(ReceivedConfiguration, configuration)
      if (error) faults[id] = reasonOf(error)
    }
  }
  expect(faults).toEqual(refusedConfigurations)
})
