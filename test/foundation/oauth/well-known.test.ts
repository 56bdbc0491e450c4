/** The places of metadata, as the specifications show them. */
import { expect, test } from 'vitest'
import { OAuthError } from '../../../src/foundation/oauth/oauth-error.ts'
import { issuerMetadataUrls, serverMetadataUrls } from '../../../src/foundation/oauth/well-known.ts'

test.each([
  [
    'https://issuer.example.com',
    ['https://issuer.example.com/.well-known/openid-credential-issuer'],
    'https://issuer.example.com/.well-known/openid-configuration',
  ],
  [
    'https://issuer.example.com/tenant',
    [
      'https://issuer.example.com/.well-known/openid-credential-issuer/tenant',
      'https://issuer.example.com/tenant/.well-known/openid-credential-issuer',
    ],
    'https://issuer.example.com/tenant/.well-known/openid-configuration',
  ],
])('%s, also with a slash at its end', (identifier, ofIssuer, openId) => {
  for (const each of [identifier, `${identifier}/`]) {
    expect(issuerMetadataUrls(each)).toEqual(
      each === identifier ? ofIssuer : ofIssuer.toSpliced(1, 0, `${ofIssuer[0]}/`),
    )
    const [oauth] = ofIssuer.map((url) =>
      url.replace('openid-credential-issuer', 'oauth-authorization-server'),
    )
    expect(serverMetadataUrls(each)).toEqual([oauth, openId])
  }
})

test('descriptions of errors keep the signs of this program in ASCII', () => {
  const { message } = new OAuthError(
    'invalid_request',
    'the issuer’s “state” is missing (§5.3) – “a\\b” …\nü',
  )
  expect(message).toBe("the issuer's 'state' is missing (section 5.3) - 'a'b' ...??")
})
